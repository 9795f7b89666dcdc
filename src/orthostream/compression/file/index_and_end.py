"""The end of a file of version 1: a frame of key frames, a frame of counts, and a mark."""

from __future__ import annotations

import struct

from orthostream.compression.errors import FrameError
from orthostream.compression.file.ending import End, EndFrames, Ending, pack_keys, read_keys
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.frame import END, INDEX, LONGEST, Frame, with_length
from orthostream.compression.varint import Reader, put_varint

#: After the frame of the end: how many bytes it has, and these three.
_MARK = b"END"


class IndexAndEnd(Ending):
    """Two frames with a checksum each, and a mark."""

    def pack(self, end: End, offset: int, chain: Chain | None) -> bytes:
        index = with_length(self.checks.pack_marked(INDEX, 0, pack_keys(end.keys or []), chain))
        out = bytearray()
        n_readings = end.n_samples * self.n_sensors - end.n_missing
        for number in (offset, end.n_samples, n_readings, end.n_missing):
            put_varint(out, number)
        body = bytes(out) + struct.pack("<dd", end.max_error, end.sum_of_squares)
        counts = with_length(self.checks.pack_marked(END, 0, body))
        return index + counts + bytes([len(counts)]) + _MARK

    def frames(self, data: bytes, offset: int) -> EndFrames | None:
        reader = Reader(data)
        index = self._frame(reader, INDEX)
        start = reader.at
        counts = None if index is None else self._frame(reader, END)
        if index is None or counts is None:
            return None
        size, mark = reader.at, bytes([reader.at - start]) + _MARK
        reader = Reader(index.body)
        keys = read_keys(reader)
        if reader.rest():
            raise FrameError("the index of the file is damaged")
        reader = Reader(counts.body)
        found, n_samples, n_readings, n_missing = (reader.varint() for _ in range(4))
        end = End(keys, n_samples, n_missing, reader.double(), reader.double())
        fits = found == offset and n_readings == n_samples * self.n_sensors - n_missing
        if reader.rest() or end.max_error < 0.0 or end.sum_of_squares < 0.0 or not fits:
            raise FrameError("the end of the file is damaged, or does not fit what is before it")
        return EndFrames(end, size, mark)

    def _frame(self, reader: Reader, kind: int) -> Frame | None:
        """Return the next frame if it is of a kind, None if the bytes end before it does."""
        try:
            data = reader.take(reader.varint(LONGEST))
        except FrameError:
            return None
        frame = self.checks.open_alone(data)
        if frame is None or frame.kind != kind:
            raise FrameError("the end of the file is damaged")
        return frame

    def start(self, tail: bytes, size: int) -> int:
        if tail[-3:] != _MARK or len(tail) < 4 or tail[-4] > len(tail) - 4:
            raise FrameError("the file has no end")
        counts = self._frame(Reader(tail[-4 - tail[-4] : -4]), END)
        if counts is None:
            raise FrameError("the end of the file is damaged")
        return Reader(counts.body).varint()
