"""A file that has its name only once it is whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def new_file(target: str) -> Iterator[str]:
    """Return another name to write to; the file gets its own if all goes well, and is removed if it does not.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with new_file(f"{folder}/a.csv") as path:
    ...         written = Path(path).write_bytes(b"whole")
    ...     os.listdir(folder)
    ['a.csv']
    """
    path = Path(target)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield str(temporary)
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
