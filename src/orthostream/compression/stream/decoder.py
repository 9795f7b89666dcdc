"""Frames in, samples out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.codecs.registry import MOST_SENSORS, decoding_codec
from orthostream.compression.errors import FrameError
from orthostream.compression.stream.frame import HEADER, RESTART, TIMED, UPDATE, Chain, Frame, open_frame
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.stream.times import SampleTimes
from orthostream.compression.varint import Reader


class Readings(NamedTuple):
    """Samples that were decoded, and when they were taken if the stream says so."""

    values: FloatArray
    times: IntArray | None


class Decoder:
    """Turns the frames of an `Encoder` back into samples; anything else raises `FrameError`.

    A frame that is damaged, or that was made for another state than the decoder's (one before it was lost), is refused
    and changes nothing: the right one may still follow. Frames that restart the state are always accepted.

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

    def push(self, data: bytes) -> Readings:
        """Return the samples of one frame; none for the header and for a dictionary."""
        data = bytes(data)
        if data[:3] == MAGIC[:3]:
            header, size = StreamHeader.read(data)
            if size != len(data):
                raise FrameError(f"{len(data) - size} bytes follow the header")
            self.open(header)
            return self._nothing()
        return self.take(self.open_frame(data), data)

    def open(self, header: StreamHeader) -> None:
        """Begin a stream."""
        self._codec: Codec = decoding_codec(
            header.codec,
            header.schema.columns,
            header.options,
            most_sensors=self._max_sensors,
            accelerate=self._accelerate,
        )
        self._times = SampleTimes()
        self._chain = Chain()
        self.lost = True
        self.header = header

    @property
    def bits_by_component(self) -> dict[str, float]:
        """What the bits since the last key frame were spent on."""
        return self._codec.bits

    @property
    def codec(self) -> Codec:
        """The codec of the stream."""
        return self._codec

    @property
    def chain(self) -> Chain:
        """What the next frame must follow."""
        return self._chain

    def _nothing(self) -> Readings:
        assert self.header is not None
        timed = self.header.schema.time is not None
        return Readings(np.empty((0, len(self.header.schema.columns))), np.empty(0, dtype=np.int64) if timed else None)

    def open_frame(self, data: bytes) -> Frame:
        """Return the frame that bytes are, if they are one that can come next."""
        if self.header is None:
            raise FrameError("a frame came before the header of its stream")
        return open_frame(data, None if self.lost else self._chain)

    def take(self, frame: Frame, data: bytes) -> Readings:
        """Return the samples of a frame that was opened."""
        if frame.kind > UPDATE:
            what = "header" if frame.kind == HEADER else "end of a file"
            raise FrameError(f"this frame belongs to the {what}; it holds no samples")
        if frame.flags & RESTART:
            self._codec.restart()
            self._times.restart()
            self._chain = Chain()
        # The state is undefined until the frame was decoded to its end.
        self.lost = True
        values, times = self._decode(frame)
        self._chain = self._chain.after(data, self._codec.digest if frame.kind == READINGS else None)
        self.lost = False
        return Readings(values, times)

    def _decode(self, frame: Frame) -> Readings:
        assert self.header is not None
        reader = Reader(frame.body)
        section = None
        timed = bool(frame.flags & TIMED)
        if timed:
            if self.header.schema.time is None or frame.kind != READINGS:
                raise FrameError("a frame has times where there are none")
            section = reader.take(reader.varint(len(frame.body)))
        values = self._codec.decode(Payload(frame.kind, reader.rest()))
        if frame.kind != READINGS or self.header.schema.time is None:
            return Readings(values, self._nothing().times)
        return Readings(values, np.array(self._times.decode(section, len(values)), dtype=np.int64))
