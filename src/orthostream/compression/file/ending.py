"""What a complete file says at its end, however its version writes it."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import BinaryIO, NamedTuple

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checks import Checks
from orthostream.compression.varint import Reader, fold, put_varint, unfold

#: Bytes at the end of a file that tell where its end begins.
_TAIL = 260


class Key(NamedTuple):
    """A frame that a reader can begin at: where it is, the number of its first sample, and when that was taken."""

    offset: int
    sample: int
    time: int


class End(NamedTuple):
    """What a complete file says of itself: its key frames, its counts, and its errors as the writer saw them."""

    #: None where only the first frame of the file is one.
    keys: list[Key] | None
    n_samples: int
    n_missing: int
    #: NaN if the writer did not look.
    max_error: float
    sum_of_squares: float


class Closing(NamedTuple):
    """The frames at the end of a file: what they say, the bytes that they take, and the mark that must follow them."""

    end: End
    size: int
    mark: bytes


class Ending(ABC):
    """Writes and reads the end of a file.

    Parameters
    ----------
    checks : Checks
    n_sensors : int
    first : int
        Where the first frame after the header begins, in bytes.
    """

    def __init__(self, checks: Checks, n_sensors: int, first: int) -> None:
        self.checks = checks
        self.n_sensors = n_sensors
        self.first = first

    @abstractmethod
    def pack(self, end: End, offset: int, chain: Chain | None) -> bytes:
        """Return the end of a file that begins at an offset, after frames that leave a chain."""

    @abstractmethod
    def frames(self, data: bytes, offset: int) -> Closing | None:
        """Return the frames that the end of a file begins with, whatever follows them; None if they are cut short.

        Raise FrameError if they are damaged.
        """

    def read(self, data: bytes, offset: int) -> End | None:
        """Return what the end of a file says, None if it is cut short; raise FrameError if it is damaged."""
        closing = self.frames(data, offset)
        if closing is None:
            return None
        rest = data[closing.size :]
        if rest != closing.mark and closing.mark.startswith(rest):
            return None
        if rest != closing.mark:
            raise FrameError("bytes follow the end of the file")
        return closing.end

    @abstractmethod
    def start(self, tail: bytes, size: int) -> int:
        """Return where the end of a file of some size begins, given its last bytes."""

    def fills(self, data: bytes, offset: int) -> bool:
        """Return whether the rest of a file is its end and nothing else, as the last bytes say; it may be damaged."""
        try:
            return self.start(data[-_TAIL:], offset + len(data)) == offset
        except FrameError:
            return False

    def find(self, file: BinaryIO, base: int = 0) -> End:
        """Return what the end of a file says, found from its last bytes; ``base`` bytes of the file are left out."""
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        offset = self.start(file.read(), base + size)
        if not max(self.first, base) <= offset < base + size:
            raise FrameError("the end of the file is missing or damaged")
        file.seek(offset - base)
        end = self.read(file.read(), offset)
        if end is None:
            raise FrameError("the end of the file is missing or damaged")
        return end


def pack_keys(keys: list[Key]) -> bytes:
    """Return key frames: their number, then for each the differences to the one before."""
    out = bytearray()
    put_varint(out, len(keys))
    last = Key(0, 0, 0)
    for key in keys:
        put_varint(out, key.offset - last.offset)
        put_varint(out, key.sample - last.sample)
        put_varint(out, fold(key.time - last.time))
        last = key
    return bytes(out)


def read_keys(reader: Reader) -> list[Key]:
    """Return the key frames that were packed."""
    keys = []
    last = Key(0, 0, 0)
    for _ in range(reader.varint(len(reader.data))):
        offset, sample = last.offset + reader.varint(), last.sample + reader.varint()
        last = Key(offset, sample, last.time + unfold(reader.varint(2**64 - 1)))
        keys.append(last)
    return keys
