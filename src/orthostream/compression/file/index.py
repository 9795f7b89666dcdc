"""What stands at the end of an .ost file: the frames that a reader can begin at, and that the file is whole."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, NamedTuple

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.frame import END, INDEX, LONGEST, open_frame
from orthostream.compression.varint import Reader, fold, put_varint, unfold

#: After the frame of the end: how many bytes it has, and these three.
MARK = b"END"


class Key(NamedTuple):
    """A frame that a reader can begin at: where it is, the number of its first sample, and when that was taken."""

    offset: int
    sample: int
    time: int


class End(NamedTuple):
    """What a complete file says of itself at its end."""

    index_offset: int
    n_samples: int
    n_readings: int
    n_missing: int
    max_error: float
    sum_of_squares: float


def pack_index(keys: list[Key]) -> bytes:
    """Return the body of the frame of the index."""
    out = bytearray()
    put_varint(out, len(keys))
    last = Key(0, 0, 0)
    for key in keys:
        put_varint(out, key.offset - last.offset)
        put_varint(out, key.sample - last.sample)
        put_varint(out, fold(key.time - last.time))
        last = key
    return bytes(out)


def _unpack_index(body: bytes) -> list[Key]:
    reader = Reader(body)
    keys = []
    last = Key(0, 0, 0)
    for _ in range(reader.varint(len(body))):
        offset, sample = last.offset + reader.varint(), last.sample + reader.varint()
        last = Key(offset, sample, last.time + unfold(reader.varint(2**64 - 1)))
        keys.append(last)
    return keys


def framed(frame: bytes) -> bytes:
    """Return a frame with its length before it."""
    out = bytearray()
    put_varint(out, len(frame))
    return bytes(out) + frame


def _unframed(data: bytes) -> bytes:
    reader = Reader(data)
    return reader.take(reader.varint(LONGEST))


def pack_end(end: End) -> bytes:
    """Return the body of the frame of the end."""
    out = bytearray()
    for number in end[:4]:
        put_varint(out, number)
    return bytes(out) + struct.pack("<dd", end.max_error, end.sum_of_squares)


def read_end(data: bytes) -> End:
    """Return what the frame of the end says."""
    frame = open_frame(data, None)
    if frame.kind != END:
        raise FrameError("the end of the file is damaged")
    reader = Reader(frame.body)
    numbers = [reader.varint() for _ in range(4)]
    end = End(numbers[0], numbers[1], numbers[2], numbers[3], reader.double(), reader.double())
    if reader.rest() or end.max_error < 0.0 or end.sum_of_squares < 0.0:
        raise FrameError("the end of the file is damaged")
    return end


def read_keys(file: BinaryIO) -> list[Key]:
    """Return the index of a complete file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4))
    tail = file.read(4)
    if len(tail) < 4 or tail[1:] != MARK:
        raise FrameError("the file has no end")
    file.seek(max(0, size - 4 - tail[0]))
    end = read_end(_unframed(file.read(tail[0])))
    if end.index_offset >= size:
        raise FrameError("the end of the file is damaged")
    file.seek(end.index_offset)
    index = open_frame(_unframed(file.read(size - end.index_offset)), None)
    if index.kind != INDEX:
        raise FrameError("the index of the file is damaged")
    return _unpack_index(index.body)
