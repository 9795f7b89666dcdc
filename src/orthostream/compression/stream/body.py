"""What a frame of samples holds: the number of its first sample if it restarts the state, times, a payload."""

from __future__ import annotations

from typing import NamedTuple

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.frame import READINGS, RESTART, TIMED, Frame, with_length
from orthostream.compression.varint import Reader, put_varint


class Body(NamedTuple):
    """The parts of the body of a frame; None where it has none."""

    sample: int | None
    section: bytes | None
    payload: bytes

    def to_bytes(self) -> bytes:
        """Return the body."""
        out = bytearray()
        if self.sample is not None:
            put_varint(out, self.sample)
        return bytes(out) + (b"" if self.section is None else with_length(self.section)) + self.payload

    def parts(self, component: str, size: int) -> dict[str, int]:
        """Return what the bytes of a frame of some size are spent on; its payload is spent on a component."""
        timed = 0 if self.section is None else len(with_length(self.section))
        found = {component: len(self.payload), "framing": size - len(self.payload) - timed}
        return found | ({"times": timed} if timed else {})


def read_body(frame: Frame, *, is_numbered: bool, is_timed: bool) -> Body:
    """Return the parts of a frame of samples."""
    reader = Reader(frame.body)
    sample = reader.varint() if is_numbered and frame.flags & RESTART else None
    section = None
    if frame.flags & TIMED:
        if not is_timed or frame.kind != READINGS:
            raise FrameError("a frame has times where there are none")
        section = reader.take(reader.varint(len(frame.body)))
    return Body(sample, section, reader.rest())
