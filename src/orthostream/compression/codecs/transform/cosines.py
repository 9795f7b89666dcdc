"""The orthonormal cosines of the DCT-II, made of sums and products only."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from orthostream._typing import FloatArray

_TERMS = 14


@lru_cache(maxsize=128)
def cosines(size: int) -> FloatArray:
    """Return the matrix of the DCT-II, slowest cosine first, with the same bits on every machine.

    Angles are multiples of pi / (2 size), so that an integer says which; those of the first quadrant are summed as
    a series of Taylor, the others are theirs by symmetry.

    Parameters
    ----------
    size : int
        At least 1.

    Examples
    --------
    >>> cosines(2).round(4)
    array([[ 0.7071,  0.7071],
           [ 0.7071, -0.7071]])
    >>> bool(np.abs(cosines(24) @ cosines(24).T - np.eye(24)).max() < 1e-14)
    True
    """
    places, frequencies = np.arange(size), np.arange(size)[:, None]
    turn = (2 * places + 1) * frequencies % (4 * size)
    turn = np.minimum(turn, 4 * size - turn)
    sign = np.where(turn > size, -1.0, 1.0)
    angle = np.minimum(turn, 2 * size - turn) * (3.141592653589793 / (2 * size))
    square = angle * angle
    series = np.ones_like(square)
    for term in range(_TERMS, 0, -1):
        series = 1.0 - series * square / ((2 * term - 1) * (2 * term))
    matrix: FloatArray = sign * series * np.sqrt(2.0 / size)
    matrix[0] = np.sqrt(1.0 / size)
    matrix.flags.writeable = False
    return matrix
