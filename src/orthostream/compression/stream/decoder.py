"""Frames in, samples out."""

from __future__ import annotations

from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.codecs.registry import MOST_SENSORS, decoding_codec
from orthostream.compression.errors import FrameError
from orthostream.compression.stream.body import read_body
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.checks import Checks
from orthostream.compression.stream.frame import HEADER, RESTART, UPDATE, Frame
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.stream.numbers import FrameNumbers
from orthostream.compression.stream.saved_state import Place, check_integers, load_state, restoring, save_state
from orthostream.compression.stream.versions import Times, Version, version_of


class Readings(NamedTuple):
    """Samples that were decoded, and when they were taken if the stream says so."""

    values: FloatArray
    times: IntArray | None


class _State(NamedTuple):
    """All that frames change."""

    codec: Codec
    times: Times
    chain: Chain
    #: The number of the next sample, counted from 0.
    sample: int


class Decoder:
    """Turns the frames of an `Encoder` back into samples; anything else raises `FrameError`.

    A frame that is damaged, or that was made for another state than the decoder's (one before it was lost, or it
    belongs to another stream), is refused and changes nothing: the right one may still follow. Frames of the stream
    that restart the state are always accepted.

    Parameters
    ----------
    max_sensors : int
        Sensors of a stream that are accepted, since memory grows with them.
    accelerate : bool, optional
        As for `Encoder`.

    Attributes
    ----------
    header : StreamHeader or None
        What the stream is; None before its first bytes.
    lost : bool
        Whether only a frame that restarts the state can be decoded.
    """

    def __init__(self, *, max_sensors: int = MOST_SENSORS, accelerate: bool | None = None) -> None:
        self._max_sensors = max_sensors
        self._accelerate = accelerate
        self.header: StreamHeader | None = None
        self.lost = True

    def push(self, data: bytes, number: int | None = None) -> Readings:
        """Return the samples of one frame; none for the header and for a dictionary.

        Parameters
        ----------
        data : bytes
        number : int, optional
            How many frames came before since the header, as the transport counts them (`SentFrame.number`); needed for
            streams without checksums. A number that came before, or that leaves others out, is refused and changes
            nothing: the one that is missing may still follow. A frame that restarts the state may leave others out.
        """
        data = bytes(data)
        if data[:3] == MAGIC:
            header, size = StreamHeader.read(data, self._max_sensors)
            if size != len(data):
                raise FrameError(f"{len(data) - size} bytes follow the header")
            self.open(header)
            return self._nothing()
        if self.header is not None and not self.header.checksums and number is None:
            raise ValueError("this stream has no checksums: give the number of every frame.")
        if self.header is not None and self._numbers.check(number):
            return self._push_after_gap(data, number)
        readings = self.take(self.open_frame(data), data)
        self._numbers.take(number)
        return readings

    def _push_after_gap(self, data: bytes, number: int | None) -> Readings:
        frame = self._checks.open_alone(data)
        if frame is None or not frame.flags & RESTART:
            missing = self._numbers.next
            raise FrameError(f"frame {missing} is missing before frame {number}: it must come first, or a restart")
        readings = self.take(frame, data)
        self._numbers.take(number)
        return readings

    def open(self, header: StreamHeader) -> None:
        """Begin a stream."""
        state = self._fresh(header)
        self._version: Version = version_of(header)
        self._checks: Checks = self._version.checks(header)
        self._state = state._replace(chain=self._checks.start)
        self._numbers = FrameNumbers()
        self.lost = True
        self.header = header

    def _fresh(self, header: StreamHeader) -> _State:
        codec = decoding_codec(
            header.codec,
            header.schema.columns,
            header.options,
            most_sensors=self._max_sensors,
            accelerate=self._accelerate,
            version=header.version,
        )
        return _State(codec, version_of(header).times(), Chain(), 0)

    @property
    def bits_by_component(self) -> dict[str, float]:
        """What the bits since the last key frame were spent on."""
        return self._state.codec.bits

    @property
    def codec(self) -> Codec:
        """The codec of the stream."""
        return self._state.codec

    @property
    def chain(self) -> Chain:
        """What the next frame must follow."""
        return self._state.chain

    @property
    def checks(self) -> Checks:
        """How frames of the stream are checked."""
        return self._checks

    @property
    def next_sample(self) -> int:
        """The number of the next sample; in version 1 counted from the last frame that restarted the state."""
        return self._state.sample

    def _nothing(self) -> Readings:
        assert self.header is not None
        timed = self.header.schema.time is not None
        return Readings(np.empty((0, len(self.header.schema.columns))), np.empty(0, dtype=np.int64) if timed else None)

    def open_frame(self, data: bytes) -> Frame:
        """Return the frame that bytes are, if they are one that can come next."""
        if self.header is None:
            raise FrameError("a frame came before the header of its stream")
        return self._checks.open(data, None if self.lost else self._state.chain)

    def take(self, frame: Frame, data: bytes) -> Readings:
        """Return the samples of a frame that was opened."""
        if frame.kind > UPDATE:
            what = "header" if frame.kind == HEADER else "end of a file"
            raise FrameError(f"this frame belongs to the {what}; it holds no samples")
        assert self.header is not None
        state = self._state
        if frame.flags & RESTART:
            # The old state stays until the frame was decoded to its end.
            state = self._fresh(self.header)._replace(chain=self._checks.start)
        else:
            # The state is undefined until the frame was decoded to its end.
            self.lost = True
        readings, self._state = self._decode(frame, data, state)
        self.lost = False
        return readings

    @property
    def parts(self) -> dict[str, int]:
        """The bytes of the last frame, by component."""
        return self._parts

    def _decode(self, frame: Frame, data: bytes, state: _State) -> tuple[Readings, _State]:
        assert self.header is not None
        is_timed = self.header.schema.time is not None
        body = read_body(frame, is_numbered=self._version.is_numbered, is_timed=is_timed)
        values = state.codec.decode(Payload(frame.kind, body.payload))
        times = self._nothing().times
        if frame.kind == READINGS and is_timed:
            times = np.array(state.times.decode(body.section, len(values)), dtype=np.int64)
        chain = self._checks.after(state.chain, frame, data, state.codec.digest if frame.kind == READINGS else None)
        sample = (state.sample if body.sample is None else body.sample) + len(values)
        self._parts = body.parts(self.codec.component(frame.kind), len(data))
        return Readings(values, times), state._replace(chain=chain, sample=sample)

    def state(self) -> dict[str, Any]:
        """Return all that frames have changed, for `set_state` of another decoder of the same stream."""
        codec, times, chain, sample = self._state
        return {
            "codec": codec.state(),
            "times": times.to_plain(),
            "chain": list(chain),
            "sample": sample,
            "next": self._numbers.next,
            "lost": self.lost,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over the state of another decoder of the same stream, which has its header already."""
        assert self.header is not None
        with restoring():
            fresh = self._fresh(self.header)
            fresh.codec.set_state(state["codec"])
            if self.header.schema.time is not None:
                check_integers(state["times"], version_of(self.header).times().to_plain(), "times")
                fresh.times.from_plain(state["times"])
            self._state = fresh._replace(chain=Chain(*map(int, state["chain"])), sample=int(state["sample"]))
            self._numbers.next = int(state["next"])
            self.lost = bool(state["lost"])

    def save(self, place: Place | BinaryIO) -> None:
        """Save the decoder to a path or a binary file; a loaded one goes on as if nothing had happened."""
        content: dict[str, Any] = {"max_sensors": self._max_sensors}
        if self.header is not None:
            content |= {"header": np.frombuffer(self.header.to_bytes(), dtype=np.uint8), "state": self.state()}
        save_state(place, "decoder", content)

    @classmethod
    def load(cls, place: Place | BinaryIO, *, accelerate: bool | None = None) -> Self:
        """Return the decoder that was saved; raise FrameError if the bytes are damaged."""
        content = load_state(place, "decoder")
        with restoring():
            decoder = cls(max_sensors=int(content["max_sensors"]), accelerate=accelerate)
            if "header" in content:
                decoder.push(content["header"].tobytes())
                decoder.set_state(content["state"])
        return decoder
