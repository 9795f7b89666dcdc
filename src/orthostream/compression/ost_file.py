"""The .ost file: a header, frames, an index of those that a reader can begin at, and an end that says it is whole."""

from __future__ import annotations

import contextlib
import math
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from orthostream.compression.decoder import Decoder, Readings
from orthostream.compression.encoder import Encoder, SentFrame
from orthostream.compression.errors import FrameError
from orthostream.compression.frame import END, INDEX, LONGEST, RESTART, Frame, open_frame, pack_marked
from orthostream.compression.schema import Schema
from orthostream.compression.stream_header import StreamHeader
from orthostream.compression.varint import Reader, fold, put_varint, unfold

_CHUNK = 1 << 16
#: Where nobody waits for them, frames hold this many readings; a transform adapts from frame to frame, so that its
#: frames hold fewer samples.
_READINGS = 1 << 14
_ADAPTING = 96
_LONGEST_LENGTH = 10
#: After the frame of the end: how many bytes it has, and these three.
_MARK = b"END"


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


class OstWriter:
    """Writes an .ost file, sample by sample.

    A new file is written beside its place, as ``NAME.part``, and moved there by `close`; leaving a ``with`` block by an
    exception leaves no file that looks complete. With ``append`` the samples of an existing file are kept up to its
    last whole frame, and writing goes on in place, frame by frame: what was flushed survives a crash.

    Parameters
    ----------
    target : path or binary file
    schema : Schema
    append : bool, default False
    revert : bool, default False
        Whether an exception, while appending, takes back what was appended; by default it stays, without an end.
    **settings
        As for `Encoder`, except that frames hold more samples unless told otherwise.

    Examples
    --------
    >>> import io, numpy as np
    >>> from orthostream.compression import OstReader, OstWriter, Schema
    >>> file = io.BytesIO()
    >>> with OstWriter(file, Schema.of(2), max_error=0.5) as writer:
    ...     writer.write(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> reader = OstReader(io.BytesIO(file.getvalue()))
    >>> [readings.values.shape for readings in reader], reader.complete
    ([(2, 2)], True)
    """

    def __init__(
        self,
        target: str | os.PathLike[str] | BinaryIO,
        schema: Schema,
        *,
        append: bool = False,
        revert: bool = False,
        **settings: Any,
    ) -> None:
        self._revert = revert
        self._old_end = b""
        self.last_time: int | None = None
        self.path = None if hasattr(target, "write") else str(target)
        self._path: Path | None = None
        self._owned = not hasattr(target, "write")
        self._keys: list[Key] = []
        self._offset = 0
        self._old_offset = 0
        self._before = End(0, 0, 0, 0, 0.0, 0.0)
        self._started = False
        self._closed = False
        if append:
            settings = self._resume(target, schema, settings)
        try:
            settings.setdefault("samples_per_frame", _samples_per_frame(schema, settings))
            self.encoder = Encoder(schema, **settings)
        except BaseException:
            if append and self._owned:
                self._file.close()
            raise
        self.schema = schema
        if append:
            self._file.seek(self._offset)
            self._file.truncate()
            return
        if self._owned:
            self._path = Path(target)  # type: ignore[arg-type]
            self._part = self._path.with_name(self._path.name + ".part")
            self._file: BinaryIO = self._part.open("wb")
        else:
            self._file = target  # type: ignore[assignment]

    def _resume(self, target: Any, schema: Schema, settings: dict[str, Any]) -> dict[str, Any]:
        """Find the end of what is there, cut off what follows, and return the settings to go on with."""
        file: BinaryIO = Path(target).open("r+b") if self._owned else target  # noqa: SIM115
        try:
            reader = OstReader(file)
            for readings in reader:
                if readings.times is not None:
                    self.last_time = int(readings.times[-1])
            header = reader.header
            file.seek(reader.end_of_frames)
            self._old_end = file.read()
            if header.schema != schema:
                raise ValueError("the file has other columns, or another time axis, than what is to be appended.")
            given = {name: np.asarray(value).tolist() for name, value in settings.items() if name in header.target}
            if given and given != header.target:
                raise ValueError(f"the file was written with {header.target}; appending with {given} is not possible.")
        except BaseException:
            if self._owned:
                file.close()
            raise
        self._file = file
        self._started = True
        self._offset = self._old_offset = reader.end_of_frames
        self._keys = reader.keys
        achieved = reader.achieved
        self._before = End(0, reader.n_samples, reader.n_readings, reader.n_missing, *achieved)
        others = {name: value for name, value in header.options.items() if name not in (*header.target, "period")}
        return settings | header.target | {"period": header.options.get("period", 0), "options": others}

    def __enter__(self) -> OstWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def write(self, rows: ArrayLike, time: ArrayLike | None = None) -> None:
        """Take samples in; whole frames of them are written."""
        self._put(self.encoder.push_frames(rows, time))

    def flush(self) -> None:
        """Write the samples that wait for their frame to fill, and hand everything to the operating system."""
        self._put(self.encoder.flush_frames())
        self._file.flush()

    def _put(self, frames: list[SentFrame]) -> None:
        if frames and not self._started:
            self._start()
        for frame in frames:
            if frame.key is not None:
                sample, time = frame.key
                self._keys.append(Key(self._offset, self._before.n_samples + sample, time))
            self._send(_framed(frame))

    def _start(self) -> None:
        self._started = True
        self._send(self.encoder.header)

    def _send(self, data: bytes) -> None:
        self._file.write(data)
        self._offset += len(data)

    def close(self) -> None:
        """Write what waits, the index and the end; put the file in its place."""
        if self._closed:
            return
        try:
            self._put(self.encoder.flush_frames())
            if not self._started:
                self.encoder.settle()
                self._start()
            index = self._offset
            self._send(_framed(pack_marked(INDEX, 0, _pack_index(self._keys), self.encoder.chain)))
            end = _framed(pack_marked(END, 0, self._end(index)))
            self._send(end + bytes([len(end)]) + _MARK)
            self._file.flush()
            if self._owned:
                os.fsync(self._file.fileno())
        except BaseException:
            self.abandon()
            raise
        self._closed = True
        if self._owned:
            self._file.close()
            if self._path is not None:
                self._part.replace(self._path)

    def _end(self, index: int) -> bytes:
        achieved, before = self.encoder.achieved, self._before
        out = bytearray()
        put_varint(out, index)
        put_varint(out, before.n_samples + achieved.n_samples)
        put_varint(out, before.n_readings + achieved.n_readings)
        put_varint(out, before.n_missing + achieved.n_missing)
        # Not known once it was not looked at: NaN stays.
        largest = float(np.maximum(before.max_error, achieved.max_error))
        return bytes(out) + struct.pack("<dd", largest, before.sum_of_squares + achieved.sum_of_squares)

    def abandon(self) -> None:
        """Stop without an end; a file that was new is removed, one that was appended to is as it was if so wished."""
        if self._closed:
            return
        self._closed = True
        if self._revert and self._started and self._path is None and self._file.seekable():
            with contextlib.suppress(OSError):
                self._file.seek(self._old_offset)
                self._file.write(self._old_end)
                self._file.truncate()
                self._file.flush()
        if self._owned:
            with contextlib.suppress(OSError):
                self._file.close()
            if self._path is not None:
                self._part.unlink(missing_ok=True)


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
        found = _read_end(data)
        self._skip(size)
        mark = bytes([size]) + _MARK
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
            keys = _read_keys(self._file)
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
            "basis": getattr(self._decoder.codec, "basis", "sensors"),
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


