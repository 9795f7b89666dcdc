"""One boot of an edge, as the cloud receives it: in order, each message once, nothing guessed."""

from __future__ import annotations

import io
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Decoder, FrameError
from orthostream.compression.codecs.codec import SharedDictionary
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.link.errors import MessageError
from orthostream.link.messages import Frames, Opening, read_message
from orthostream.link.store import NewSnapshot, Store, Stream

#: Messages of a boot that came too early and are kept, and their bytes.
PARKED, PARKED_BYTES = 256, 1 << 20
#: Readings after which a decoder is saved.
_SNAPSHOT_EVERY = 1 << 18
#: How often the same message is refused before a new boot is asked for.
_REFUSALS = 3


class Decoded(NamedTuple):
    """The samples of a message."""

    first_sample: int
    values: FloatArray
    times: IntArray


class Receiving:
    """Decodes the messages of one boot, in order.

    Attributes
    ----------
    next : int
        The sequence number that comes next.
    samples : int
        Samples that were decoded.
    wants_restart : bool
        Whether the edge must begin a new boot, since this one cannot be decoded any further.
    """

    def __init__(self, edge: str, boot: bytes, *, accelerate: bool | None = None) -> None:
        self.edge, self.boot = edge, boot
        self.next = 0
        self.samples = 0
        self.wants_restart = False
        self._decoder = Decoder(accelerate=accelerate)
        self._parked: dict[int, tuple[Opening | Frames, bytes]] = {}
        self._parked_bytes = 0
        self._refusals = 0
        self._since_snapshot = 0

    @classmethod
    def restored(cls, store: Store, stream: Stream, *, accelerate: bool | None = None) -> Receiving:
        """Return the state after all stored messages: from the last snapshot, or from the first message."""
        found = cls(stream.edge, stream.boot, accelerate=accelerate)
        snapshot = store.snapshot(stream)
        if snapshot is not None and snapshot[0] <= stream.next:
            try:
                found._decoder = Decoder.load(io.BytesIO(snapshot[1]), accelerate=accelerate)
                found.next, found.samples = snapshot[0], found._decoder.next_sample
            except FrameError:
                # A damaged snapshot: all messages are there.
                pass
        for sequence, data in store.messages(stream, found.next):
            if sequence != found.next:
                raise FrameError(f"message {found.next} of {stream.edge} is not in the store")
            found.take(read_stored(data))
        return found

    @classmethod
    def broken(cls, stream: Stream) -> Receiving:
        """Return the state of a boot whose stored messages are damaged: nothing more can be decoded."""
        found = cls(stream.edge, stream.boot)
        found.next = stream.next
        found.wants_restart = True
        return found

    @property
    def header(self) -> StreamHeader:
        """What the stream is."""
        assert self._decoder.header is not None
        return self._decoder.header

    @property
    def dictionary(self) -> SharedDictionary | None:
        """The dictionary that the edge has sent, in the paper's mode."""
        return self._decoder.codec.dictionary

    @property
    def n_parked(self) -> int:
        """Messages that came too early."""
        return len(self._parked)

    def take(self, message: Opening | Frames) -> Decoded:
        """Decode the next message; raise FrameError, with nothing changed, if it does not fit."""
        if message.sequence != self.next:
            raise FrameError(f"message {self.next} is the next, not {message.sequence}")
        if any(frame[: len(MAGIC)] == MAGIC for frame in message.frames):
            raise FrameError("a header where a frame must be")
        before = self._decoder.state() if len(message.frames) > 1 and not isinstance(message, Opening) else None
        if isinstance(message, Opening):
            self._decoder.push(message.header)
            if self.header.schema.time is None:
                raise FrameError("a stream has no times")
            if not self.header.checksums:
                raise FrameError("the frames of a stream have no checksums")
        parts = []
        try:
            for frame in message.frames:
                parts.append(self._decoder.push(frame))
        except FrameError:
            if before is not None and parts:
                self._decoder.set_state(before)
            raise
        values = np.concatenate([part.values for part in parts])
        times = np.concatenate([part.times for part in parts if part.times is not None])
        decoded = Decoded(self.samples, values, times)
        self.next += 1
        self.samples += len(values)
        self._since_snapshot += values.size
        self._refusals = 0
        return decoded

    def refuse(self) -> None:
        """Count a message that should have come next and does not fit."""
        self._refusals += 1
        self.wants_restart = self._refusals >= _REFUSALS

    def park(self, message: Opening | Frames, data: bytes) -> bool:
        """Keep a message that came too early; return False if there is no room for it."""
        room = len(self._parked) < PARKED and self._parked_bytes + len(data) <= PARKED_BYTES
        if room and message.sequence not in self._parked:
            self._parked[message.sequence] = message, data
            self._parked_bytes += len(data)
        return room

    def unpark(self) -> tuple[Opening | Frames, bytes] | None:
        """Return the next message if it came too early, and forget it and what is over."""
        for sequence in [each for each in self._parked if each < self.next]:
            self._parked_bytes -= len(self._parked.pop(sequence)[1])
        found = self._parked.pop(self.next, None)
        if found is not None:
            self._parked_bytes -= len(found[1])
        return found

    def snapshot(self, *, now: bool = False) -> NewSnapshot | None:
        """Return a snapshot of the decoder if one is due, or wanted ``now`` and anything has come since the last."""
        if self._since_snapshot < (1 if now else _SNAPSHOT_EVERY):
            return None
        self._since_snapshot = 0
        place = io.BytesIO()
        self._decoder.save(place)
        return NewSnapshot(self.edge, self.boot, self.next, place.getvalue())


def read_stored(data: bytes) -> Opening | Frames:
    """Return a stored message; raise FrameError if it is damaged."""
    try:
        return read_message(data)
    except MessageError as error:
        raise FrameError(str(error)) from None
