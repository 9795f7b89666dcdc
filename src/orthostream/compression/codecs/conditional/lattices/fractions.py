"""Fractions of small denominators: means of a few whole numbers, such as the speeds of some cars."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.levels import MOST_LEVELS, Levels

#: Largest denominator, and multiples of all denominators together, equal ones counted again.
LARGEST_DENOMINATOR = 64
MOST_MULTIPLES = 1 << 18
_ENOUGH = 0.98
_FEWEST = 32


def fractions_between(low: int, high: int, largest: int) -> FloatArray:
    """Return all fractions from ``low`` to ``high`` with denominators up to ``largest``, in order.

    >>> fractions_between(0, 1, 4)
    array([0.        , 0.25      , 0.33333333, 0.5       , 0.66666667, 0.75      , 1.        ])
    """
    return np.unique(np.concatenate([np.arange(low * k, high * k + 1) / k for k in range(1, largest + 1)]))


def n_multiples(low: int, high: int, largest: int) -> int:
    """Return how many numbers `fractions_between` puts in order."""
    return (high - low) * largest * (largest + 1) // 2 + largest


def denominators_of(values: FloatArray) -> IntArray:
    """Return the smallest denominators of numbers as fractions, one more than the largest one for those without.

    >>> import numpy as np
    >>> denominators_of(np.array([0.5, 1 / 3, 2.0, 0.123]))
    array([ 2,  3,  1, 65])
    """
    found = np.full(len(values), LARGEST_DENOMINATOR + 1, dtype=np.int64)
    for k in range(LARGEST_DENOMINATOR, 0, -1):
        found[np.rint(values * k) / k == values] = k
    return found


def fraction_levels(distinct: Distinct) -> Levels | None:
    """Return all fractions in the range of readings, if nearly all of these are fractions of small denominators."""
    values = distinct.values
    if len(values) < _FEWEST or not np.abs(values).max() < 2.0**20:
        return None
    denominators = denominators_of(values)
    order = np.argsort(denominators, kind="stable")
    covered = np.cumsum(distinct.counts[order])
    largest = int(denominators[order][np.searchsorted(covered, _ENOUGH * distinct.total)])
    low, high = math.floor(values[0]), math.ceil(values[-1])
    if not 2 < largest <= LARGEST_DENOMINATOR or n_multiples(low, high, largest) > MOST_MULTIPLES:
        return None
    levels = fractions_between(low, high, largest)
    return Levels(levels) if len(levels) <= MOST_LEVELS else None
