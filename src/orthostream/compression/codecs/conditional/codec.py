"""The default codec: every reading within its bound, each sensor conditioned on those coded before it."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.codecs.codec import READINGS, UPDATE, Codec, Payload
from orthostream.compression.codecs.conditional.checked_groups import fill_groups
from orthostream.compression.codecs.conditional.choose_lattice import wants_another_lattice
from orthostream.compression.codecs.conditional.functions import KernelFunctions
from orthostream.compression.codecs.conditional.groups import groups_of
from orthostream.compression.codecs.conditional.last_choice import LastChoice
from orthostream.compression.codecs.conditional.lattices import Levels, SensorLattice
from orthostream.compression.codecs.conditional.lattices.changes import put_changes, read_changes
from orthostream.compression.codecs.conditional.lattices.choose import wanted_by
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices, PlacedRows
from orthostream.compression.codecs.conditional.lattices.level_bytes import least_bytes_of
from orthostream.compression.codecs.conditional.lattices.wire import n_levels_written
from orthostream.compression.codecs.conditional.opening import opening_to_bytes, read_affordable_opening, read_opening
from orthostream.compression.codecs.conditional.remap import remap
from orthostream.compression.codecs.conditional.resolution import Resolution
from orthostream.compression.codecs.conditional.rules import RULES
from orthostream.compression.codecs.conditional.watch import LatticeWatch, bits_of_sensors
from orthostream.compression.codecs.plain_state import arrays_of, checked_bytes, set_values, values_of
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.group_state import CORRUPT, HASH, Group, new_group
from orthostream.compression.kernel.range_coder import CODER_SIZE, EVEN, INTEGER_BITS
from orthostream.compression.kernel.readings import CELL, MISSING, RAW
from orthostream.compression.targets import ErrorBound
from orthostream.compression.varint import Reader

#: Maximum number of bytes of a reading, on the rarest path.
_LONGEST = 96
#: What a state holds beside the lattice and the groups.
_SHARED = ("_counts", "_last_count", "_changed", "wants_restart")


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
    version : int, default 2
        Of the format.

    Attributes
    ----------
    wants_restart : bool
        Whether readings have left the lattice that was chosen for them, so that a new one would pay.
    """

    update_component = "lattice changes"

    def __init__(
        self,
        n_sensors: int,
        *,
        bound: ErrorBound | None = None,
        period: int = 0,
        resolutions: list[Resolution] | None = None,
        labels: Sequence[str] | None = None,
        accelerate: bool | None = None,
        version: int = 2,
    ) -> None:
        self.n_sensors = n_sensors
        self.version = version
        self._rules = RULES[version]
        self._labels = labels or [""] * n_sensors
        self._watch: LatticeWatch | None = None
        if self._rules.has_changes and bound is not None and bound.relative is None and resolutions is None:
            self._watch = LatticeWatch(wanted_by(bound), self._labels)
        self.period = period
        self.bound = bound
        self._resolutions = resolutions
        self._call = KernelFunctions(accelerate)
        self._coder: IntArray = np.zeros(CODER_SIZE, dtype=np.int64)
        if bound is not None:
            self._choice = LastChoice(
                partial(self._rules.choose, bound=bound, labels=self._labels, resolutions=resolutions)
            )
        self.restart()

    def restart(self) -> None:
        self._lattices: Lattices | None = None
        self._changed = 0
        self._groups: list[Group] = []
        self._members: list[IntArray] = []
        self._counts: IntArray = np.full(INTEGER_BITS + 1, EVEN, dtype=np.int64)
        self._last_count = 1
        self.wants_restart = False

    @property
    def digest(self) -> int:
        value = len(self._groups)
        for part in self._groups:
            value = (value * 0x01000193 ^ int(part.clock[HASH])) & 0xFFFFFFFF
        return value ^ self._changed

    def state(self) -> dict[str, Any]:
        watch = None if self._watch is None else self._watch.state()
        if self._lattices is None:
            return {"opening": None, "watch": watch}
        opening = opening_to_bytes(self._lattices, self._numbers, self.version)
        opening = opening.ljust(least_bytes_of(n_levels_written(self.lattices)), b"\0")
        return {
            "opening": np.frombuffer(opening, dtype=np.uint8).copy(),
            "groups": arrays_of(self._groups),
            "shared": values_of(self, _SHARED),
            "watch": watch,
        }

    def set_state(self, state: dict[str, Any]) -> None:
        self.restart()
        if self._watch is not None:
            self._watch = LatticeWatch(self._watch.wanted, self._labels)
            if state["watch"] is not None:
                self._watch.set_state(state["watch"])
        if state["opening"] is None:
            return
        opening = Reader(checked_bytes(state["opening"], "opening"))
        self._lattices, numbers = read_opening(opening, self.n_sensors, self.version)
        self._open(numbers)
        fill_groups(self._groups, state["groups"])
        set_values(self, state["shared"], _SHARED)

    @property
    def bits(self) -> dict[str, float]:
        """Bits spent so far since the last restart, by what they were spent on."""
        spent = sum((part.spent for part in self._groups), np.zeros(3))
        return {"missing": float(spent[0]), "readings": float(spent[1]), "exact": float(spent[2])}

    @property
    def lattices(self) -> list[SensorLattice]:
        """The numbers that each sensor's readings are replaced by; none before the first samples."""
        return [] if self._lattices is None else self._lattices.all

    def encode(self, rows: FloatArray) -> list[Payload]:
        if self.bound is None:
            raise ValueError("this codec was made without a bound: it can only decode.")
        rows = np.ascontiguousarray(rows, dtype=np.float64)
        fresh = self._lattices is None
        prefix = self._choose(rows) if fresh else b""
        assert self._lattices is not None
        placed = self._lattices.place(rows)
        if payloads := [] if fresh else self._changes(rows, placed):
            placed = self._lattices.place(rows)
        n_levels = n_levels_written(self.lattices) if fresh else 0
        body = self._encode(rows, placed, self.bound.limits(rows))
        return [*payloads, Payload(READINGS, self._padded(prefix + body, self._work(len(rows), fresh), n_levels))]

    def _padded(self, body: bytes, work: int, n_levels: int) -> bytes:
        """Return a payload with as many zeros as its work and the levels in it take."""
        return body.ljust(max(self._rules.limit.least_bytes(work), least_bytes_of(n_levels)), b"\0")

    def _changes(self, rows: FloatArray, placed: PlacedRows) -> list[Payload]:
        """Return a payload that changes lattices, if they should change before some samples."""
        assert self._lattices is not None
        if self._watch is None or not (changes := self._watch.changes(rows, self._lattices, placed)):
            return []
        out = bytearray()
        n_levels = put_changes(out, changes)
        body = self._padded(bytes(out), self._rules.limit.of_start(len(changes), 0), n_levels)
        self._update(body)
        return [Payload(UPDATE, body)]

    def _choose(self, rows: FloatArray) -> bytes:
        """Choose lattices and groups, and return their bytes."""
        if self._watch is not None:
            rows = self._watch.recent(rows)
            self._watch.restarted()
        self._lattices = self._choice.lattices_for(rows)
        self._choice.forget()
        self._open(groups_of(rows, self._labels, self._lattices.plain))
        return opening_to_bytes(self._lattices, self._numbers, self.version)

    def _update(self, body: bytes) -> None:
        """Take changes of lattices in."""
        if self._lattices is None:
            raise FrameError("lattices change before there are any")
        changes = read_changes(Reader(body), self._lattices)
        if self._rules.limit.of_start(len(changes), 0) > self._rules.limit.afforded(len(body)):
            raise FrameError(f"{len(body)} bytes cannot change the lattices of {len(changes)} sensors")
        self._replace(changes)
        self._changed = zlib.crc32(body, self._changed)

    def _replace(self, changes: dict[int, SensorLattice]) -> None:
        assert self._lattices is not None
        for sensor, lattice in changes.items():
            group, place = self._places[sensor]
            remap(group, place, self._lattices[sensor], lattice)
        self._lattices = self._lattices.replaced(changes)

    def _grow(self, kinds: IntArray, patterns: IntArray) -> None:
        """Make levels of the readings that sensors of levels have sent as they are."""
        assert self._lattices is not None
        grown: dict[int, SensorLattice] = {}
        n_levels = 0
        for sensor in self._lattices.levels:
            sent = patterns[kinds[:, sensor] == RAW, sensor]
            old = self._lattices[sensor]
            if len(sent) and isinstance(old, Levels):
                new = old.new_among(sent.view(np.float64))
                larger = old.merged(new)[0]
                if larger is not old and self._lattices.has_room(n_levels + len(new)):
                    grown[sensor] = larger
                    n_levels += len(new)
                    self._changed = zlib.crc32(new.astype("<f8").tobytes(), self._changed)
        if grown:
            self._replace(grown)

    def _work(self, count: int, fresh: bool) -> int:
        work = count * self._rules.limit.of_sample([len(part) for part in self._members])
        return work + (self._rules.limit.of_start(self.n_sensors, len(self._members)) if fresh else 0)

    @property
    def most_samples(self) -> int:  # type: ignore[override]
        return self._rules.limit.most_samples([len(part) for part in self._members] or [self.n_sensors])

    def most_first_samples(self, rows: FloatArray) -> int:
        if not self._rules.looks_at_first_samples or self.bound is None:
            return self.most_samples
        rows = rows if self._watch is None else self._watch.recent(rows)
        plain = self._choice.lattices_for(rows).plain
        return self._rules.limit.most_samples(np.bincount(groups_of(rows, self._labels, plain)).tolist())

    def decode(self, payload: Payload) -> FloatArray:
        if payload.kind == UPDATE and self._rules.has_changes:
            self._update(payload.body)
            return np.empty((0, self.n_sensors))
        if payload.kind != READINGS:
            raise FrameError(f"a payload of kind {payload.kind} does not belong to this stream")
        body = payload.body
        if fresh := self._lattices is None:
            self._lattices, numbers, body = read_affordable_opening(
                body, self.n_sensors, self.version, self._rules.limit
            )
            self._open(numbers)
        data = self._rules.coded(body)
        self._call["start_decoding"](self._coder, data, len(data))
        self._rules.begin(self._call, self._coder, data)
        count = self._code_count(data, 0)
        if count == 0 or self._work(count, fresh) > self._rules.limit.afforded(len(payload.body)):
            raise FrameError(f"{len(payload.body)} bytes cannot be {count} samples of {self.n_sensors} sensors")
        kinds, cells, rests, patterns = (np.zeros((count, self.n_sensors), dtype=np.int64) for _ in range(4))
        nothing = np.zeros((count, self.n_sensors))
        self._code(data, kinds, cells, rests, nothing, nothing, nothing, patterns)
        if any(part.clock[CORRUPT] for part in self._groups):
            raise FrameError("a payload holds numbers that no encoder writes")
        readings = self._readings(kinds, cells, rests, patterns)
        self._grow(kinds, patterns)
        return readings

    def _open(self, groups: IntArray) -> None:
        assert self._lattices is not None
        lattice = self._lattices.plain
        powers = lattice.powers()
        self._numbers = groups
        self._members = [np.flatnonzero(groups == number) for number in range(int(groups.max()) + 1)]
        self._groups = [
            new_group(
                lattice.width[part].astype(np.float64),
                lattice.numerator[part],
                lattice.denominator[part],
                lattice.offset[part],
                powers[part],
                lattice.single[part].astype(np.int64),
                self._lattices.exact[part],
                self._lattices.precision[part],
                self.period,
                self.version,
            )
            for part in self._members
        ]
        self._places = {
            sensor: (group, place)
            for group, members in zip(self._groups, self._members, strict=True)
            for place, sensor in enumerate(members.tolist())
        }

    def _encode(self, rows: FloatArray, placed: PlacedRows, limits: FloatArray) -> bytes:
        kinds = np.where(placed.held, CELL, RAW).astype(np.int64)
        kinds[np.isnan(rows)] = MISSING
        if self._rules.keeps_negative_zero and self.bound is not None and self.bound.relative is None:
            # An integer has one zero only.
            kinds[(rows == 0.0) & np.signbit(rows) & (limits == 0.0)] = RAW
        buffer: ByteArray = np.zeros(rows.size * _LONGEST + 64, dtype=np.uint8)
        self._call["start_encoding"](self._coder)
        self._rules.begin(self._call, self._coder, buffer)
        self._code_count(buffer, len(rows))
        patterns = rows.view(np.int64).copy()
        cells = np.zeros(rows.shape, dtype=np.int64)
        before = bits_of_sensors(self._groups, self._members)
        self._code(buffer, kinds, cells, placed.rests, placed.positions, rows, limits, patterns)
        if self._watch is not None:
            self._watch.note(rows, kinds, bits_of_sensors(self._groups, self._members) - before)
        else:
            assert self._lattices is not None and self.bound is not None
            strays = np.isfinite(rows) & (kinds == RAW)
            self.wants_restart = wants_another_lattice(
                self._lattices.plain, rows, strays, self.bound, self._resolutions
            )
        self._grow(kinds, patterns)
        return self._rules.finish(self._call, self._coder, buffer)

    def _code_count(self, buffer: ByteArray, count: int) -> int:
        """Code the number of samples: mostly what it was before."""
        other = self._call["code_bit"](self._coder, buffer, self._counts, 0, 250, int(count != self._last_count))
        if other:
            self._last_count = int(self._call["code_integer"](self._coder, buffer, self._counts, 1, count))
        return self._last_count

    def _code(self, buffer: ByteArray, *matrices: Any) -> None:
        """Code samples, one group of sensors after another; the matrices are those of `kernel.sample.code_sample`."""
        self._call.expect(matrices[0].size)
        code_samples = self._call["code_samples"]
        with np.errstate(all="ignore"):
            if len(self._groups) == 1:
                code_samples(self._coder, buffer, self._groups[0], *matrices)
                return
            for own, members in zip(self._groups, self._members, strict=True):
                parts = [np.ascontiguousarray(matrix[:, members]) for matrix in matrices]
                code_samples(self._coder, buffer, own, *parts)
                for matrix, part in zip(matrices, parts, strict=True):
                    matrix[:, members] = part

    def _readings(self, kinds: IntArray, cells: IntArray, rests: IntArray, patterns: IntArray) -> FloatArray:
        assert self._lattices is not None
        values = np.where(kinds == RAW, patterns.view(np.float64), self._lattices.values(cells, rests))
        return np.where(kinds == MISSING, np.nan, values)
