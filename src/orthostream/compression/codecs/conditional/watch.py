"""When an encoder should give sensors other lattices, from the readings that it has seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices import Levels, SensorLattice
from orthostream.compression.codecs.conditional.lattices.better import better_lattice
from orthostream.compression.codecs.conditional.lattices.changes import Change
from orthostream.compression.codecs.conditional.lattices.estimate import RAW_BITS, side_bits
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices, PlacedRows
from orthostream.compression.codecs.conditional.lattices.met_again import fixed_cells
from orthostream.compression.codecs.conditional.lattices.settled import is_settled
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted
from orthostream.compression.codecs.conditional.recent_samples import RecentSamples
from orthostream.compression.codecs.plain_state import set_values, values_of
from orthostream.compression.kernel.group_state import Group
from orthostream.compression.kernel.readings import RAW

#: Readings of a sensor after which its lattice is looked at for the first time; then at twice as many, and so on.
_FIRST_LOOK = 16
#: Readings that are looked at where they have become others just now.
_LATEST = 64
#: Sensors that are looked at in one frame, at most.
_LOOKS = 64
#: Share of readings off their lattice that makes another look worth while.
_TOO_MANY = 0.02
#: Bits of a frame that changes lattices, without them.
_FRAME = 100.0
#: A sensor is like one whose lattice was searched for among this share of its number of readings.
_SEARCHED_LATELY = 0.75
#: Lattices of other sensors of its label that a sensor tries.
_OTHERS = 2
#: Sensors of one label that have to fulfil the same may share a lattice.
_Kind = tuple[str, Wanted]
#: What a state holds beside the samples that are remembered.
_COUNTS = ("_seen", "_strays", "_next_look", "_next_strays", "_looked", "_paid")


def bits_of_sensors(groups: Sequence[Group], members: Sequence[IntArray]) -> FloatArray:
    """Return the bits that each sensor took so far; those of a group are shared out evenly."""
    bits = np.zeros(sum(map(len, members)))
    for group, sensors in zip(groups, members, strict=True):
        bits[sensors] = group.spent.sum() / len(sensors)
    return bits


class LatticeWatch:
    """Remembers recent readings, and says which lattices should change before the next frame.

    Parameters
    ----------
    wanted : sequence of Wanted
        What each sensor's lattice has to fulfil.
    labels : sequence of str
        What each sensor measures.
    """

    def __init__(self, wanted: Sequence[Wanted], labels: Sequence[str]) -> None:
        self.wanted = list(wanted)
        self._labels = list(labels)
        n = len(self._labels)
        self._recent = RecentSamples(n)
        self._seen: IntArray = np.zeros(n, dtype=np.int64)
        self._strays: IntArray = np.zeros(n, dtype=np.int64)
        self._next_look: IntArray = np.full(n, _FIRST_LOOK, dtype=np.int64)
        self._next_strays: IntArray = np.full(n, 2, dtype=np.int64)
        #: Strays and readings at the last search.
        self._looked: IntArray = np.zeros((2, n), dtype=np.int64)
        #: Bits that were paid since the last look, and for how many readings.
        self._paid: FloatArray = np.zeros((2, n))

    def state(self) -> dict[str, Any]:
        """Return what is remembered, as arrays."""
        return {"remembered": self._recent.state(), "counts": values_of(self, _COUNTS)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Take over what another one remembered; raise ValueError if it does not fit."""
        self._recent.set_state(state["remembered"])
        set_values(self, state["counts"], _COUNTS)

    def recent(self, rows: FloatArray) -> FloatArray:
        """Return the samples that are remembered, and the next ones."""
        return self._recent.joined(rows)

    def restarted(self) -> None:
        """Begin to count anew: all lattices were chosen just now."""
        self._strays[:] = 0
        self._looked[0] = 0
        self._looked[1] = self._seen
        self._paid[:] = 0.0
        self._next_look[:] = np.maximum(_FIRST_LOOK, 2 * self._seen)
        self._next_strays[:] = 2

    def note(self, rows: FloatArray, kinds: IntArray, bits: FloatArray) -> None:
        """Remember samples, how their readings were coded, and how many bits each sensor took."""
        self._recent.add(rows)
        finite = np.isfinite(rows)
        self._seen += finite.sum(axis=0)
        # Rounded, so that the last bit of a logarithm decides nothing.
        self._paid += (np.rint(1024.0 * bits) / 1024.0, finite.sum(axis=0))
        self._strays += ((kinds == RAW) & finite).sum(axis=0)

    def changes(self, rows: FloatArray, lattices: Lattices, placed: PlacedRows) -> list[Change]:
        """Return the changes that should come before the next samples, which are ``placed`` on their lattices."""
        here, off = np.isfinite(rows).sum(axis=0), self._off(rows, lattices, placed).sum(axis=0)
        seen, strays = self._seen + here, self._strays + off
        new = (off >= 2) & (off > _TOO_MANY * here)
        # Levels become more by themselves.
        new[lattices.levels] = False
        look = new | (seen >= self._next_look) | ((strays >= self._next_strays) & (strays > _TOO_MANY * seen))
        # Those that cannot wait first; the others have their turn in the next frames.
        turn = np.concatenate([np.flatnonzero(look & new), np.flatnonzero(look & ~new)])[:_LOOKS]
        found: dict[int, Change] = {}
        saved = 0.0
        if len(turn):
            usual: dict[_Kind, tuple[SensorLattice, ...]] = {}
            latest: dict[_Kind, tuple[SensorLattice, ...]] = {}
            for i in turn.tolist():
                kind = self._labels[i], self.wanted[i]
                column = self._recent.column(i, rows)
                paid = self._paid[0, i] / self._paid[1, i] if self._paid[1, i] and not new[i] else np.inf
                better: SensorLattice | None
                if not new[i] and self._needs_no_search(i, int(seen[i]), column, lattices):
                    better = fixed_cells(lattices[i], column, paid)
                else:
                    usual = usual or self._usual(lattices)
                    others = (*usual[kind], *latest.get(kind, ()))
                    # Where readings have become others just now, those of long ago do not count.
                    column = column[-max(2 * len(rows), _LATEST) :] if new[i] else column
                    better = self._searched(i, column, lattices[i], others, paid, int(seen[i]), int(strays[i]))
                if better is not None:
                    latest[kind] = (better,)
                    found[i] = Change(i, better)
                    saved = np.inf
            self._paid[:, turn] = 0.0
            self._next_look[turn] = 2 * seen[turn]
            self._next_strays[turn] = 2 * strays[turn] + 2
        for i in lattices.levels:
            if i not in found and not placed.held[:, i].all():
                gain, change = self._new_levels(i, lattices[i], rows[:, i])
                if gain > 0.0 and change is not None:
                    found[i] = change
                    saved += gain
        if saved < _FRAME or not lattices.replaced({i: each.lattice for i, each in found.items()}).has_room(0):
            return []
        for i, change in found.items():
            if isinstance(change.lattice, Levels) and change.added:
                self._strays[i] += len(change.lattice.levels)
            else:
                self._strays[i] = self._looked[0, i] = 0
                self._next_strays[i] = 2
        return [found[i] for i in sorted(found)]

    def _needs_no_search(self, i: int, seen: int, column: FloatArray, lattices: Lattices) -> bool:
        """Return True if a sensor's lattice fits, and a search for one like it has confirmed that lattice lately."""
        label, wanted, lattice = self._labels[i], self.wanted[i], lattices[i]
        lately = np.flatnonzero(self._looked[1] >= _SEARCHED_LATELY * seen)
        confirmed = any(
            j != i and self._labels[j] == label and self.wanted[j] == wanted and lattices[j] == lattice
            for j in lately.tolist()
        )
        return confirmed and is_settled(lattice, column, wanted)

    def _searched(
        self,
        i: int,
        column: FloatArray,
        lattice: SensorLattice,
        others: tuple[SensorLattice, ...],
        paid: float,
        seen: int,
        strays: int,
    ) -> SensorLattice | None:
        """Return a better lattice for a sensor, after a search among all kinds; None if there is none."""
        # Readings that have become levels since were none when they came.
        became = max(strays - int(self._looked[0, i]), 0) if isinstance(lattice, Levels) else 0
        extra = RAW_BITS * became / max(seen - int(self._looked[1, i]), 1)
        self._looked[:, i] = strays, seen
        with np.errstate(all="ignore"):
            return better_lattice(lattice, column, self.wanted[i], others, extra, paid)

    def _usual(self, lattices: Lattices) -> dict[_Kind, tuple[SensorLattice, ...]]:
        """Return the lattices that most sensors of a label have."""
        counts: defaultdict[_Kind, Counter[SensorLattice]] = defaultdict(Counter)
        for label, wanted, lattice in zip(self._labels, self.wanted, lattices.all, strict=True):
            counts[label, wanted][lattice] += 1
        return {key: tuple(lattice for lattice, _ in each.most_common(_OTHERS)) for key, each in counts.items()}

    @staticmethod
    def _new_levels(i: int, lattice: SensorLattice, column: FloatArray) -> tuple[float, Change | None]:
        """Return the levels that a sensor needs for some readings, and the bits that it saves to tell them before."""
        assert isinstance(lattice, Levels)
        new = lattice.new_among(column)
        if not len(new) or lattice.merged(new)[0] is lattice:
            return 0.0, None
        added = Levels(new)
        return RAW_BITS * float(np.isin(column, new).sum()) - side_bits(added), Change(i, added, added=True)

    @staticmethod
    def _off(rows: FloatArray, lattices: Lattices, placed: PlacedRows) -> BoolArray:
        """Return which readings are surely off their lattice: those that a narrow cell does not hold."""
        plain = lattices.plain
        narrow = (plain.width == 1) & (plain.ratio == 0.0) & (lattices.exact == 0)
        with np.errstate(all="ignore"):
            away = np.abs(plain.values(np.rint(placed.positions).astype(np.int64)) - rows)
            cell = plain.numerator / plain.denominator
        off: BoolArray = np.isfinite(rows) & (~placed.held | (narrow & (away > 1e-6 * cell)))
        return off
