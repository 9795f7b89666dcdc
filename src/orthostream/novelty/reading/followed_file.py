"""A file that grows, is truncated and replaced, as ``tail -F`` reads it."""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections.abc import Generator
from io import FileIO
from pathlib import Path

from orthostream.novelty.reading.errors import DocumentError
from orthostream.novelty.reading.pieces import PIECE, WAIT, Pieces, ReadingStoppedError

_log = logging.getLogger(__name__)


class FollowedFile:
    """Reads the file that has a name, whatever it is, from its first byte on.

    A file that was replaced (rotation) is read until it has been silent for 0.2 s, then the new one is begun. One that
    became shorter (truncation) is read from its beginning; this goes unseen if it has grown beyond its old size again
    within 0.2 s. A file that is not there is waited for.

    Parameters
    ----------
    path : path
    stop : Event
        Ends the reading within 0.2 s.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "log")
    ...     _ = path.write_text("first")
    ...     files = FollowedFile(path, threading.Event()).files()
    ...     pieces = next(files)
    ...     print(next(pieces), next(pieces))
    ...     with path.open("a") as log:
    ...         _ = log.write(" and second")
    ...     print(next(pieces))
    ...     files.close()
    b'first' None
    b' and second'
    """

    def __init__(self, path: str | os.PathLike[str], stop: threading.Event) -> None:
        self._path, self._stop = Path(path), stop

    def files(self) -> Generator[Pieces]:
        """Yield the pieces of each file that has the name, one after the other; read one before asking for the next."""
        while True:
            with self._open() as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise DocumentError(f"{self._path} is not a regular file, and cannot be followed; read it as it is")
                while True:
                    yield self._pieces(file)
                    if not _is_truncated(file):
                        break
                    _log.warning("%s was truncated: going on with its first byte", self._path)
                    file.seek(0)
            _log.info("%s was replaced: going on with the new file", self._path)

    def _pieces(self, file: FileIO) -> Pieces:
        is_replaced = False
        while True:
            if piece := file.read(PIECE):
                yield piece
                continue
            yield None
            if is_replaced or _is_truncated(file):
                return
            # Before waiting: the program that writes may write some more to the old file.
            is_replaced = self._is_replaced(file)
            self._wait()

    def _open(self) -> FileIO:
        is_told = False
        while True:
            try:
                return self._path.open("rb", buffering=0)
            except FileNotFoundError:
                if not is_told:
                    _log.warning("there is no file %s yet: waiting for it", self._path)
                is_told = True
                self._wait()

    def _is_replaced(self, file: FileIO) -> bool:
        try:
            return not os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            # Between the two steps of a rotation.
            return False

    def _wait(self) -> None:
        if self._stop.wait(WAIT):
            raise ReadingStoppedError


def _is_truncated(file: FileIO) -> bool:
    return os.fstat(file.fileno()).st_size < file.tell()
