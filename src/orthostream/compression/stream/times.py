"""When samples were taken: nothing while they come at a steady step, a few bits each where they do not."""

from __future__ import annotations

import itertools
import struct
from typing import Any

import numpy as np

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel import range_coder
from orthostream.compression.kernel.range_coder import CODER_SIZE, EVEN, INTEGER_BITS
from orthostream.compression.varint import Reader, fold, put_varint, unfold

#: How a section tells its times: a first one and a step; changes of the step; each in eight bytes.
_STEADY, _CHANGES, _EXACT = range(3)
_MOST = 1 << 38


class SampleTimes:
    """Times that both sides know, and what the next ones will probably be."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Return to the state of a new object."""
        self._last: int | None = None
        self._step = 0
        self._quantum = 1
        self._bits: IntArray = np.full(INTEGER_BITS, EVEN, dtype=np.int64)

    def to_plain(self) -> dict[str, Any]:
        """Return the state as integers, and lists of them."""
        return {
            "last": [] if self._last is None else [self._last],
            "step": self._step,
            "quantum": self._quantum,
            "adaptive": self._bits.tolist(),
        }

    def from_plain(self, plain: dict[str, Any]) -> None:
        """Take over a state that `to_plain` returned."""
        self._last = plain["last"][0] if plain["last"] else None
        self._step, self._quantum = plain["step"], plain["quantum"]
        self._bits[:] = plain["adaptive"]

    def _expected(self, count: int) -> list[int]:
        if self._last is None:
            raise FrameError("a frame without times came first")
        times = [self._last + self._step * k for k in range(1, count + 1)]
        if not -(2**63) <= times[-1] < 2**63:
            raise FrameError("times run out of 64 bits")
        return times

    def encode(self, times: list[int]) -> bytes | None:
        """Return what the other side needs in order to know some times, None if it expects them."""
        if self._last is not None and times == [self._last + self._step * k for k in range(1, len(times) + 1)]:
            self._last = times[-1]
            return None
        steps = np.diff(np.array(times, dtype=object))
        if self._last is None and len(set(steps.tolist())) <= 1 and all(abs(step) < 2**63 for step in steps):
            out = bytearray([_STEADY])
            step = int(steps[0]) if len(steps) else 0
            put_varint(out, fold(times[0]))
            put_varint(out, fold(step))
            self._set(step, times)
            return bytes(out)
        if self._last is not None:
            changes = self._changes(times)
            if all(change % self._quantum == 0 and abs(change) < _MOST * self._quantum for change in changes):
                return bytes([_CHANGES]) + self._encode_changes([change // self._quantum for change in changes], times)
        self._take_exact(times)
        return bytes([_EXACT]) + struct.pack(f"<{len(times)}q", *times)

    def decode(self, section: bytes | None, count: int) -> list[int]:
        """Return the times of the next samples."""
        if section is None:
            times = self._expected(count)
            self._last = times[-1]
            return times
        reader = Reader(section)
        mode = reader.byte()
        if mode == _STEADY:
            first, step = unfold(reader.varint(2**64 - 1)), unfold(reader.varint(2**64 - 1))
            times = [first + step * k for k in range(count)]
            if not -(2**63) <= min(times[0], times[-1]) <= max(times[0], times[-1]) < 2**63:
                raise FrameError("times run out of 64 bits")
            self._set(step, times)
            return times
        if mode == _CHANGES:
            return self._decode_changes(reader.rest(), count)
        if mode != _EXACT:
            raise FrameError(f"times are coded in an unknown mode, {mode}")
        times = list(struct.unpack(f"<{count}q", reader.take(8 * count)))
        self._take_exact(times)
        return times

    def _set(self, step: int, times: list[int]) -> None:
        self._last, self._step, self._quantum = times[-1], step, max(abs(step), 1)

    def _take_exact(self, times: list[int]) -> None:
        steps = [after - before for before, after in itertools.pairwise(times)]
        if steps:
            self._step = steps[-1]
            self._quantum = max(int(np.gcd.reduce(np.array(steps, dtype=object))), 1)
        else:
            self._step = 0 if self._last is None else times[0] - self._last
            self._quantum = 1
        self._last = times[-1]

    def _changes(self, times: list[int]) -> list[int]:
        assert self._last is not None
        changes = []
        last, step = self._last, self._step
        for time in times:
            changes.append(time - last - step)
            last, step = time, time - last
        return changes

    def _encode_changes(self, changes: list[int], times: list[int]) -> bytes:
        coder: IntArray = np.zeros(CODER_SIZE, dtype=np.int64)
        buffer: ByteArray = np.zeros(12 * len(changes) + 16, dtype=np.uint8)
        range_coder.start_encoding(coder)
        for change in changes:
            range_coder.code_integer(coder, buffer, self._bits, 0, fold(change))
        assert self._last is not None
        before = times[-2] if len(times) > 1 else self._last
        self._last, self._step = times[-1], times[-1] - before
        return buffer[: range_coder.finish_encoding(coder, buffer)].tobytes()

    def _decode_changes(self, section: bytes, count: int) -> list[int]:
        if self._last is None:
            raise FrameError("changes of times came before any time")
        coder: IntArray = np.zeros(CODER_SIZE, dtype=np.int64)
        data: ByteArray = np.frombuffer(section, dtype=np.uint8)
        range_coder.start_decoding(coder, data, len(data))
        times = []
        for _ in range(count):
            self._step += self._quantum * unfold(range_coder.code_integer(coder, data, self._bits, 0, 0))
            self._last += self._step
            if not -(2**63) <= self._last < 2**63:
                raise FrameError("times run out of 64 bits")
            times.append(self._last)
        return times
