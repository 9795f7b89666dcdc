"""The default codec: every reading within its bound, each sensor conditioned on those coded before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.codecs.conditional.choose_lattice import choose_lattice
from orthostream.compression.codecs.conditional.functions import KernelFunctions
from orthostream.compression.codecs.conditional.groups import groups_of, groups_to_bytes, read_groups
from orthostream.compression.codecs.conditional.lattice import Lattice
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.codecs.plain_state import arrays_of, fill_arrays, set_values, values_of
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.range_coder import CODER_SIZE, EVEN, INTEGER_BITS
from orthostream.compression.kernel.slot import CELL, MISSING, RAW
from orthostream.compression.kernel.slot_state import BROKEN, HASH, Slot, new_slot
from orthostream.compression.targets import ErrorBound
from orthostream.compression.varint import Reader

#: Maximum work per byte of a payload (one more byte for its checksum), so that a few hostile bytes cannot ask for
#: endless work: a reading is one unit, a sample some more for each group, and a restart some for each sensor.
WORK_PER_BYTE, WORK_PER_SAMPLE, WORK_PER_START = 64, 12, 8
#: Fraction of readings off their lattice above which another lattice is tried.
_TOO_MANY = 0.02
#: Maximum number of bytes of a reading, on the rarest path.
_LONGEST = 24
#: What a state holds beside the lattice and the slots.
_SHARED = ("_counts", "_last_count", "wants_restart")


class ConditionalCodec(Codec):
    """Codes readings within an error bound, adapting to what was decoded; no model is ever sent.

    Parameters
    ----------
    n_sensors : int
    bound : ErrorBound, optional
        How far off each reading may be; the side that decodes needs none.
    period : int, default 0
        Samples in a day, or in whatever else comes round; 0 for none.
    resolutions : list of Resolution, optional
        Of each sensor; by default found in the first samples.
    labels : sequence of str, optional
        What each sensor measures; only those of one label are coded together.
    accelerate : bool, optional
        Whether to use compiled code, which gives the same bits; by default where Numba is installed, at once if it was
        compiled before on this machine, otherwise as soon as there is enough to do.

    Attributes
    ----------
    wants_restart : bool
        Whether readings have left the lattice that was chosen for them, so that a new one would pay.
    """

    def __init__(
        self,
        n_sensors: int,
        *,
        bound: ErrorBound | None = None,
        period: int = 0,
        resolutions: list[Resolution] | None = None,
        labels: Sequence[str] | None = None,
        accelerate: bool | None = None,
    ) -> None:
        self.n_sensors = n_sensors
        self._labels = labels or [""] * n_sensors
        self.period = period
        self.bound = bound
        self._resolutions = resolutions
        self._call = KernelFunctions(accelerate)
        self._coder: IntArray = np.zeros(CODER_SIZE, dtype=np.int64)
        self.restart()

    def restart(self) -> None:
        self._lattice: Lattice | None = None
        self._slots: list[Slot] = []
        self._members: list[IntArray] = []
        self._counts: IntArray = np.full(INTEGER_BITS + 1, EVEN, dtype=np.int64)
        self._last_count = 1
        self.wants_restart = False

    @property
    def digest(self) -> int:
        value = len(self._slots)
        for part in self._slots:
            value = (value * 0x01000193 ^ int(part.clock[HASH])) & 0xFFFFFFFF
        return value

    def state(self) -> dict[str, Any]:
        if self._lattice is None:
            return {"opening": None}
        groups = np.zeros(self.n_sensors, dtype=np.int64)
        for number, members in enumerate(self._members):
            groups[members] = number
        opening = self._lattice.to_bytes() + groups_to_bytes(groups)
        return {
            "opening": np.frombuffer(opening, dtype=np.uint8).copy(),
            "slots": arrays_of(self._slots),
            "shared": values_of(self, _SHARED),
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.restart()
        if state["opening"] is None:
            return
        reader = Reader(state["opening"].tobytes())
        self._lattice = Lattice.read(reader, self.n_sensors)
        self._open(read_groups(reader, self.n_sensors))
        fill_arrays(self._slots, state["slots"])
        set_values(self, state["shared"], _SHARED)

    @property
    def bits(self) -> dict[str, float]:
        """Bits spent so far since the last restart, by what they were spent on."""
        spent = sum((part.spent for part in self._slots), np.zeros(3))
        return {"missing": float(spent[0]), "readings": float(spent[1]), "exact": float(spent[2])}

    @property
    def lattice(self) -> Lattice | None:
        """The numbers that readings are replaced by; None before the first samples."""
        return self._lattice

    def encode(self, rows: FloatArray) -> list[Payload]:
        if self.bound is None:
            raise ValueError("this codec was made without a bound: it can only decode.")
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        prefix = b""
        if self._lattice is None:
            self._lattice = choose_lattice(rows, self.bound, self._resolutions)
            groups = groups_of(rows, self._labels, self._lattice)
            self._open(groups)
            prefix = self._lattice.to_bytes() + groups_to_bytes(groups)
        body = self._encode(rows, self.bound.limits(rows))
        least = -(-self._work(len(rows), fresh=bool(prefix)) // WORK_PER_BYTE) - 1
        return [Payload(READINGS, (prefix + body).ljust(least, b"\0"))]

    def _work(self, count: int, fresh: bool) -> int:
        per_sample = self.n_sensors + WORK_PER_SAMPLE * len(self._slots)
        return count * per_sample + (WORK_PER_START * self.n_sensors if fresh else 0)

    def decode(self, payload: Payload) -> FloatArray:
        if payload.kind != READINGS:
            raise FrameError(f"a payload of kind {payload.kind} does not belong to this stream")
        reader = Reader(payload.body)
        fresh = self._lattice is None
        if fresh:
            if WORK_PER_START * self.n_sensors > WORK_PER_BYTE * (len(payload.body) + 1):
                raise FrameError(f"{len(payload.body)} bytes cannot begin a stream of {self.n_sensors} sensors")
            self._lattice = Lattice.read(reader, self.n_sensors)
            self._open(read_groups(reader, self.n_sensors))
        data: ByteArray = np.frombuffer(reader.rest(), dtype=np.uint8).copy()
        self._call["start_decoding"](self._coder, data, len(data))
        count = self._code_count(data, 0)
        if self._work(count, fresh) > WORK_PER_BYTE * (len(payload.body) + 1) or count == 0:
            raise FrameError(f"{len(payload.body)} bytes cannot be {count} samples of {self.n_sensors} sensors")
        kinds, cells, patterns = (np.zeros((count, self.n_sensors), dtype=np.int64) for _ in range(3))
        nothing = np.zeros((count, self.n_sensors))
        self._code(data, kinds, cells, nothing, nothing, nothing, patterns)
        if any(part.clock[BROKEN] for part in self._slots):
            raise FrameError("a payload holds numbers that no encoder writes")
        return self._readings(kinds, cells, patterns)

    def _open(self, groups: IntArray) -> None:
        lattice = self._lattice
        assert lattice is not None
        powers = lattice.powers()
        self._members = [np.flatnonzero(groups == number) for number in range(int(groups.max()) + 1)]
        self._slots = [
            new_slot(
                lattice.width[part].astype(np.float64),
                lattice.numerator[part],
                lattice.denominator[part],
                lattice.offset[part],
                powers[part],
                lattice.single[part].astype(np.int64),
                self.period,
            )
            for part in self._members
        ]

    def _encode(self, rows: FloatArray, limits: FloatArray) -> bytes:
        lattice = self._lattice
        assert lattice is not None
        positions = lattice.positions(rows)
        kinds = np.full(rows.shape, CELL, dtype=np.int64)
        unplaced = np.isnan(positions)
        kinds[unplaced] = RAW
        positions[unplaced] = 0.0
        kinds[np.isnan(rows)] = MISSING
        buffer: ByteArray = np.zeros(rows.size * _LONGEST + 64, dtype=np.uint8)
        self._call["start_encoding"](self._coder)
        self._code_count(buffer, len(rows))
        patterns = rows.view(np.int64).copy()
        cells = np.zeros(rows.shape, dtype=np.int64)
        self._code(buffer, kinds, cells, positions, rows, limits, patterns)
        self.wants_restart = bool((kinds == RAW).any()) and self._strays(rows, kinds)
        return buffer[: self._call["finish_encoding"](self._coder, buffer)].tobytes()

    def _strays(self, rows: FloatArray, kinds: IntArray) -> bool:
        """Return whether many readings were off the lattice, and another one would hold them."""
        assert self._lattice is not None and self.bound is not None
        finite = np.isfinite(rows)
        if int(((kinds == RAW) & finite).sum()) <= _TOO_MANY * max(int(finite.sum()), 1):
            return False
        return choose_lattice(rows, self.bound, self._resolutions).to_bytes() != self._lattice.to_bytes()

    def _code_count(self, buffer: ByteArray, count: int) -> int:
        """Code the number of samples: mostly what it was before."""
        other = self._call["code_bit"](self._coder, buffer, self._counts, 0, 250, int(count != self._last_count))
        if other:
            self._last_count = int(self._call["code_integer"](self._coder, buffer, self._counts, 1, count))
        return self._last_count

    def _code(self, buffer: ByteArray, *matrices: Any) -> None:
        """Code samples, one group of sensors after another; the matrices are as `kernel.slot.code_sample` has them."""
        self._call.expect(matrices[0].size)
        code_samples = self._call["code_samples"]
        with np.errstate(all="ignore"):
            if len(self._slots) == 1:
                code_samples(self._coder, buffer, self._slots[0], *matrices)
                return
            for own, members in zip(self._slots, self._members, strict=True):
                parts = [np.ascontiguousarray(matrix[:, members]) for matrix in matrices]
                code_samples(self._coder, buffer, own, *parts)
                for matrix, part in zip(matrices, parts, strict=True):
                    matrix[:, members] = part

    def _readings(self, kinds: IntArray, cells: IntArray, patterns: IntArray) -> FloatArray:
        lattice = self._lattice
        assert lattice is not None
        values = np.where(kinds == RAW, patterns.view(np.float64), lattice.values(cells))
        return np.where(kinds == MISSING, np.nan, values)
