"""Files that are written completely or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(target: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside the target; it replaces the target on success and is removed on failure.

    The data is synced to disk before the rename, and an existing target keeps its permissions.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/a.csv") as path:
    ...         written = path.write_bytes(b"whole")
    ...     os.listdir(folder)
    ['a.csv']
    """
    path = Path(target)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to.")
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _umask() -> int:
    """Return the umask of this process: the permissions that its new files do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_whole(target: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes to a file, completely or not at all."""
    with whole_file(target) as path:
        path.write_bytes(content)
