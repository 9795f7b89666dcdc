"""What is known of a sensor, in the integers of its next lattice."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices import Levels, Linear, SensorLattice
from orthostream.compression.kernel.slot_state import Slot

#: Positions and factors beyond this are not taken along.
_LARGEST = 1e12


def remap(slot: Slot, i: int, old: SensorLattice, new: SensorLattice) -> None:
    """Give sensor i of a slot another lattice.

    From one linear lattice to another, and from levels to more levels, what is known is taken along; otherwise the
    sensor is as new.
    """
    if old == new:
        return
    _describe(slot, i, new)
    if isinstance(old, Linear) and isinstance(new, Linear):
        factor = (old.numerator * new.denominator) / (old.denominator * new.numerator)
        shift = ((old.offset * new.denominator) / old.denominator - new.offset) / new.numerator
        if 1.0 / _LARGEST < factor < _LARGEST and abs(shift) < _LARGEST:
            _move(slot, i, factor * slot.history[:, i] + shift, factor * float(slot.mean[i]) + shift, factor)
            return
    if isinstance(old, Levels) and isinstance(new, Levels):
        ranks = np.searchsorted(new.levels, old.levels)
        if ranks[-1] < len(new.levels) and np.array_equal(new.levels[ranks], old.levels):
            mean, deviation = float(slot.mean[i]), math.sqrt(float(slot.variance[i]))
            ends = _new_ranks(np.array([mean - deviation, mean, mean + deviation]), ranks.astype(np.int64))
            factor = float(ends[2] - ends[0]) / (2.0 * deviation)
            _move(slot, i, _new_ranks(slot.history[:, i], ranks.astype(np.int64)), float(ends[1]), factor)
            return
    _forget(slot, i)


def _new_ranks(positions: FloatArray, ranks: IntArray) -> FloatArray:
    """Return where positions among old levels are among new ones: on the line between the levels beside them."""
    last = len(ranks) - 1
    below = np.clip(np.floor(positions), 0, max(last - 1, 0)).astype(np.int64)
    above = np.minimum(below + 1, last)
    start = ranks[below].astype(np.float64)
    inside = start + (positions - below) * (ranks[above] - ranks[below])
    found = np.where(positions >= last, positions + float(ranks[last] - last), inside)
    return np.where(positions <= 0.0, positions + float(ranks[0]), found)


def _describe(slot: Slot, i: int, new: SensorLattice) -> None:
    slot.width[i] = new.width
    slot.numerator[i] = slot.denominator[i] = 1.0
    slot.offset[i] = 0.0
    slot.single[i] = 0
    slot.powers[i] = 0.0
    if isinstance(new, Linear):
        slot.numerator[i], slot.denominator[i], slot.offset[i] = new.numerator, new.denominator, new.offset
        slot.single[i] = int(new.single)


def _move(slot: Slot, i: int, history: FloatArray, mean: float, factor: float) -> None:
    width = float(slot.width[i])
    if slot.seen[i] == 0:
        _forget(slot, i)
        return
    slot.history[:, i] = history
    slot.mean[i] = mean
    slot.variance[i] = max(factor * factor * float(slot.variance[i]), 0.01 * width * width)
    slot.spread[i] = max(factor * float(slot.spread[i]), 0.02 * width)


def _forget(slot: Slot, i: int) -> None:
    width = float(slot.width[i])
    slot.seen[i] = 0
    slot.history[:, i] = 0.0
    slot.mean[i] = 0.0
    slot.variance[i] = 4.0 * width * width
    slot.spread[i] = 2.0 * width
    slot.ratio[i] = slot.stir[i] = 1.0
    for square in (slot.covariance, slot.upper):
        square[i, :] = 0.0
        square[:, i] = 0.0
        square[i, i] = 1.0
    slot.pivots[i] = 1.0
