"""Scaling of the data, so that no power of it that a step computes overflows or underflows."""

from __future__ import annotations

from functools import cache

import numpy as np


@cache
def largest_square(degree: float) -> float:
    """Return the largest sum of squares, and the inverse of the smallest, that is safe for powers of this degree.

    >>> largest_square(3.0) > 1e100
    True
    """
    return float(10.0 ** (370.0 / degree))


def unit_for(largest: float, scale: float, degree: float, learnt: bool) -> float:
    """Return the factor to multiply samples by: ``scale`` if the largest value is safe with it, or else a new one.

    It is a power of two, so that scaling is exact. Before learning starts, neither overflow nor underflow is allowed.
    After that values may underflow, because they are negligible beside what was learnt.

    >>> unit_for(1000.0, 1.0, 3.0, learnt=False), unit_for(2.0**300, 1.0, 3.0, learnt=False) == 2.0**-300
    (1.0, True)
    """
    size, most = largest * scale, largest_square(degree) ** 0.5
    if largest > 0.0 and not 1.0 / most < size < most and (size >= 1.0 or not learnt):
        return float(2.0 ** np.clip(-np.floor(np.log2(largest)), -1000.0, 1000.0))
    return scale
