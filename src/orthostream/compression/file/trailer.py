"""The end of a file of version 2: one frame of key frames, counts and errors, its size, and a mark."""

from __future__ import annotations

import math
import struct

import numpy as np

from orthostream.compression.errors import FrameError
from orthostream.compression.file.ending import End, EndFrames, Ending, pack_keys, read_keys
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.frame import INDEX, LONGEST, with_length
from orthostream.compression.varint import Reader, put_varint

#: The last byte of a file, after the size of the frame and of its length in three bytes.
_MARK = b"E"
#: Flags: the errors are known; they are not 0, and follow; there are key frames beside the first frame.
_KNOWN, _INEXACT, _KEYS = 1, 2, 4


class Trailer(Ending):
    """One frame, its size, and a mark."""

    def pack(self, end: End, offset: int, chain: Chain | None) -> bytes:
        errors = (end.max_error, end.sum_of_squares)
        is_known = not any(map(math.isnan, errors))
        is_inexact = is_known and any(errors)
        keys = end.keys or []
        is_alone = not keys or (len(keys) == 1 and keys[0].offset == self.first)
        out = bytearray([_KNOWN * is_known | _INEXACT * is_inexact | _KEYS * (not is_alone)])
        put_varint(out, end.n_samples)
        put_varint(out, end.n_missing)
        if is_inexact:
            out += struct.pack("<ff", *map(_rounded_up, errors))
        if not is_alone:
            out += pack_keys(keys)
        data = with_length(self.checks.pack_marked(INDEX, 0, bytes(out), chain))
        return data + len(data).to_bytes(3, "little") + _MARK

    def frames(self, data: bytes, offset: int) -> EndFrames | None:
        reader = Reader(data)
        try:
            frame = self.checks.open_alone(reader.take(reader.varint(LONGEST)))
        except FrameError:
            return None
        if frame is None or frame.kind != INDEX:
            raise FrameError("the end of the file is damaged")
        return EndFrames(self._unpacked(Reader(frame.body)), reader.at, reader.at.to_bytes(3, "little") + _MARK)

    def _unpacked(self, reader: Reader) -> End:
        flags = reader.byte()
        n_samples, n_missing = reader.varint(), reader.varint()
        errors = (0.0, 0.0) if flags & _KNOWN else (math.nan, math.nan)
        if flags & _INEXACT:
            errors = struct.unpack("<ff", reader.take(8))
        keys = read_keys(reader) if flags & _KEYS else None
        if reader.rest() or flags > 7 or flags & 3 == _INEXACT or not (errors[0] >= 0.0 or not flags & _KNOWN):
            raise FrameError("the end of the file is damaged")
        return End(keys, n_samples, n_missing, *errors)

    def start(self, tail: bytes, size: int) -> int:
        if tail[-1:] != _MARK or len(tail) < 4:
            raise FrameError("the file has no end")
        return size - 4 - int.from_bytes(tail[-4:-1], "little")


def _rounded_up(value: float) -> float:
    """Return the least number of 32 bits that is not below a number."""
    with np.errstate(over="ignore"):
        single = np.float32(value)
    return float(single if float(single) >= value else np.nextafter(single, np.float32(np.inf)))
