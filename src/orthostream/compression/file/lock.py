"""One writer of a file at a time."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

#: Where the byte is that is locked on Windows: beyond all that is read or written.
_FAR = 1 << 62


def open_locked(path: Path, *, create: bool) -> BinaryIO:
    """Open a file to read and write, for this writer alone; raise OSError naming it if another one has it open.

    With ``create`` it is made if it does not exist, and emptied once it is locked.
    """
    while True:
        handle = os.open(path, os.O_RDWR | (os.O_CREAT if create else 0) | getattr(os, "O_BINARY", 0), 0o666)
        file = os.fdopen(handle, "r+b")
        try:
            _lock(file, path)
            if not _is_at(file, path):
                # The other writer has just moved it away.
                file.close()
                continue
            if create:
                file.truncate(0)
        except BaseException:
            file.close()
            raise
        return file


def _is_at(file: BinaryIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _lock(file: BinaryIO, path: Path) -> None:
    try:
        _try_lock(file)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK, errno.EDEADLK):
            # A file system without locks: better to write without one than not at all.
            return
        raise OSError(errno.EBUSY, "another program is writing to this file", str(path)) from error


def _try_lock(file: BinaryIO) -> None:
    try:
        import fcntl
    except ImportError:
        import msvcrt

        file.seek(_FAR)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        file.seek(0)
        return
    fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
