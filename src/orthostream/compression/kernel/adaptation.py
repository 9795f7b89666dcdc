"""What a reading teaches at once: how wide the bell curve should have been, and the sensor's own mean and variance."""

from __future__ import annotations

import math

from orthostream.compression.kernel.group_state import Group
from orthostream.compression.kernel.student import FOUR, below, density

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False
#: Functions with this parameter are inlined: it is many arrays, which a call would copy.
INLINES = "group"

#: A cell narrower than the scale of the curve by this factor is scored by the density.
NARROW = 1024.0


def score_of(upper: float, lower: float, probability: float, shape: int) -> float:
    """Return how much too narrow (above 0) or too wide the bell curve was for a cell between two edges.

    It is the derivative of the logarithm of the cell's probability by that of the scale.
    """
    if not probability > 1e-9:
        return 4.0
    score = (lower * density(lower, shape) - upper * density(upper, shape)) / probability
    if score < -1.0:
        return -1.0
    return 4.0 if score > 4.0 else score


def score_of_narrow(x: float, shape: int) -> float:
    """Return the score of a cell that is narrow beside the bell curve, whose probability is next to nothing."""
    freedom = 4.0 if shape == FOUR else 10.0
    square = x * x / freedom
    score = (freedom + 1.0) * (square / (1.0 + square)) - 1.0
    return 4.0 if score > 4.0 else score


def probability_of(upper: float, lower: float, shape: int) -> float:
    """Return the probability of the cell between two edges."""
    return below(upper, shape) - below(lower, shape)


def _within(factor: float, least: float, most: float) -> float:
    return least if factor < least else most if factor > most else factor


def adapt_scale(group: Group, i: int, ratio: float, score: float, level_bin: int, stir_bin: int) -> None:
    """Move the slow factors of the scale."""
    group.ratio[i] = _within(ratio * (1.0 + 0.005 * score), 0.01, 100.0)
    factor = float(group.level_factors[level_bin]) * (1.0 + 0.003 * score)
    group.level_factors[level_bin] = _within(factor, 0.05, 20.0)
    factor = float(group.stir_factors[stir_bin]) * (1.0 + 0.005 * score)
    group.stir_factors[stir_bin] = _within(factor, 0.05, 20.0)


def follow(group: Group, i: int, known: float, mean: float, variance: float, count: int, w: float) -> None:
    """Move a sensor's mean and variance; ``count`` is of its readings, this one included."""
    rate = max(0.005, 1.0 / (count + 1.0))
    apart = known - mean
    if count > 20:
        most = 5.0 * math.sqrt(variance)
        apart = min(max(apart, -most), most)
    group.seen[i] = min(count, 1000)
    group.mean[i] = mean + rate * apart
    group.variance[i] = max(variance + rate * (apart * apart - variance), 0.01 * w * w)
