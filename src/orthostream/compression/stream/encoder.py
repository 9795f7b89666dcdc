"""Samples in, frames out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import ArrayLike

from orthostream._checks import integer, optional_integer
from orthostream._typing import FloatArray
from orthostream.compression.codecs.codec import Codec
from orthostream.compression.codecs.registry import new_codec
from orthostream.compression.schema import Schema
from orthostream.compression.stream.achieved import Achieved
from orthostream.compression.stream.arguments import (
    check_options,
    check_readings,
    check_resolution,
    check_schema,
    check_times,
    choose_period,
)
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.decoder import Decoder
from orthostream.compression.stream.framing import Framing, SentFrame
from orthostream.compression.stream.header import VERSION, StreamHeader
from orthostream.compression.stream.saved_encoder import SavedEncoder
from orthostream.compression.stream.saved_state import Place, restoring
from orthostream.compression.stream.stream_number import READINGS, check_stream, number_of_readings
from orthostream.compression.stream.verification import Verification
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import choose_target

#: Maximum number of readings in a frame; a larger push becomes several frames.
MOST_READINGS = 1 << 17
#: Readings after which the state is restarted, so that a reader can begin there.
KEY_EVERY = 1 << 20
#: Parameters that are saved as they are.
_SAVED = ("period", "samples_per_frame", "key_every", "verify", "stream", "checksums", "version")


class Encoder:
    """Turns samples into frames, within an error that you choose.

    Exactly one target is given, as an object or as a keyword. Every frame is decoded again before it is returned, and
    its readings are compared with what was pushed: under a maximum or a relative error, a frame that breaks the promise
    is never sent.

    Parameters
    ----------
    schema : Schema or int
        The columns, or how many sensors there are.
    target : Target, optional
        `MaxError`, `RelativeError`, `Lossless`, `Rmse`, `BitsPerReading` or `Paper`.
    max_error : float or sequence, optional
        Short for ``MaxError``: largest error of any reading, one for all sensors or one for each; 0 for none.
    relative_error : float or sequence, optional
        Short for ``RelativeError``: largest error of any reading as a fraction of it.
    rmse : float, optional
        Short for ``Rmse``: largest root mean square error over all that was sent so far.
    bits_per_reading : float, optional
        Short for ``BitsPerReading``: budget for all that is sent, with as small an error as it allows.
    n_nonzero : int, optional
        Short for ``Paper``: this many coefficients of every sample, with the dictionary as Givens angles.
    resolution : "auto", None, float or sequence, default "auto"
        Of which number readings are multiples (1 for whole degrees); found in the first samples by default.
    period : "auto" or int, default "auto"
        Samples in a day; by default from the times, 0 where there are none.
    samples_per_frame : int, None or "auto", default "auto"
        Samples that are collected before a frame is made; None makes a frame of every push, "auto" leaves it to the
        target (24, or as many as make 256 readings).
    key_every : int
        Readings after which the state is restarted, so that a reader can begin in the middle.
    verify : bool, default True
        Whether every frame is decoded again and compared; without it, encoding takes half the time.
    accelerate : bool, optional
        Whether to use compiled code, which gives the same bits; by default where Numba is installed, at once if it was
        compiled before on this machine, otherwise as soon as there is enough to do.
    options : dict, optional
        Further parameters of the codec, as its class has them, for targets that are given by a keyword.
    stream : int, "random" or "readings", default "random"
        64 bits that tell this stream from others, so that their frames are never mixed up: given, drawn, or made of the
        header and of what is in the first frame, so that equal readings give equal bytes.
    checksums : bool, default True
        Whether frames have checksums. Without them frames are smaller, and the transport must neither damage messages
        nor mix up streams, and must deliver the number of each frame (`SentFrame.number`) to `Decoder.push`.
    version : int
        The version of the format that is written, 2 unless told otherwise.

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
        target: Target | None = None,
        *,
        max_error: Any = None,
        relative_error: Any = None,
        rmse: float | None = None,
        bits_per_reading: float | None = None,
        n_nonzero: int | None = None,
        resolution: Any = "auto",
        period: str | int = "auto",
        samples_per_frame: int | str | None = "auto",
        key_every: int = KEY_EVERY,
        verify: bool = True,
        accelerate: bool | None = None,
        options: dict[str, Any] | None = None,
        stream: int | str = "random",
        checksums: bool = True,
        version: int = VERSION,
    ) -> None:
        self.schema = check_schema(schema)
        self._version = integer("version", version, 1, VERSION)
        self._stream = check_stream(stream) if version > 1 else 0
        self._checksums = bool(checksums)
        if version == 1 and not checksums:
            raise ValueError("checksums can be left out from version 2 on.")
        integer("key_every", key_every)
        keywords = {
            "max_error": max_error,
            "relative_error": relative_error,
            "rmse": rmse,
            "bits_per_reading": bits_per_reading,
            "n_nonzero": n_nonzero,
        }
        self.target = choose_target(target, keywords)
        self.target.check(self.schema.columns)
        self._bound = self.target.bound(self.schema.columns)
        self._options = check_options(options)
        self._resolutions = check_resolution(resolution, self.schema)
        self._period = period
        if samples_per_frame == "auto":
            samples_per_frame = self.target.samples_per_frame(len(self.schema.columns))
        self._samples_per_frame = optional_integer("samples_per_frame", samples_per_frame)
        self._key_every = key_every
        self._verify = verify
        self._accelerate = accelerate
        self._waiting: list[FloatArray] = []
        self._waiting_times: list[int] = []
        self._done: list[SentFrame] = []
        self._header: StreamHeader | None = None
        self.achieved = Achieved()
        if (period != "auto" or self.schema.time is None) and self._stream != READINGS:
            self._open([], np.empty((0, len(self.schema.columns))))
        else:
            self._framing_of(self._header_for([]))  # so that bad parameters are refused now, not at the first frame

    def _header_for(self, times: list[int]) -> StreamHeader:
        period = choose_period(self._period, self.schema, times) if self.target.has_period else 0
        options = self._options | self.target.options(period)
        return StreamHeader(
            self.schema,
            self.target.codec,
            options,
            self.target.in_header,
            self._version,
            self._stream if isinstance(self._stream, int) else 0,
            self._checksums,
        )

    def _framing_of(self, header: StreamHeader) -> Framing:
        try:
            codec = new_codec(
                header.codec,
                self.schema.columns,
                header.options,
                bound=self._bound,
                resolutions=self._resolutions,
                accelerate=self._accelerate,
                version=header.version,
            )
        except TypeError as error:
            raise ValueError(f"options that the codec does not know: {error}.") from None
        return Framing(codec, header=header, key_every=self._key_every)

    def _open(self, times: list[int], first: FloatArray) -> None:
        """Make the header known, from the times that wait and the samples of the first frame."""
        header = self._header_for(times)
        if self._stream == READINGS:
            header = replace(header, stream=number_of_readings(header.text, first, times[: len(first)]))
        self._begin(header)

    def _begin(self, header: StreamHeader) -> None:
        self._header = header
        self._framing = self._framing_of(self._header)
        self._verification = Verification(self._header, bound=self._bound, accelerate=self._accelerate)
        self.achieved.bytes_by_component["header"] = len(self.header)

    @property
    def header(self) -> bytes:
        """What a decoder must see first; known after the first frame where it depends on times or readings."""
        if self._header is None:
            raise ValueError("the header is known after the first frame: push samples, or give a period and a stream.")
        return self._header.to_bytes()

    @property
    def bits_by_component(self) -> dict[str, float]:
        """What the bits since the last key frame were spent on."""
        return self._framing.codec.bits

    @property
    def codec(self) -> Codec | None:
        """The codec of the stream; None before the header is known."""
        return None if self._header is None else self._framing.codec

    @property
    def chain(self) -> Chain:
        """What a decoder remembers of the frames so far."""
        return self._framing.chain

    @property
    def stream_header(self) -> StreamHeader:
        """What the stream is, once the header is known."""
        assert self._header is not None
        return self._header

    def settle(self) -> None:
        """Make the header known even though no sample has come."""
        if self._header is None:
            self._open([], np.empty((0, len(self.schema.columns))))

    def restart(self) -> None:
        """Let the next frame restart the state, for a decoder that has lost a frame or joins late."""
        # Where the header is not known yet, no frame was sent, and the first one restarts the state anyway.
        if self._header is not None:
            self._framing.restarting = True

    def push(self, rows: ArrayLike, time: ArrayLike | None = None) -> list[SentFrame]:
        """Take samples of any number, each with its time if the schema has times; return the frames that are full."""
        readings = check_readings(rows, len(self.schema.columns))
        times = check_times(time, self.schema, len(readings))
        if len(readings) == 0:
            return []
        self._waiting.append(readings)
        self._waiting_times += times
        if self._samples_per_frame is None:
            return self.flush()
        frames: list[SentFrame] = []
        ready = sum(map(len, self._waiting))
        if ready >= self._samples_per_frame:
            whole = ready - ready % self._samples_per_frame
            frames = self._emit(whole, self._samples_per_frame)
        return frames

    def flush(self) -> list[SentFrame]:
        """Return frames of all samples that still wait."""
        ready = sum(map(len, self._waiting))
        return self._emit(ready, self._samples_per_frame or ready) if ready else []

    def _emit(self, count: int, per_frame: int) -> list[SentFrame]:
        rows = np.concatenate(self._waiting)
        times = self._waiting_times
        self._waiting = [rows[count:]] if count < len(rows) else []
        self._waiting_times = times[count:]
        if self._header is None:
            self._open(times[:count], rows[: min(count, per_frame)])
        per_frame = max(1, min(per_frame, MOST_READINGS // rows.shape[1]))
        stop = 0
        while stop < count:
            start, stop = stop, min(stop + per_frame, count)
            stop = min(stop, start + self._framing.most_samples(rows[start:stop]))
            try:
                self._done += self._frames(rows[start:stop], times[start:stop])
            except BaseException:
                # The refused samples have changed the state, which the other side does not share. The frames before
                # them and the samples after them are still to be sent.
                self._framing.restarting = True
                self._waiting = [rows[stop:]] if stop < len(rows) else []
                self._waiting_times = times[stop:]
                raise
        frames, self._done = self._done, []
        return frames

    def _frames(self, rows: FloatArray, times: list[int]) -> list[SentFrame]:
        framed = self._framing.frames(rows, times)
        self.achieved.add(rows, self._verification.decoded(framed.frames, rows, times) if self._verify else None)
        for component, n_bytes in framed.spent:
            self.achieved.count(component, n_bytes)
        self._framing.settle(framed, rows)
        return framed.frames

    def resume(self, decoder: Decoder, since_key: int) -> None:
        """Go on with a stream that was decoded to its end; ``since_key`` is its readings since the last restart."""
        assert decoder.header is not None
        self._begin(decoder.header)
        sent = [] if decoder.lost else list(decoder.chain)
        state = decoder.state() | {"restarting": decoder.lost, "since_key": since_key, "sent": sent}
        self._framing.set_state(state)
        self._verification.set_state(state)

    def is_for(self, schema: Schema, target: Target) -> bool:
        """Return whether a new encoder of this schema and this target would begin as this one did."""
        # A target that was loaded may look different from the one that was given: Lossless() is MaxError(0) there.
        mine = self.target.in_header, self._options | self.target.options(0)
        return schema == self.schema and mine == (target.in_header, target.options(0))

    def save(self, place: Place | BinaryIO) -> None:
        """Save the encoder to a path or a binary file; a loaded one goes on with the same bytes."""
        shared = self.target.options(0)
        options = self._options | {name: shared[name] for name in shared if name not in self.target.in_header}
        SavedEncoder(
            schema=self.schema,
            target=self.target,
            settings={name: getattr(self, f"_{name}") for name in _SAVED} | {"options": options},
            resolutions=self._resolutions,
            waiting=np.concatenate([np.empty((0, len(self.schema.columns))), *self._waiting]),
            waiting_times=self._waiting_times,
            done=self._done,
            achieved=self.achieved,
            header=self._header,
            framing=None if self._header is None else self._framing.state(),
        ).write(place)

    @classmethod
    def load(cls, place: Place | BinaryIO, *, accelerate: bool | None = None) -> Self:
        """Return the encoder that was saved; raise FrameError if the bytes are damaged."""
        saved = SavedEncoder.read(place)
        with restoring():
            encoder = cls(saved.schema, saved.target, accelerate=accelerate, **saved.settings)
            encoder._resolutions = saved.resolutions
            if saved.header is not None and saved.framing is not None:
                encoder._begin(saved.header)
                encoder._framing.set_state(saved.framing)
                encoder._verification.set_state(saved.framing)
            encoder._waiting = [saved.waiting] if len(saved.waiting) else []
            encoder._waiting_times = saved.waiting_times
            encoder._done = saved.done
            encoder.achieved = saved.achieved
        return encoder
