"""The default way of coding: every reading within its bound, each sensor conditioned on those coded before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from orthostream._compile import can_compile, compiled, kept_on_disk
from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.codecs.codec import READINGS, Codec, Payload
from orthostream.compression.codecs.conditional.groups import groups_of
from orthostream.compression.codecs.conditional.lattice import (
    NO_RESOLUTION,
    Lattice,
    Resolution,
    find_resolution,
    geometric_lattice,
    linear_lattice,
)
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel import (
    compiled_rows,
    learning,
    presence,
    range_coder,
    rows,
    slot,
    slot_state,
    student,
)
from orthostream.compression.kernel.range_coder import CODER_SIZE, EVEN, INTEGER_BITS
from orthostream.compression.kernel.slot import CELL, MISSING, RAW
from orthostream.compression.kernel.slot_state import BROKEN, HASH, Slot, new_slot
from orthostream.compression.targets import ErrorBound
from orthostream.compression.varint import Reader, put_varint

#: Sensors that are conditioned on each other; more of them are coded in several groups, since the work grows with the
#: cube.
LARGEST_GROUP = 160
#: Work that a byte of a payload, and one for its checksum, may ask for at most, so that a few bytes are never a flood:
#: a reading is a unit of it, a sample some more for each group, and starting again some for each sensor.
WORK_PER_BYTE, WORK_PER_SAMPLE, WORK_PER_START = 64, 12, 8
#: Share of readings off their lattice above which another lattice is looked for.
_TOO_MANY = 0.02
#: Bytes that a reading takes at most, the rarest path and all.
_LONGEST = 24


_COMPILED = (range_coder, compiled_rows, student, presence, slot_state, learning, slot)
_PLAIN = (range_coder, rows, student, presence, slot_state, learning, slot)
#: Readings that plain code handles before it is worth the seconds that compiling takes, once on a machine.
_PATIENCE = 1 << 15


@cache
def _functions(accelerate: bool) -> MappingProxyType[str, Callable[..., Any]]:
    if accelerate:
        return MappingProxyType(compiled(_COMPILED))
    return MappingProxyType({name: value for module in _PLAIN for name, value in vars(module).items()})


def _at_hand() -> bool:
    """Return whether compiled code takes no time to have: it was compiled in this process, or is kept on disk."""
    functions = _functions(True)
    return bool(functions["code_samples"].signatures) or _on_disk()  # type: ignore[attr-defined]


@cache
def _on_disk() -> bool:
    return kept_on_disk(_COMPILED, "code_samples")


def _usual_size(column: FloatArray) -> float:
    values = column[np.isfinite(column)]
    return float(np.median(np.abs(values))) if values.size else 0.0


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
        Of each sensor; by default they are looked for in the first samples.
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
        self._waits = accelerate is None and can_compile() and not _at_hand()
        self._n_readings = 0
        self._call = _functions(can_compile() and not self._waits if accelerate is None else accelerate)
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
            self._lattice = self._choose(rows)
            self._open(groups_of(rows, self._labels, self._lattice, LARGEST_GROUP))
            prefix = self._lattice.to_bytes() + self._groups_to_bytes()
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
            self._open(self._read_groups(reader))
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

    def _choose(self, rows: FloatArray) -> Lattice:
        bound = self.bound
        assert bound is not None
        if bound.relative is not None:
            sizes = np.where(np.isfinite(rows) & (rows != 0.0), np.abs(rows), np.inf).min(axis=0)
            smallest = np.where(np.isfinite(sizes), np.maximum(sizes * 2.0**-10, 1e-290), 1e-6)
            curved = geometric_lattice(bound.relative, smallest, bound.single)
            resolutions = self._resolutions or self._find(rows)
            # Where readings are coarser than what is asked for, they are kept as they are.
            exact = linear_lattice(np.zeros(self.n_sensors), resolutions, bound.single, bound.whole)
            steps = np.array([each.numerator / each.denominator for each in resolutions])
            sizes = np.array([_usual_size(rows[:, i]) for i in range(self.n_sensors)])
            return curved.where(steps < 2.0 * bound.relative * sizes, exact, known=steps > 0.0)
        return linear_lattice(bound.absolute, self._resolutions or self._find(rows), bound.single, bound.whole)

    def _find(self, rows: FloatArray) -> list[Resolution]:
        """Look for each sensor's resolution; sensors that look alike share the finest of theirs."""
        bound = self.bound
        assert bound is not None
        finite = np.isfinite(rows)
        found: list[Resolution | None] = []
        for i in range(self.n_sensors):
            values = rows[finite[:, i], i]
            if bound.whole[i]:
                found.append(Resolution(1, 1))
            elif values.size == 0:
                found.append(None)
            else:
                found.append(find_resolution(values, single=bool(bound.single[i])))
        known = [each for each in found if each is not None and each.numerator]
        finest = max((each.denominator for each in known), default=1)
        share = sum(each is not None and not each.numerator for each in found)
        common = NO_RESOLUTION if share or not known else Resolution(1, finest)
        # A value or two may look coarser than their sensor is, and a sensor that was not seen may be as its neighbours.
        few = finite.sum(axis=0) < 16
        return [
            common if each is None or (few[i] and each.numerator and not bound.whole[i] and not share) else each
            for i, each in enumerate(found)
        ]

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

    def _groups_to_bytes(self) -> bytes:
        """Return the groups: how many there are, and, if several, runs of neighbours of one group."""
        out = bytearray()
        put_varint(out, len(self._members))
        if len(self._members) > 1:
            groups = np.zeros(self.n_sensors, dtype=np.int64)
            for number, part in enumerate(self._members):
                groups[part] = number
            ends = np.append(np.flatnonzero(np.diff(groups)) + 1, self.n_sensors)
            for start, end in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
                put_varint(out, end - start)
                put_varint(out, int(groups[start]))
        return bytes(out)

    def _read_groups(self, reader: Reader) -> IntArray:
        count = reader.varint(self.n_sensors)
        groups = np.zeros(self.n_sensors, dtype=np.int64)
        start = 0
        while count > 1 and start < self.n_sensors:
            run = reader.varint(self.n_sensors - start)
            groups[start : start + run] = reader.varint(count - 1)
            start += run
            if run == 0:
                raise FrameError("groups of sensors are damaged")
        sizes = np.bincount(groups, minlength=count)
        if len(sizes) != count or sizes.min() == 0 or sizes.max() > LARGEST_GROUP:
            raise FrameError("groups of sensors are damaged, or larger than they may be")
        return groups

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
        lattice = self._lattice
        assert lattice is not None
        finite = np.isfinite(rows)
        if int(((kinds == RAW) & finite).sum()) <= _TOO_MANY * max(int(finite.sum()), 1):
            return False
        return self._choose(rows).to_bytes() != lattice.to_bytes()

    def _code_count(self, buffer: ByteArray, count: int) -> int:
        """Code the number of samples: mostly what it was before."""
        other = self._call["code_bit"](self._coder, buffer, self._counts, 0, 250, int(count != self._last_count))
        if other:
            self._last_count = int(self._call["code_integer"](self._coder, buffer, self._counts, 1, count))
        return self._last_count

    def _code(self, buffer: ByteArray, *matrices: Any) -> None:
        """Code samples, one group of sensors after another; the matrices are as `kernel.slot.code_sample` has them."""
        if self._waits:
            # Both ways give the same bits from the same state: it does not matter when one takes over from the other.
            self._n_readings += matrices[0].size
            if self._n_readings > _PATIENCE:
                self._waits = False
                self._call = _functions(True)
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
