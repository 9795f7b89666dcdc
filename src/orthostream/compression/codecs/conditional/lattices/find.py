"""The cheapest lattice for a sensor's readings, and for those of sensors that measure the same thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.constant_steps import constant_step
from orthostream.compression.codecs.conditional.lattices.decimal_steps import binary_steps, decimal_steps
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.estimate import (
    RAW_BITS,
    bits_per_reading,
    sampled,
    side_bits,
)
from orthostream.compression.codecs.conditional.lattices.float_bits import floats_for
from orthostream.compression.codecs.conditional.lattices.fractions import fraction_levels
from orthostream.compression.codecs.conditional.lattices.levels import MOST_LEVELS, Levels, can_be_levels
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.met_again import share_new
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.settled import is_settled
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted, widened, without_resolution

#: Share of readings off a resolution above which one that is no decimal is looked for.
_MANY_STRAYS = 0.02
#: A sensor of fewer readings and different values is as its neighbours.
_FEW_READINGS, _FEW_VALUES = 64, 2
#: Sensors of a label that are searched; if all of them share a lattice, so do others that it holds.
_SEARCHED = 64
#: Share of the other sensors that must have the same lattice for that.
_ALIKE = 0.75
#: Bits of a reading that a lattice of one's own must save over the one that is shared with neighbours.
_OWN_GAIN = 0.1
#: Share of levels above which they are those that were met, and no others.
_ALL_MET = 0.9
#: Bits of a reading that ranks cost more than they seem to: equal steps are no longer equal.
_UNEVEN = 0.5
#: How many readings off a lattice are to be expected where there was none so far.
_RISK = 0.25


def resolutions_of(distinct: Distinct, wanted: Wanted) -> tuple[list[Linear], bool]:
    """Return steps of which readings may be multiples, and whether nearly all readings are those of one.

    Decimals come first, then any constant; powers of two, which all doubles are multiples of, do not count as one.
    """
    if not len(distinct.values):
        return [], False
    found = decimal_steps(distinct, single=wanted.single)
    binary = binary_steps(distinct)
    if wanted.whole:
        found += binary
        return [step for step in found if step.denominator == 1.0 and step.numerator.is_integer()] or [Linear()], True
    if not _fit(found, distinct):
        rounded = wanted.single or _of_32_bits(distinct)
        if rounded and not wanted.single:
            found += decimal_steps(distinct, single=True)
        if not _fit(found, distinct):
            constant = constant_step(distinct, single=wanted.single)
            if constant is None and rounded and not wanted.single:
                constant = constant_step(distinct, single=True)
            found += [] if constant is None else [constant]
    if _fit(found, distinct):
        return found, True
    return found + binary, False


def candidates(column: FloatArray, distinct: Distinct, wanted: Wanted) -> list[SensorLattice]:
    """Return lattices that a column of readings may be coded with; the cheapest is to be taken."""
    fine = without_resolution(wanted)
    steps, fit = resolutions_of(distinct, wanted)
    found: list[SensorLattice] = [each for each in [*(widened(step, wanted) for step in steps), fine] if each]
    if fine is None or not fine.place(distinct.values).held.all():
        if 1 <= np.count_nonzero(can_be_levels(distinct.values)) <= min(MOST_LEVELS, distinct.total // 2):
            found.append(Levels.of(distinct.values))
        fractions = None if fit else fraction_levels(distinct)
        found += [] if fractions is None else [fractions]
        if not fit:
            found += floats_for(column, distinct)
    return found or [Linear(single=wanted.single)]


def cost(lattice: SensorLattice, values: FloatArray, distinct: Distinct, wanted: Wanted, share: float = 1.0) -> float:
    """Return the bits of a reading: what it takes, its part of the lattice, and the risk that others do not fit.

    ``share`` is that of readings which are new: those that come again exactly take nothing.
    """
    n = max(distinct.total, 1)
    bits = share * bits_per_reading(lattice, values, wanted.error) + side_bits(lattice) / n
    if isinstance(lattice, Levels):
        # Values that were not met yet may be levels all the same, as fractions are.
        new = distinct.rate_of_new if only_met(lattice, distinct) else _RISK / (n + 1)
        return bits + RAW_BITS * new + _UNEVEN
    return bits + _RISK * RAW_BITS / (n + 1)


def best_lattice(column: FloatArray, wanted: Wanted) -> SensorLattice:
    """Return the cheapest lattice for one column of readings.

    Examples
    --------
    >>> import numpy as np
    >>> best_lattice(np.array([20.5, 20.6, 20.6, 20.9]), Wanted())
    Linear(width=1, numerator=1.0, denominator=10.0, offset=0.0, single=False)
    """
    distinct = Distinct.of(column)
    values = sampled(column)
    share = share_new(column)
    return min(candidates(column, distinct, wanted), key=lambda each: cost(each, values, distinct, wanted, share))


def find_lattices(rows: FloatArray, labels: Sequence[str], wanted: Sequence[Wanted]) -> list[SensorLattice]:
    """Return a lattice for each sensor; sensors of one label share theirs unless one of their own is clearly cheaper.

    A value or two may look coarser than their sensor is: a sensor of which little was seen takes the lattice of its
    label.
    """
    members: defaultdict[tuple[str, Wanted], list[int]] = defaultdict(list)
    for i, key in enumerate(zip(labels, wanted, strict=True)):
        members[key].append(i)
    found: list[SensorLattice] = [Linear()] * len(labels)
    for (_, want), sensors in members.items():
        for i, lattice in zip(sensors, _of_one_label(rows[:, sensors], want), strict=True):
            found[i] = lattice
    return found


def _of_one_label(rows: FloatArray, wanted: Wanted) -> list[SensorLattice]:
    n = rows.shape[1]
    if n == 1:
        return [best_lattice(rows[:, 0], wanted)]
    distinct = [Distinct.of(rows[:, i]) for i in range(n)]
    values = [sampled(rows[:, i]) for i in range(n)]
    some = np.unique(np.linspace(0, n - 1, min(n, _SEARCHED)).astype(np.int64)).tolist()
    # Columns after one another: a step from one to the next is rare.
    column = rows[:, some].T.ravel()
    pooled = Distinct.of(column)
    common = [each for each in candidates(column, pooled, wanted) if not only_met(each, pooled)]
    if not common:
        return [best_lattice(rows[:, i], wanted) for i in range(n)]
    charges = [sum(distinct[i].total * cost(each, values[i], distinct[i], wanted) for i in some) for each in common]
    shared = common[int(np.argmin(charges))]

    def chosen(i: int) -> SensorLattice:
        if is_settled(shared, rows[:, i], wanted):
            return shared
        own = candidates(rows[:, i], distinct[i], wanted)
        charges = [cost(each, values[i], distinct[i], wanted) for each in own]
        first = int(np.argmin(charges))
        return shared if cost(shared, values[i], distinct[i], wanted) <= charges[first] + _OWN_GAIN else own[first]

    few = [each.total < _FEW_READINGS and len(each.values) < _FEW_VALUES for each in distinct]
    known = {i: chosen(i) for i in some if not few[i]}
    alike = sum(lattice == shared for lattice in known.values()) >= _ALIKE * len(known)
    all_alike = all(lattice == shared for lattice in known.values())
    for i in range(n):
        if i not in known:
            enough = not distinct[i].total or ((alike if few[i] else all_alike) and _holds(shared, values[i], wanted))
            known[i] = shared if enough else chosen(i)
    return [known[i] for i in range(n)]


def _holds(lattice: SensorLattice, values: FloatArray, wanted: Wanted) -> bool:
    return bits_per_reading(lattice, values, wanted.error) < bits_per_reading(lattice, values, np.inf) + 1e-9


def only_met(lattice: SensorLattice, distinct: Distinct) -> bool:
    """Return whether a lattice has the values that were met, and no others."""
    return isinstance(lattice, Levels) and len(lattice.levels) * _ALL_MET <= len(distinct.values)


def _fit(steps: list[Linear], distinct: Distinct) -> bool:
    return any(_strays(step, distinct) <= _MANY_STRAYS for step in steps)


def _strays(step: Linear, distinct: Distinct) -> float:
    placed = step.place(distinct.values)
    same = placed.held & (step.values(np.rint(placed.positions).astype(np.int64), placed.rests) == distinct.values)
    return float(distinct.counts[~same].sum()) / distinct.total


def _of_32_bits(distinct: Distinct) -> bool:
    with np.errstate(over="ignore", under="ignore"):
        same = distinct.values.astype(np.float32).astype(np.float64) == distinct.values
    return float(distinct.counts[~same].sum()) <= _MANY_STRAYS * distinct.total
