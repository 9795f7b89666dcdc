"""The `Floats` that suit a sensor: how many bits its readings have, and how many of them can be predicted."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.distinct import Distinct
from orthostream.compression.codecs.conditional.lattices.floats import (
    HIGHEST_EXPONENT,
    LOWEST_EXPONENT,
    MOST_PRECISION,
    Floats,
)

#: Leading bits of a typical error that are modelled; readings near 0 may want more.
_MODELLED = (4, 7, 10)
#: Bits that a reading of the largest size has as an integer: first integers of a sensor must be below 2**38.
_LONGEST = 36


def precision_of(distinct: Distinct) -> int:
    """Return the significant bits that nearly all values do with.

    >>> import numpy as np
    >>> precision_of(Distinct.of(np.float64(np.float32(np.linspace(0.1, 0.7, 50)))))
    24
    """
    digits = np.abs(np.ldexp(np.frexp(distinct.values)[0], 53)).astype(np.int64)
    lowest = np.frexp((digits & -digits).astype(np.float64))[1] - 1
    needed = np.where(digits == 0, 1, MOST_PRECISION - np.maximum(lowest, 0))
    strays = distinct.total - np.cumsum(np.bincount(needed, weights=distinct.counts, minlength=MOST_PRECISION + 1))
    costs = np.arange(MOST_PRECISION + 1) + 64.0 * strays / max(distinct.total, 1)
    return int(np.argmin(costs[1:])) + 1


def floats_for(column: FloatArray, distinct: Distinct) -> list[Floats]:
    """Return `Floats` with units of some sizes below the typical error of a prediction; the readings are in order."""
    values = column[np.isfinite(column) & (np.abs(column) < 1e300)]
    if not len(values) or not values.any():
        return []
    precision = precision_of(distinct)
    largest = math.frexp(float(np.abs(values).max()))[1]
    error = min((_typical(np.diff(values, n)) for n in (1, 2) if len(values) > n + 1), default=0.0)
    found = []
    for bits in _MODELLED:
        exponent = math.frexp(error)[1] - bits if error > 0.0 else largest - 20
        exponent = max(exponent, largest - _LONGEST, LOWEST_EXPONENT)
        found.append(Floats(min(exponent, HIGHEST_EXPONENT), precision))
    return list(dict.fromkeys(found))


def _typical(steps: FloatArray) -> float:
    sizes = np.abs(steps)
    sizes = sizes[sizes > 0.0]
    return float(np.median(sizes)) if len(sizes) else 0.0
