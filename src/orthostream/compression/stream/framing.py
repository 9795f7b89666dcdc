"""From samples to frames: the payloads of a codec with their times, flags and checksums."""

from __future__ import annotations

from typing import NamedTuple

from orthostream._typing import FloatArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.stream.frame import RESTART, TIMED, Chain, pack_marked, pack_plain
from orthostream.compression.stream.header import MAGIC
from orthostream.compression.stream.times import SampleTimes
from orthostream.compression.varint import put_varint


class SentFrame(bytes):
    """A frame; ``key`` is the number and the time of its first sample if a reader can begin there."""

    key: tuple[int, int] | None

    def __new__(cls, data: bytes, key: tuple[int, int] | None) -> SentFrame:
        frame = super().__new__(cls, data)
        frame.key = key
        return frame


class Framed(NamedTuple):
    """The frames of some samples, and the bytes that each component takes in them."""

    frames: list[SentFrame]
    spent: list[tuple[str, int]]


class Framing:
    """Turns samples into frames, each of which continues those before it or restarts the state.

    Parameters
    ----------
    codec : Codec
    timed : bool
        Whether samples have times.
    key_every : int
        Readings after which the state is restarted, so that a reader can begin there.

    Attributes
    ----------
    chain : Chain
        What a decoder remembers of the frames so far.
    restarting : bool
        Whether the next frame restarts the state.
    """

    def __init__(self, codec: Codec, *, timed: bool, key_every: int) -> None:
        self.codec = codec
        self.chain = Chain()
        self.restarting = True
        self._times = SampleTimes() if timed else None
        self._key_every = key_every
        self._since_key = 0
        self._n_samples = 0

    def frames(self, rows: FloatArray, times: list[int]) -> Framed:
        """Return the frames of some samples; call `settle` once they are sent."""
        before = None if self._since_key == 0 else self.chain
        restart = self.restarting or self.codec.wants_restart or self._since_key >= self._key_every
        if restart:
            self._restart()
        payloads = self.codec.encode(rows)
        section = None if self._times is None else self._times.encode(times)
        framed = Framed([], [])
        for payload in payloads:
            key = (self._n_samples, times[0] if times else 0) if restart else None
            flags = RESTART if restart else 0
            body = payload.body
            if payload.kind == READINGS and section is not None:
                prefix = _with_length(section)
                body = prefix + body
                flags |= TIMED
                framed.spent.append(("times", len(prefix)))
            data = self._packed(Payload(payload.kind, body), flags, before if restart else self.chain)
            restart = False
            framed.frames.append(SentFrame(data, key))
            self.chain = self.chain.after(data, self.codec.digest if payload.kind == READINGS else None)
            framed.spent.append(("framing", len(data) - len(body)))
            framed.spent.append(("readings" if payload.kind == READINGS else "dictionary", len(payload.body)))
        return framed

    def settle(self, rows: FloatArray) -> None:
        """Count samples whose frames are sent."""
        self._since_key += rows.size
        self._n_samples += len(rows)

    def _restart(self) -> None:
        self.codec.restart()
        if self._times is not None:
            self._times.restart()
        self.chain = Chain()
        self._since_key = 0
        self.restarting = False

    @staticmethod
    def _packed(payload: Payload, flags: int, chain: Chain | None) -> bytes:
        if payload.kind == READINGS and not flags:
            assert chain is not None
            data = pack_plain(payload.body, chain)
            # A plain frame may happen to begin as a header does; a marked one never does.
            return pack_marked(READINGS, 0, payload.body, chain) if data.startswith(MAGIC[:3]) else data
        return pack_marked(payload.kind, flags, payload.body, chain)


def _with_length(section: bytes) -> bytes:
    prefix = bytearray()
    put_varint(prefix, len(section))
    return bytes(prefix) + section
