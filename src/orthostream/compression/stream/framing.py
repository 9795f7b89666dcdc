"""From samples to frames: the payloads of a codec with their times, flags and checksums."""

from __future__ import annotations

from typing import Any, NamedTuple

from orthostream._typing import FloatArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.stream.body import Body
from orthostream.compression.stream.chain import Chain
from orthostream.compression.stream.frame import RESTART, TIMED
from orthostream.compression.stream.header import MAGIC, StreamHeader
from orthostream.compression.stream.saved_state import check_integers
from orthostream.compression.stream.versions import version_of


class SentFrame(bytes):
    """A frame.

    Attributes
    ----------
    key : tuple of int, or None
        The number and the time of its first sample if a reader can begin there.
    number : int
        How many frames came before since the header.
    """

    key: tuple[int, int] | None
    number: int

    def __new__(cls, data: bytes, key: tuple[int, int] | None, number: int) -> SentFrame:
        frame = super().__new__(cls, data)
        frame.key = key
        frame.number = number
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
    header : StreamHeader
    key_every : int
        Readings after which the state is restarted, so that a reader can begin there.

    Attributes
    ----------
    chain : Chain
        What a decoder remembers of the frames so far.
    sent : Chain or None
        The same, without frames that were made and then refused; None before the first one.
    restarting : bool
        Whether the next frame restarts the state.
    """

    def __init__(self, codec: Codec, *, header: StreamHeader, key_every: int) -> None:
        version = version_of(header)
        self.codec = codec
        self.checks = version.checks(header)
        self.chain = self.checks.start
        self.sent: Chain | None = None
        self.restarting = True
        self._is_numbered = version.is_numbered
        self._times = version.times() if header.schema.time is not None else None
        self._key_every = key_every
        self._since_key = 0
        self._n_samples = 0
        self._n_frames = 0

    @property
    def _restarts(self) -> bool:
        """Whether the next frame forgets the state."""
        return self.restarting or self.codec.wants_restart or self._since_key >= self._key_every

    def most_samples(self, rows: FloatArray) -> int:
        """Return how many of some samples the next frame should hold at most."""
        return self.codec.most_first_samples(rows) if self._restarts else self.codec.most_samples

    def frames(self, rows: FloatArray, times: list[int]) -> Framed:
        """Return the frames of some samples; call `settle` once they are sent."""
        before = self.sent
        restart = self._restarts
        if restart:
            self._restart()
        payloads = self.codec.encode(rows)
        section = None if self._times is None else self._times.encode(times)
        framed = Framed([], [])
        for payload in payloads:
            key = (self._n_samples, times[0] if times else 0) if restart else None
            body = Body(
                self._n_samples if restart and self._is_numbered else None,
                section if payload.kind == READINGS else None,
                payload.body,
            )
            flags = (RESTART if restart else 0) | (TIMED if body.section is not None else 0)
            data = self._packed(Payload(payload.kind, body.to_bytes()), flags, before if restart else self.chain)
            frame = self.checks.open(data, None if restart else self.chain)
            digest = self.codec.digest if payload.kind == READINGS else None
            self.chain = self.checks.after(self.chain, frame, data, digest)
            framed.frames.append(SentFrame(data, key, self._n_frames + len(framed.frames)))
            framed.spent.extend(body.parts(self.codec.component(payload.kind), len(data)).items())
            restart = False
        return framed

    def settle(self, framed: Framed, rows: FloatArray) -> None:
        """Count samples whose frames are sent."""
        self.sent = self.chain
        self._since_key += rows.size
        self._n_samples += len(rows)
        self._n_frames += len(framed.frames)

    def _restart(self) -> None:
        self.codec.restart()
        if self._times is not None:
            self._times.restart()
        self.chain = self.checks.start
        self._since_key = 0
        self.restarting = False

    def _packed(self, payload: Payload, flags: int, chain: Chain | None) -> bytes:
        if payload.kind == READINGS and not flags:
            assert chain is not None
            data = self.checks.pack_plain(payload.body, chain)
            # A plain frame may happen to begin as a header does; a marked one never does.
            if not data.startswith(MAGIC):
                return data
        return self.checks.pack_marked(payload.kind, flags, payload.body, chain)

    def state(self) -> dict[str, Any]:
        """Return all that samples have changed."""
        return {
            "codec": self.codec.state(),
            "times": None if self._times is None else self._times.to_plain(),
            "chain": list(self.chain),
            "sent": list(self.sent or ()),
            "restarting": self.restarting,
            "since_key": self._since_key,
            "sample": self._n_samples,
            "next": self._n_frames,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on where another framing, or a decoder, of the same stream has stopped."""
        self.codec.set_state(state["codec"])
        if self._times is not None:
            check_integers(state["times"], type(self._times)().to_plain(), "times")
            self._times.from_plain(state["times"])
        self.chain = Chain(*map(int, state["chain"]))
        self.sent = Chain(*map(int, state["sent"])) if state["sent"] else None
        self.restarting = bool(state["restarting"])
        self._since_key, self._n_samples, self._n_frames = (
            int(state[name]) for name in ("since_key", "sample", "next")
        )
