"""Write results to files."""

from __future__ import annotations

from pathlib import Path

from orthostream._whole_file import write_whole


class OutputError(OSError):
    """Raised when a result cannot be written; the message is one line."""


def write_output(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all, and create its folder if needed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_output(Path(folder) / "figures" / "a.txt", b"whole")
    ...     (Path(folder) / "figures" / "a.txt").read_bytes()
    b'whole'
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
