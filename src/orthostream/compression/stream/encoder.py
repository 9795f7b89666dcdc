"""Samples in, frames out."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthostream._checks import integer, optional_integer, positive
from orthostream._typing import FloatArray
from orthostream.compression.codecs.codec import READINGS
from orthostream.compression.codecs.conditional.lattice import NO_RESOLUTION, Resolution, find_resolution
from orthostream.compression.codecs.registry import MOST_PERIOD, MOST_REMEMBERED, codec_of
from orthostream.compression.errors import FrameError
from orthostream.compression.schema import MOST_COLUMNS, Schema
from orthostream.compression.stream.achieved import Achieved
from orthostream.compression.stream.decoder import Decoder
from orthostream.compression.stream.frame import RESTART, TIMED, Chain, pack_marked, pack_plain
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.stream.times import SampleTimes
from orthostream.compression.targets import per_sensor
from orthostream.compression.varint import put_varint

#: Readings of a frame at most; a larger push becomes several frames.
MOST_READINGS = 1 << 17
#: Readings after which the state is forgotten, so that a reader can begin there.
KEY_EVERY = 1 << 20


class SentFrame(bytes):
    """A frame; ``key`` is the number and the time of its first sample if a reader can begin there."""

    key: tuple[int, int] | None

    def __new__(cls, data: bytes, key: tuple[int, int] | None) -> SentFrame:
        frame = super().__new__(cls, data)
        frame.key = key
        return frame


class Encoder:
    """Turns samples into frames, within an error that you choose.

    Exactly one target is given. Every frame is decoded again before it is handed out, and its readings are compared
    with what was pushed: under a maximum or a relative error, a frame that breaks the promise never leaves.

    Parameters
    ----------
    schema : Schema or int
        The columns, or how many sensors there are.
    max_error : float or sequence, optional
        Largest error of any reading, one for all sensors or one for each; 0 for none.
    relative_error : float or sequence, optional
        Largest error of any reading as a share of it.
    rmse : float, optional
        Largest root mean square error over all that was sent so far; an orthonormal basis that both sides
        learn is the transform.
    bits_per_reading : float, optional
        Budget for all that is sent, with as small an error as it allows.
    n_nonzero : int, optional
        The paper's mode: this many coefficients of every sample, with the dictionary as Givens angles.
    resolution : "auto", None, float or sequence, default "auto"
        Of which number readings are multiples (1 for whole degrees); looked for by default.
    period : "auto" or int, default "auto"
        Samples in a day; by default from the times, 0 where there are none.
    samples_per_frame : int or None, default 24
        Samples that are collected before a frame is made; None makes a frame of every push.
    key_every : int
        Readings after which the state is forgotten, so that a reader can begin in the middle.
    verify : bool, default True
        Whether every frame is decoded again and compared; without it, encoding takes half the time.
    accelerate : bool, optional
        Whether to use compiled code, which gives the same bits; by default where Numba is installed, at once if it was
        compiled before on this machine, otherwise as soon as there is enough to do.
    options : dict, optional
        Further words for the codec of a target (for the paper's mode: ``value_bits``, ``angle_bits``, ...).

    Attributes
    ----------
    header : bytes
        To be sent before the first frame.
    achieved : Achieved
        Readings, bytes and errors so far.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.compression import Decoder, Encoder
    >>> readings = np.array([[20.1, 19.8], [20.2, np.nan], [20.4, 20.0]])
    >>> encoder, decoder = Encoder(2, max_error=0.1), Decoder()
    >>> frames = [encoder.header, *encoder.push(readings), *encoder.flush()]
    >>> decoded = np.concatenate([decoder.push(frame).values for frame in frames])
    >>> bool(np.nanmax(np.abs(decoded - readings)) <= 0.1)
    True
    """

    def __init__(
        self,
        schema: Schema | int,
        *,
        max_error: Any = None,
        relative_error: Any = None,
        rmse: float | None = None,
        bits_per_reading: float | None = None,
        n_nonzero: int | None = None,
        resolution: Any = "auto",
        period: str | int = "auto",
        samples_per_frame: int | None = 24,
        key_every: int = KEY_EVERY,
        verify: bool = True,
        accelerate: bool | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(schema, Schema) and not hasattr(schema, "__index__"):
            raise ValueError(f"schema must be a Schema or a number of sensors, got {schema!r}.")
        self.schema = schema if isinstance(schema, Schema) else Schema.of(operator.index(schema))
        if not 1 <= len(self.schema.columns) <= MOST_COLUMNS:
            raise ValueError(
                f"a stream needs at least one sensor and at most {MOST_COLUMNS}, got {len(self.schema.columns)}."
            )
        optional_integer("samples_per_frame", samples_per_frame)
        integer("key_every", key_every)
        given = {
            "max_error": max_error,
            "relative_error": relative_error,
            "rmse": rmse,
            "bits_per_reading": bits_per_reading,
            "n_nonzero": n_nonzero,
        }
        self._target = {name: value for name, value in given.items() if value is not None}
        if len(self._target) != 1:
            raise ValueError(f"give exactly one of {', '.join(given)}; got {', '.join(self._target) or 'none'}.")
        name = next(iter(self._target))
        if name in ("rmse", "bits_per_reading", "n_nonzero"):
            positive(name, self._target[name])
            if any(column.is_whole for column in self.schema.columns):
                raise ValueError(f"{name} is for columns of decimals; convert integers to float64, or give max_error.")
        if options is not None and not isinstance(options, dict):
            raise ValueError(f"options must be a dict, got {options!r}.")
        self._resolutions = self._declared(resolution)
        self._period = period
        self._options = dict(options or {})
        self._samples_per_frame = samples_per_frame
        self._key_every = key_every
        self._verify = verify
        self._accelerate = accelerate
        self._waiting: list[FloatArray] = []
        self._waiting_times: list[int] = []
        self._done: list[SentFrame] = []
        self._header: StreamHeader | None = None
        self._restarting = True
        self._since_key = 0
        self._n_samples = 0
        self.achieved = Achieved()
        try:
            codec_of(self._header_for([]), encoding=True)
        except TypeError as error:
            raise ValueError(f"options that the codec does not know: {error}.") from None
        if period != "auto" or self.schema.time is None:
            self._open([])

    def _declared(self, resolution: Any) -> list[Resolution] | None:
        n = len(self.schema.columns)
        if isinstance(resolution, str):
            if resolution != "auto":
                raise ValueError(
                    f'resolution must be "auto", None, a number or one for each sensor, got {resolution!r}.'
                )
            return None
        if resolution is None:
            return [NO_RESOLUTION] * n
        numbers = per_sensor("resolution", resolution, n)
        if not np.all((numbers > 0.0) & (numbers < np.inf)):
            raise ValueError(f"resolution must be a positive number, or one for each sensor, got {resolution!r}.")
        whole = [column.is_whole for column in self.schema.columns]
        found = [find_resolution(np.array([number])) for number in numbers.tolist()]
        if not all(each.numerator for each in found):
            raise ValueError(f"resolution must be a decimal of at most nine places, got {resolution!r}.")
        if any(each.denominator > 1 and is_whole for each, is_whole in zip(found, whole, strict=True)):
            raise ValueError(f"resolution must be a whole number for columns of integers, got {resolution!r}.")
        return [
            Resolution(round(number * each.denominator), each.denominator)
            for number, each in zip(numbers.tolist(), found, strict=True)
        ]

    def _header_for(self, times: list[int]) -> StreamHeader:
        name = next(iter(self._target))
        options = dict(self._options)
        target = {name: np.asarray(value).tolist() for name, value in self._target.items()}
        codec = {"max_error": "conditional", "relative_error": "conditional", "n_nonzero": "paper"}.get(
            name, "transform"
        )
        if codec != "paper":
            period = _period_of(self._period, self.schema, times)
            if period or codec == "conditional":
                options["period"] = period
        if codec != "conditional":
            options |= target
        return StreamHeader(self.schema, codec, options, target)

    def _open(self, times: list[int]) -> None:
        self._header = self._header_for(times)
        self._codec = codec_of(self._header, encoding=True, resolutions=self._resolutions, accelerate=self._accelerate)
        self._times = SampleTimes()
        self._chain = Chain()
        self._decoder = Decoder(max_sensors=len(self.schema.columns), accelerate=self._accelerate)
        header = self._header.to_bytes()
        self._decoder.push(header)
        self.achieved.bytes_by_component["header"] = len(header)

    @property
    def header(self) -> bytes:
        """What a decoder must see first; known after the first frame where the period is taken from the times."""
        if self._header is None:
            raise ValueError("the header is known after the first frame: push samples first, or give a period.")
        return self._header.to_bytes()

    @property
    def bits_by_component(self) -> dict[str, float]:
        """What the bits since the last key frame were spent on."""
        return self._codec.bits

    @property
    def chain(self) -> Chain:
        """What a decoder remembers of the frames so far."""
        return self._chain

    def settle(self) -> None:
        """Make the header known even though no sample has come."""
        if self._header is None:
            self._open([])

    def restart(self) -> None:
        """Let the next frame forget the state, for a decoder that has lost a frame or joins late."""
        self._restarting = True

    def push(self, rows: ArrayLike, time: ArrayLike | None = None) -> list[bytes]:
        """Take samples of any number, each with its time if the schema has times; return the frames that are full."""
        return list(self.push_frames(rows, time))

    def flush(self) -> list[bytes]:
        """Return frames of all samples that still wait."""
        return list(self.flush_frames())

    def push_frames(self, rows: ArrayLike, time: ArrayLike | None = None) -> list[SentFrame]:
        """Do what `push` does, with what a file needs to know of each frame."""
        readings, times = self._checked(rows, time)
        if len(readings) == 0:
            return []
        self._waiting.append(readings)
        self._waiting_times += times
        if self._samples_per_frame is None:
            return self.flush_frames()
        frames: list[SentFrame] = []
        ready = sum(map(len, self._waiting))
        if ready >= self._samples_per_frame:
            whole = ready - ready % self._samples_per_frame
            frames = self._emit(whole, self._samples_per_frame)
        return frames

    def flush_frames(self) -> list[SentFrame]:
        """Do what `flush` does, with what a file needs to know of each frame."""
        ready = sum(map(len, self._waiting))
        return self._emit(ready, self._samples_per_frame or ready) if ready else []

    def _checked(self, rows: ArrayLike, time: ArrayLike | None) -> tuple[FloatArray, list[int]]:
        array = np.asarray(rows)
        n = len(self.schema.columns)
        if array.ndim == 1 and array.size == n:
            array = array[None, :]
        if array.ndim != 2 or array.shape[1] != n:
            raise ValueError(f"expected samples of {n} sensors, one in each row, got an array of shape {array.shape}.")
        if array.dtype.kind not in "fiub":
            raise ValueError(f"readings must be numbers, got {array.dtype}; convert them first (missing ones to NaN).")
        if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
            raise ValueError("integers beyond 2**53 in size cannot be kept exactly; split them into two columns.")
        readings = np.array(array, dtype=np.float64)
        if (time is None) != (self.schema.time is None):
            raise ValueError(
                "this stream has times: give one for each sample." if time is None else "this stream has no times."
            )
        if time is None:
            return readings, []
        stamps = np.asarray(time)
        if stamps.size == 0:
            stamps = stamps.astype(np.int64)
        if stamps.dtype.kind not in "iu" or stamps.shape != (len(readings),):
            raise ValueError(
                f"time must be {len(readings)} integers, one for each sample, "
                f"got {stamps.dtype} of shape {stamps.shape}."
            )
        times = [int(stamp) for stamp in stamps]
        if times and max(times) >= 2**63:
            raise ValueError(f"time must fit into 64 bits with a sign, got {max(times)}.")
        return readings, times

    def _emit(self, count: int, per_frame: int) -> list[SentFrame]:
        rows = np.concatenate(self._waiting)
        times = self._waiting_times
        self._waiting = [rows[count:]] if count < len(rows) else []
        self._waiting_times = times[count:]
        if self._header is None:
            self._open(times[:count])
        per_frame = max(1, min(per_frame, MOST_READINGS // rows.shape[1], self._codec.most_samples))
        for start in range(0, count, per_frame):
            stop = min(start + per_frame, count)
            try:
                self._done += self._frames(rows[start:stop], times[start:stop])
            except BaseException:
                # What was refused has changed the state, which the other side does not share; what comes after it, and
                # what was done before it, is still to be sent.
                self._restarting = True
                self._waiting = [rows[stop:]] if stop < len(rows) else []
                self._waiting_times = times[stop:]
                raise
        frames, self._done = self._done, []
        return frames

    def _frames(self, rows: FloatArray, times: list[int]) -> list[SentFrame]:
        before = None if self._since_key == 0 else self._chain
        restart = self._restarting or self._codec.wants_restart or self._since_key >= self._key_every
        if restart:
            self._codec.restart()
            self._times.restart()
            self._chain = Chain()
            self._since_key = 0
            self._restarting = False
        payloads = self._codec.encode(rows)
        section = self._times.encode(times) if self.schema.time is not None else None
        frames: list[SentFrame] = []
        spent: list[tuple[str, int]] = []
        for payload in payloads:
            flags = RESTART if restart else 0
            key = (self._n_samples, times[0] if times else 0) if restart else None
            body = payload.body
            if payload.kind == READINGS and section is not None:
                prefix = bytearray()
                put_varint(prefix, len(section))
                body = bytes(prefix) + section + body
                flags |= TIMED
                spent.append(("times", len(prefix) + len(section)))
            restart = False
            if payload.kind == READINGS and not flags:
                data = pack_plain(body, self._chain)
                if data.startswith(MAGIC[:3]):
                    data = pack_marked(READINGS, 0, body, self._chain)
            else:
                data = pack_marked(payload.kind, flags, body, before if flags & RESTART else self._chain)
            frames.append(SentFrame(data, key))
            self._chain = self._chain.after(data, self._codec.digest if payload.kind == READINGS else None)
            spent.append(("framing", len(data) - len(body)))
            spent.append(("readings" if payload.kind == READINGS else "dictionary", len(payload.body)))
        self.achieved.add(rows, self._decoded(frames, rows, times) if self._verify else None)
        for component, n_bytes in spent:
            self.achieved.count(component, n_bytes)
        self._since_key += rows.size
        self._n_samples += len(rows)
        return frames

    def _decoded(self, frames: list[SentFrame], rows: FloatArray, times: list[int]) -> FloatArray:
        """Decode what is about to be sent, and hold it against what was measured."""
        values: FloatArray = np.empty((0, rows.shape[1]))
        for frame in frames:
            values, stamps = self._decoder.push(frame)
        known = np.isfinite(rows)
        same = values.shape == rows.shape and np.array_equal(np.isnan(values), np.isnan(rows))
        if not same or not np.array_equal(values[np.isinf(rows)], rows[np.isinf(rows)]):
            raise FrameError("what was encoded does not decode to what was measured; nothing was sent")
        bound = getattr(self._codec, "bound", None)
        if bound is not None and not np.all(np.abs(values[known] - rows[known]) <= bound.limits(rows)[known]):
            raise FrameError("what was encoded decodes beyond its error bound; nothing was sent")
        if stamps is not None and stamps.tolist() != times:
            raise FrameError("what was encoded decodes to other times; nothing was sent")
        return values


def _period_of(period: str | int, schema: Schema, times: list[int]) -> int:
    """Return how many samples a day has, 0 if that is not known or of no use."""
    if isinstance(period, str):
        if period != "auto":
            raise ValueError(f'period must be "auto" or an integer, got {period!r}.')
        day = None if schema.time is None else schema.time.ticks_per_day()
        if day is None or len(times) < 2:
            return 0
        steps = np.sort(np.diff(np.array(times, dtype=np.int64)))
        step = int(steps[len(steps) // 2])
        samples = round(day / step) if step > 0 else 0
        fits = (samples + 2) * len(schema.columns) <= MOST_REMEMBERED
        return samples if 3 <= samples <= MOST_PERIOD and fits else 0
    integer("period", period, 0, MOST_PERIOD)
    if (period + 2) * len(schema.columns) > MOST_REMEMBERED:
        raise ValueError(f"a period of {period} samples of {len(schema.columns)} sensors is too much to remember.")
    return int(period)
