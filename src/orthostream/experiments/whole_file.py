"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


class OutputError(OSError):
    """Raised when a result cannot be written; the message is one line."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file under another name first, so that nobody ever sees half of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", b"whole")
    ...     print((Path(folder) / "a.txt").read_text(), len(list(Path(folder).iterdir())))
    whole 1
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        if temporary.exists():
            temporary.unlink()
