"""The bytes of a file, frame by frame."""

from __future__ import annotations

from typing import BinaryIO

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.frame import LONGEST
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.varint import Reader

_CHUNK = 1 << 16
_LONGEST_LENGTH = 10


class FrameSource:
    """A binary file that need not be able to seek, and of which as little is kept as possible.

    Attributes
    ----------
    offset : int
        How many bytes were skipped.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.offset = 0
        self._buffer = b""

    def _more(self) -> bool:
        chunk = self.file.read(_CHUNK)
        self._buffer += chunk
        return bool(chunk)

    def header(self, most_columns: int) -> tuple[StreamHeader, int]:
        """Return the header, and skip it."""
        while True:
            more = self._more()
            if not self._buffer:
                raise FrameError("the file is empty: it has 0 bytes")
            try:
                header, size = StreamHeader.read(self._buffer, most_columns)
            except FrameError:
                if more and MAGIC.startswith(self._buffer[:3]) and len(self._buffer) <= LONGEST:
                    continue
                raise
            self.skip(size)
            return header, size

    def next(self) -> tuple[bytes, int] | None:
        """Return the next frame and the bytes that it takes with its length, None if the file ends before it does."""
        while True:
            try:
                reader = Reader(self._buffer)
                size = reader.varint(LONGEST)
                if reader.at + size <= len(self._buffer):
                    return reader.take(size), reader.at
            except FrameError:
                if len(self._buffer) > _LONGEST_LENGTH:
                    raise
            if not self._more():
                return None

    def rest(self) -> bytes:
        """Return all bytes that are left, without skipping them."""
        while self._more():
            pass
        return self._buffer

    def skip(self, size: int) -> None:
        """Go on after some bytes."""
        self._buffer = self._buffer[size:]
        self.offset += size

    def seek(self, offset: int) -> None:
        """Go to a place in a file that can seek."""
        self.file.seek(offset)
        self._buffer = b""
        self.offset = offset
