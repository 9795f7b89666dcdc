"""Reading .ost files, frame by frame."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from orthostream.compression.errors import FrameError
from orthostream.compression.file.index import MARK, End, Key, read_end, read_keys
from orthostream.compression.stream.decoder import Decoder, Readings
from orthostream.compression.stream.frame import INDEX, LONGEST, RESTART, Frame
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.varint import Reader

_CHUNK = 1 << 16
_LONGEST_LENGTH = 10


class OstReader:
    """Reads an .ost file, frame by frame, from a path or from a binary file that need not be able to seek.

    Parameters
    ----------
    source : path or binary file
    max_sensors : int, optional
        As for `Decoder`.

    Attributes
    ----------
    header : StreamHeader
    schema : Schema
    complete : bool
        Whether the end has been seen, once all frames have been read. A file that was cut short is read up to its last
        whole frame.
    """

    def __init__(self, source: str | os.PathLike[str] | BinaryIO, *, max_sensors: int | None = None) -> None:
        self._owned = not hasattr(source, "read")
        self._file: BinaryIO = Path(source).open("rb") if self._owned else source  # type: ignore[arg-type, assignment]  # noqa: SIM115
        self._decoder = Decoder() if max_sensors is None else Decoder(max_sensors=max_sensors)
        self._buffer = b""
        self._offset = 0
        self.keys: list[Key] = []
        self._keys_without_time: list[Key] = []
        self.n_samples = self.n_readings = self.n_missing = self.n_frames = 0
        self.bits: dict[str, float] = {}
        self.bytes_by_component: dict[str, int] = {}
        self._bits_before: dict[str, float] = {}
        self.end: End | None = None
        try:
            self.header = self._read_header()
            self._decoder.open(self.header)
        except BaseException:
            self.close()
            raise
        self.schema = self.header.schema

    def __enter__(self) -> OstReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._owned:
            self._file.close()

    @property
    def complete(self) -> bool:
        """Whether the file says that it is whole."""
        return self.end is not None

    @property
    def achieved(self) -> tuple[float, float]:
        """Largest error and sum of squared errors, as the writer saw them; NaN where the end is missing."""
        if self.end is None:
            return (math.nan, math.nan) if self.n_samples else (0.0, 0.0)
        return self.end.max_error, self.end.sum_of_squares

    def _more(self) -> bool:
        chunk = self._file.read(_CHUNK)
        self._buffer += chunk
        return bool(chunk)

    def _read_header(self) -> StreamHeader:
        while True:
            more = self._more()
            try:
                header, size = StreamHeader.read(self._buffer)
            except FrameError:
                if more and b"OST".startswith(self._buffer[:3]) and len(self._buffer) <= LONGEST:
                    continue
                raise
            self._skip(size)
            self.end_of_frames = size
            self.bytes_by_component["header"] = size
            return header

    def _skip(self, size: int) -> None:
        self._buffer = self._buffer[size:]
        self._offset += size

    def _next(self) -> tuple[bytes, int] | None:
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

    def __iter__(self) -> Iterator[Readings]:
        """Yield the samples of one frame after another."""
        while (found := self._next()) is not None:
            data, size = found
            frame = self._decoder.open_frame(data)
            if frame.kind == INDEX:
                self._finish(size)
                return
            key = frame.flags & RESTART
            if key:
                self._bits_before = dict(self.bits)
            readings = self._decoder.take(frame, data)
            if key:
                self._keys_without_time.append(Key(self._offset, self.n_samples, 0))
            if len(readings.values):
                first = 0 if readings.times is None else int(readings.times[0])
                self.keys += [each._replace(time=first) for each in self._keys_without_time]
                self._keys_without_time = []
            self._count(frame, size, readings)
            self._skip(size)
            self.end_of_frames = self._offset
            if len(readings.values):
                yield readings

    def _count(self, frame: Frame, size: int, readings: Readings) -> None:
        missing = int(np.isnan(readings.values).sum())
        self.n_frames += 1
        self.n_samples += len(readings.values)
        self.n_missing += missing
        self.n_readings += readings.values.size - missing
        part = "dictionary" if frame.kind else "readings"
        for name, count in ((part, len(frame.body)), ("framing", size - len(frame.body))):
            self.bytes_by_component[name] = self.bytes_by_component.get(name, 0) + count
        since = self._decoder.bits_by_component
        self.bits = {
            name: self._bits_before.get(name, 0.0) + since.get(name, 0.0) for name in {*self._bits_before, *since}
        }

    def _finish(self, index_size: int) -> None:
        """Check the end of the file, if it is there."""
        start = self._offset
        self._skip(index_size)
        end = self._next()
        if end is None:
            return
        data, size = end
        found = read_end(data)
        self._skip(size)
        mark = bytes([size]) + MARK
        while len(self._buffer) <= len(mark) and self._more():
            pass
        if mark.startswith(self._buffer) and len(self._buffer) < len(mark):
            return
        if self._buffer != mark:
            raise FrameError("bytes follow the end of the file")
        if found.index_offset != start or (
            self.keys and self.keys[0].sample == 0 and found.n_samples != self.n_samples
        ):
            raise FrameError("the end of the file does not fit what is before it")
        self.bytes_by_component["index"] = index_size + size + len(mark)
        self.end = found

    def between(self, start: int | None = None, stop: int | None = None) -> Iterator[Readings]:
        """Yield the samples taken from ``start`` on and before ``stop``, in a file whose times never go back.

        Decoding begins at the last key frame before them.
        """
        if self.schema.time is None:
            raise ValueError("this file has no times; iterate over it and count samples instead.")
        if self.n_frames:
            raise ValueError("this reader has begun to read; open another one for another span.")
        if start is not None:
            self._seek(start)
        for values, times in self:
            assert times is not None
            keep = np.ones(len(times), dtype=bool)
            if start is not None:
                keep &= times >= start
            if stop is not None:
                keep &= times < stop
            if keep.any():
                yield Readings(values[keep], times[keep])
            if stop is not None and len(times) and times[-1] >= stop:
                return

    def _seek(self, time: int) -> None:
        """Go to the last frame before a time at which decoding can begin, if the file can seek and has its index."""
        if not self._file.seekable():
            return
        back = self._file.tell()
        with contextlib.suppress(FrameError, OSError):
            keys = read_keys(self._file)
            earlier = [key for key in keys if key.time < time]
            if earlier and earlier[-1].offset > self._offset:
                self._file.seek(earlier[-1].offset)
                self._buffer = b""
                self._offset = earlier[-1].offset
                self.n_samples = earlier[-1].sample
                return
        self._file.seek(back)

    def _known_at_the_end(self, what: Callable[[End], float]) -> float | None:
        if self.end is None or not self.end.n_readings or math.isnan(self.end.max_error):
            return None
        return what(self.end)

    def info(self) -> dict[str, Any]:
        """Read the file to its end, and return what is in it."""
        first = last = None
        for readings in self:
            if readings.times is not None:
                first = int(readings.times[0]) if first is None else first
                last = int(readings.times[-1])
        total = sum(self.bytes_by_component.values())
        cells = self.n_readings + self.n_missing
        return {
            "version": 1,
            "codec": self.header.codec,
            "basis": self._decoder.codec.basis,
            "target": self.header.target,
            "n_sensors": len(self.schema.columns),
            "n_samples": self.n_samples,
            "n_readings": self.n_readings,
            "n_missing": self.n_missing,
            "bytes": total,
            "bits_per_reading": 8.0 * total / cells if cells else None,
            "bits_per_observed": 8.0 * total / self.n_readings if self.n_readings else None,
            "bytes_by_component": self.bytes_by_component,
            "bits_by_component": {name: round(bits, 1) for name, bits in sorted(self.bits.items())},
            "frames": self.n_frames,
            "key_frames": len(self.keys),
            "complete": self.complete,
            "first_time": first,
            "last_time": last,
            "max_error_achieved": self._known_at_the_end(lambda end: end.max_error),
            "rmse_achieved": self._known_at_the_end(lambda end: math.sqrt(end.sum_of_squares / end.n_readings)),
        }
