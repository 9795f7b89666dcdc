"""Reading .ost files, frame by frame."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np

from orthostream.compression.codecs.registry import MOST_SENSORS
from orthostream.compression.errors import FrameError
from orthostream.compression.file.ending import End, EndDamage, IgnoredEnd, Key
from orthostream.compression.file.endings import ending_of
from orthostream.compression.file.info import described
from orthostream.compression.file.recovery import Losses, LostStretch, next_key
from orthostream.compression.file.source import FrameSource
from orthostream.compression.stream.body import read_body
from orthostream.compression.stream.decoder import Decoder, Readings
from orthostream.compression.stream.frame import INDEX, RESTART, UPDATE, Frame
from orthostream.compression.stream.versions import version_of


class OstReader:
    """Reads an .ost file, frame by frame, from a path or from a binary file that need not be able to seek.

    Parameters
    ----------
    source : path or binary file
    max_sensors : int, optional
        As for `Decoder`.
    recover : bool, default False
        Whether to go on after damage, at the next frame that restarts the state; what is lost is in `lost`. By default
        the first damage raises `FrameError`, after all samples before it.

    Attributes
    ----------
    header : StreamHeader
    schema : Schema
    complete : bool
        Whether the end has been seen, once all frames have been read, and nothing was lost. A file that was cut short
        is read up to its last whole frame.
    lost : list of LostStretch
        What could not be read, with ``recover``.
    ignored : IgnoredEnd or None
        Bytes at the end that are not as they should be, if all readings before them are there; with and without
        ``recover``.
    n_samples : int
        The number of the next sample.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | BinaryIO,
        *,
        max_sensors: int | None = None,
        recover: bool = False,
    ) -> None:
        self._owned = not hasattr(source, "read")
        file: BinaryIO = Path(source).open("rb") if self._owned else source  # type: ignore[arg-type, assignment]  # noqa: SIM115
        self._source = FrameSource(file)
        most = MOST_SENSORS if max_sensors is None else max_sensors
        self.decoder = Decoder(max_sensors=most)
        self._recover = recover
        self._losses = Losses()
        self.ignored: IgnoredEnd | None = None
        self.keys: list[Key] = []
        self._keys_without_time: list[Key] = []
        self._last_time: int | None = None
        self._began_at = 0
        self.n_samples = self.n_readings = self.n_missing = self.n_frames = 0
        self.bits: dict[str, float] = {}
        self.bytes_by_component: dict[str, int] = {}
        self._bits_before: dict[str, float] = {}
        self.end: End | None = None
        try:
            self.header, size = self._source.header(most)
            self.decoder.open(self.header)
        except BaseException:
            self.close()
            raise
        self.schema = self.header.schema
        self.end_of_frames = self.bytes_by_component["header"] = size
        self._ending = ending_of(self.header)
        self._is_numbered = version_of(self.header).is_numbered

    def __enter__(self) -> OstReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if it was opened here."""
        if self._owned:
            self._source.file.close()

    @property
    def lost(self) -> list[LostStretch]:
        """What could not be read."""
        return self._losses.stretches

    @property
    def complete(self) -> bool:
        """Whether the file says that it is whole, and all of it was read."""
        return self.end is not None and not self.lost and self.ignored is None

    @property
    def achieved(self) -> tuple[float, float]:
        """Largest error and sum of squared errors, as the writer saw them; NaN where the end is missing."""
        if self.end is None:
            return (math.nan, math.nan) if self.n_samples else (0.0, 0.0)
        return self.end.max_error, self.end.sum_of_squares

    def __iter__(self) -> Iterator[Readings]:
        """Yield the samples of one frame after another."""
        while True:
            try:
                readings = self._step()
            except FrameError:
                if not self._recover:
                    raise
                readings = self._resume()
            if readings is None:
                return
            if len(readings.values):
                yield readings

    def _step(self) -> Readings | None:
        """Return the samples of the next frame, None at the end."""
        found = self._source.next()
        if found is None:
            if self._recover and self._source.rest():
                raise FrameError("the file ends within a frame, or the length of a frame is damaged")
            return None
        data, size = found
        frame = self.decoder.open_frame(data)
        if frame.kind == INDEX:
            try:
                self._finish()
            except FrameError:
                if not self._recover:
                    raise
            if self._recover and self.end is None and self.ignored is None:
                self._lose_until(None, self._source.offset)
                # Without numbers, a part that begins with a key frame may be missing before any other key frame.
                place = self.keys[1][:2] if not self._is_numbered and len(self.keys) > 1 else self._here
                self._losses.may_be_more(*place)
            return None
        is_key = bool(frame.flags & RESTART)
        if is_key:
            self._check_sample(frame)
            self._bits_before = dict(self.bits)
        readings = self.decoder.take(frame, data)
        self._close_gap(readings)
        if is_key:
            self._keys_without_time.append(Key(self._source.offset, self.n_samples, 0))
        if len(readings.values):
            first = 0 if readings.times is None else int(readings.times[0])
            self.keys += [each._replace(time=first) for each in self._keys_without_time]
            self._keys_without_time = []
        self._count(size - len(data), readings)
        self._source.skip(size)
        self.end_of_frames = self._source.offset
        return readings

    def _check_sample(self, frame: Frame) -> None:
        """Check that a frame that restarts the state goes on where the samples before it end."""
        if frame.kind > UPDATE:
            return
        is_timed = self.schema.time is not None
        sample = read_body(frame, is_numbered=self._is_numbered, is_timed=is_timed).sample
        if sample is None or sample == self.n_samples:
            return
        if sample < self.n_samples or not self._recover:
            raise FrameError(f"a frame begins with sample {sample} where sample {self.n_samples} is due")
        self._losses.begin(*self._here)
        self.n_samples = sample

    def _count(self, length_size: int, readings: Readings) -> None:
        missing = int(np.isnan(readings.values).sum())
        self.n_frames += 1
        self.n_samples += len(readings.values)
        self.n_missing += missing
        self.n_readings += readings.values.size - missing
        for name, count in (*self.decoder.parts.items(), ("framing", length_size)):
            self.bytes_by_component[name] = self.bytes_by_component.get(name, 0) + count
        since = self.decoder.bits_by_component
        self.bits = {
            name: self._bits_before.get(name, 0.0) + since.get(name, 0.0) for name in {*self._bits_before, *since}
        }
        if readings.times is not None and len(readings.times):
            self._last_time = int(readings.times[-1])

    def _finish(self) -> None:
        """Check the end of the file against what is before it, if it is there."""
        rest, offset = self._source.rest(), self._source.offset
        frames = self._ending.frames(rest, offset)
        if frames is None:
            return
        end = frames.end
        # Frames with numbers are only missing unnoticed if no frame that restarts the state follows them.
        if self._recover and self._is_numbered and end.n_samples > self.n_samples:
            self._losses.begin(*self._here)
        if not self._fits(end):
            if self._recover and not self._losses and end.n_samples == self.n_samples:
                self.ignored = IgnoredEnd(EndDamage.DAMAGED, offset, offset + len(rest))
            counts = f"it counts {end.n_samples} samples, and {self.n_samples} are there"
            raise FrameError(f"the end of the file does not fit what is before it: {counts}")
        self.ignored = frames.ignored(rest, offset)
        if self.ignored is not None and not self._recover:
            if self.ignored.what == EndDamage.CUT_SHORT:
                return
            raise FrameError(f"not as it should be: {self.ignored}")
        self._lose_until(end.n_samples, offset)
        self._source.skip(len(rest))
        self.bytes_by_component["trailer"] = len(rest)
        self.end = end

    @property
    def _here(self) -> tuple[int, int]:
        return self._source.offset, self.n_samples

    def _fits(self, end: End) -> bool:
        """Return whether the end of the file agrees with the frames that were read."""
        if self._losses:
            # Where bytes are missing, the offsets of the key frames after them differ.
            return end.n_samples >= self.n_samples and (
                self._is_numbered or end.keys is None or set(self.keys) <= set(end.keys)
            )
        if end.n_samples != self.n_samples or (self._began_at == 0 and end.n_missing != self.n_missing):
            return False
        if end.keys is None:
            return [key.offset for key in self.keys] in ([], [self._ending.first])
        met = end.keys if self._began_at == 0 else end.keys[len(end.keys) - len(self.keys) :]
        return met == self.keys

    # -- recovery ------------------------------------------------------------------------------------------------

    def _resume(self) -> Readings | None:
        """Go on at the next frame that can be read; return its samples, None if there is none."""
        self._losses.begin(*self._here)
        while True:
            data, offset = self._source.rest(), self._source.offset
            end = self._ending.find_in(data, offset)
            place = next_key(data, offset, self.decoder.checks, None if end is None else end.keys or ())
            if place is None and end is None and self._losses.is_open(*self._here) and self._ending.fills(data, offset):
                self._losses.forget()
                self.ignored = IgnoredEnd(EndDamage.DAMAGED, offset, offset + len(data))
            if place is None:
                self._lose_until(None if end is None else end.n_samples, offset + len(data))
                if end is not None:
                    self.end = end
                self._source.skip(len(data))
                return None
            self._source.skip(place)
            self.decoder.lost = True
            if not self._is_numbered:
                keys = () if end is None else end.keys or ()
                samples = [key.sample for key in keys if key.offset == self._source.offset]
                self.n_samples = samples[0] if samples else self.n_samples
                self._losses.is_counted = bool(samples)
            try:
                return self._step()
            except FrameError:
                continue

    def _close_gap(self, readings: Readings) -> None:
        """Note what was lost, once samples follow."""
        if not len(readings.values):
            return
        after = None if readings.times is None else int(readings.times[0])
        stop = self._keys_without_time[-1].offset if self._keys_without_time else self._source.offset
        self._lose_until(self.n_samples if self._losses.is_counted else None, stop, after)

    def _lose_until(self, sample: int | None, stop: int, after: int | None = None) -> None:
        self._losses.end(sample, stop, self._last_time, after)
        self.n_samples = max(self.n_samples, sample or 0)

    # -- a span --------------------------------------------------------------------------------------------------

    def between(self, start: int | None = None, stop: int | None = None) -> Iterator[Readings]:
        """Yield the samples taken from ``start`` on and before ``stop``, in a file whose times never go back.

        Decoding begins at the last key frame before them; if the index of the file is missing or does not fit its
        frames, at the first one.
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
        if not self._source.file.seekable():
            return
        back, key = self._source.offset, None
        try:
            end = self._ending.find(self._source.file)
            key = max((key for key in end.keys or () if key.time < time), default=None)
            if key is not None and key.offset > back and self._is_at(key):
                self._began_at = key.offset
                self._source.seek(key.offset)
                self.n_samples = key.sample
                return
        except (FrameError, OSError):
            pass
        self._source.seek(back)

    def _is_at(self, key: Key) -> bool:
        """Return whether the frame that an entry of the index names is what the entry says."""
        source = FrameSource(self._source.file)
        source.seek(key.offset)
        decoder = Decoder(max_sensors=len(self.schema.columns))
        decoder.open(self.header)
        while (found := source.next()) is not None:
            readings = decoder.push(found[0])
            if readings.times is not None and len(readings.times):
                sample = decoder.next_sample - len(readings.times)
                return int(readings.times[0]) == key.time and (not self._is_numbered or sample == key.sample)
            source.skip(found[1])
        return False

    def info(self) -> dict[str, Any]:
        """Read the file to its end, and return what is in it."""
        return described(self)
