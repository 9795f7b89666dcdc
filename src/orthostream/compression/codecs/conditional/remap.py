"""What is known of a sensor, in the integers of its next lattice."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices import Geometric, Levels, Linear, SensorLattice
from orthostream.compression.kernel.group_state import Group

#: Factors and shifts beyond this are not taken along, nor integers beyond the other.
_LARGEST, _LARGEST_CELL = 1e12, 2.0**50


def remap(group: Group, i: int, old: SensorLattice, new: SensorLattice) -> None:
    """Give sensor i of a group another lattice.

    From one linear lattice to another, and from levels to more levels, what is known is taken along; otherwise the
    sensor is as new.
    """
    if old == new:
        return
    width = float(group.width[i])
    _describe(group, i, new)
    with np.errstate(all="ignore"):
        if group.seen[i] > 0 and isinstance(old, Linear) and isinstance(new, Linear):
            factor = (old.numerator * new.denominator) / (old.denominator * new.numerator)
            shift = ((old.offset * new.denominator) / old.denominator - new.offset) / new.numerator
            if 1.0 / _LARGEST < factor < _LARGEST and abs(shift) < _LARGEST:
                _move(group, i, width, factor, lambda positions: factor * positions + shift)
                return
        if group.seen[i] > 0 and isinstance(old, Levels) and isinstance(new, Levels):
            ranks = np.searchsorted(new.levels, old.levels).astype(np.int64)
            if ranks[-1] < len(new.levels) and np.array_equal(new.levels[ranks], old.levels):
                mean, deviation = float(group.mean[i]), math.sqrt(float(group.variance[i]))
                ends = _new_ranks(np.array([mean - deviation, mean + deviation]), ranks)
                factor = max(float(ends[1] - ends[0]) / (2.0 * deviation), 1.0)
                _move(group, i, width, factor, lambda positions: _new_ranks(positions, ranks))
                return
    _forget(group, i)


def _new_ranks(positions: FloatArray, ranks: IntArray) -> FloatArray:
    """Return where positions among old levels are among new ones: on the line between the levels beside them."""
    last = len(ranks) - 1
    below = np.clip(np.nan_to_num(np.floor(positions)), 0, max(last - 1, 0)).astype(np.int64)
    above = np.minimum(below + 1, last)
    inside = ranks[below] + (positions - below) * (ranks[above] - ranks[below])
    found = np.where(positions >= last, positions + float(ranks[last] - last), inside)
    return np.where(positions <= 0.0, positions + float(ranks[0]), found)


def _describe(group: Group, i: int, new: SensorLattice) -> None:
    """Tell the kernel what the integers stand for."""
    group.width[i] = new.width
    group.exact[i] = int(new.exact)
    group.precision[i] = new.precision
    group.numerator[i] = group.denominator[i] = 1.0
    group.offset[i] = 0.0
    group.single[i] = 0
    group.powers[i] = 0.0
    if isinstance(new, Linear):
        group.numerator[i], group.denominator[i], group.offset[i] = new.numerator, new.denominator, new.offset
        group.single[i] = int(new.single)
    elif isinstance(new, Geometric):
        group.numerator[i], group.single[i], group.powers[i, 0] = new.numerator, int(new.single), new.ratio
        with np.errstate(over="ignore"):
            for k in range(1, group.powers.shape[1]):
                group.powers[i, k] = group.powers[i, k - 1] * group.powers[i, k - 1]


def _move(group: Group, i: int, width: float, factor: float, to_new: Callable[[FloatArray], FloatArray]) -> None:
    """Take along what is known: positions by a function, distances by a factor; ``width`` is the old one."""
    wide = float(group.width[i])
    group.history[:, i] = to_new(group.history[:, i])
    group.mean[i] = to_new(group.mean[i : i + 1])[0]
    group.jump[i] = 0.0
    group.variance[i] = max(factor * factor * float(group.variance[i]), 0.01 * wide * wide)
    group.spread[i] = max(factor * float(group.spread[i]), 0.02 * wide)
    if group.memory.steps.shape[0] > 0:
        group.memory.steps[i] *= factor
        group.memory.extra[i] *= factor
    mixture = group.mixture
    if mixture.ring.shape[0] > 0:
        for numbers in (mixture.ring[i], mixture.mode[i : i + 1]):
            cells = np.floor(to_new(numbers * width) / wide + 0.5)
            numbers[:] = np.where(np.abs(cells) <= _LARGEST_CELL, cells, 0.0).astype(np.int64)
        mixture.match[i] = -1
        mixture.length[i] = mixture.trail[i] = mixture.long_trail[i] = 0


def _forget(group: Group, i: int) -> None:
    """Make a sensor as new."""
    width = float(group.width[i])
    group.seen[i] = 0
    group.history[:, i] = 0.0
    group.mean[i] = group.jump[i] = 0.0
    group.variance[i] = 4.0 * width * width
    group.spread[i] = 2.0 * width
    group.ratio[i] = group.stir[i] = 1.0
    for square in (group.covariance, group.upper):
        square[i, :] = 0.0
        square[:, i] = 0.0
        square[i, i] = 1.0
    group.pivots[i] = 1.0
    memory, mixture = group.memory, group.mixture
    if memory.steps.shape[0] > 0:
        memory.steps[i] = memory.sums[i] = memory.weights[i] = 0.0
        memory.extra[i] = 0.0
        memory.errors[i] = 1.0
    if mixture.ring.shape[0] > 0:
        mixture.ring[i] = 0
        mixture.match[i] = -1
        for numbers in (
            mixture.written,
            mixture.trail,
            mixture.long_trail,
            mixture.length,
            mixture.mode,
            mixture.votes,
            mixture.repeats,
            mixture.age,
            mixture.mixes,
        ):
            numbers[i] = 0
        mixture.account[i] = 0.0