def _samples_per_frame(schema: Schema, settings: dict[str, Any]) -> int:
    if settings.get("n_nonzero") is not None:
        return 24
    samples = max(24, _READINGS // max(len(schema.columns), 1))
    adapting = settings.get("rmse") is not None or settings.get("bits_per_reading") is not None
    return min(samples, _ADAPTING) if adapting else samples


def _pack_index(keys: list[Key]) -> bytes:
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


def _framed(frame: bytes) -> bytes:
    """Return a frame with its length before it."""
    out = bytearray()
    put_varint(out, len(frame))
    return bytes(out) + frame


def _unframed(data: bytes) -> bytes:
    reader = Reader(data)
    return reader.take(reader.varint(LONGEST))


def _read_end(data: bytes) -> End:
    frame = open_frame(data, None)
    if frame.kind != END:
        raise FrameError("the end of the file is damaged")
    reader = Reader(frame.body)
    numbers = [reader.varint() for _ in range(4)]
    end = End(numbers[0], numbers[1], numbers[2], numbers[3], reader.double(), reader.double())
    if reader.rest() or end.max_error < 0.0 or end.sum_of_squares < 0.0:
        raise FrameError("the end of the file is damaged")
    return end


def _read_keys(file: BinaryIO) -> list[Key]:
    """Return the index of a complete file."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4))
    tail = file.read(4)
    if len(tail) < 4 or tail[1:] != _MARK:
        raise FrameError("the file has no end")
    file.seek(max(0, size - 4 - tail[0]))
    end = _read_end(_unframed(file.read(tail[0])))
    if end.index_offset >= size:
        raise FrameError("the end of the file is damaged")
    file.seek(end.index_offset)
    index = open_frame(_unframed(file.read(size - end.index_offset)), None)
    if index.kind != INDEX:
        raise FrameError("the index of the file is damaged")
    return _unpack_index(index.body)
