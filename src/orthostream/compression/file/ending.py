"""What a complete file says at its end, however its version writes it."""

from __future__ import annotations

import io
import os
from abc import ABC, abstractmethod
from enum import StrEnum
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


class EndDamage(StrEnum):
    """What may be wrong with the end of a file."""

    CUT_SHORT = "an end that is cut short"
    DAMAGED = "a damaged end"
    FOLLOWED = "bytes after the end"


class IgnoredEnd(NamedTuple):
    """Bytes at the end of a file that are not as they should be, and that hold no readings: all of those are before.

    Attributes
    ----------
    what : EndDamage
    start, stop : int
        Where they begin and end in the file.
    """

    what: EndDamage
    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.what} (bytes {self.start} to {self.stop - 1})"


class EndFrames(NamedTuple):
    """The frames at the end of a file: what they say, the bytes that they take, and the mark that must follow them."""

    end: End
    size: int
    mark: bytes

    def ignored(self, data: bytes, offset: int) -> IgnoredEnd | None:
        """Return what is wrong behind these frames, None if all is well; ``data`` begins with them, at an offset."""
        rest, stop = data[self.size :], offset + len(data)
        if rest == self.mark:
            return None
        if rest.startswith(self.mark):
            return IgnoredEnd(EndDamage.FOLLOWED, stop - len(rest) + len(self.mark), stop)
        what = EndDamage.CUT_SHORT if self.mark.startswith(rest) else EndDamage.DAMAGED
        return IgnoredEnd(what, offset, stop)


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
    def frames(self, data: bytes, offset: int) -> EndFrames | None:
        """Return the frames that the end of a file begins with, whatever follows them; None if they are cut short.

        Raise FrameError if they are damaged.
        """

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
        data = file.read()
        frames = self.frames(data, offset)
        if frames is None or frames.ignored(data, offset) is not None:
            raise FrameError("the end of the file is missing or damaged")
        return frames.end

    def find_in(self, data: bytes, offset: int) -> End | None:
        """Return what the end of a file says, None if it is missing or damaged; ``data`` is the file from an offset."""
        try:
            return self.find(io.BytesIO(data), offset)
        except FrameError:
            return None


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
