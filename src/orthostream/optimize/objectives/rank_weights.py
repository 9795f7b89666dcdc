"""The weights of ranks, and of coefficients by their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray


def rank_weights(count: int, power: float, head: float) -> Any:
    """Return the weight of each rank among ``count`` coefficients, the largest first. Numba compiles this too.

    >>> rank_weights(4, 1.0, 0.0)
    array([1.  , 0.75, 0.5 , 0.25])
    """
    rank = 1.0 * np.arange(count)
    return (1.0 - rank / count) ** power + head / (1.0 + rank)


def weights_by_rank(size: FloatArray, table: FloatArray) -> FloatArray:
    """Return for each of some sizes (..., K) the number that the table has for its rank; of equal ones the first leads.

    >>> weights_by_rank(np.array([1.0, 2.0, 2.0]), np.array([7.0, 8.0, 9.0]))
    array([9., 7., 8.])
    """
    count = size.shape[-1]
    # The bits of positive floats sort like the floats. With each coefficient's index, counted from the right, in
    # the last bits, a sort finds the order in a third of the time of argsort. Only rounding is lost.
    place_bits = (1 << (count - 1).bit_length()) - 1
    keys = np.array(size, dtype=np.float64).view(np.int64)
    keys &= ~place_bits
    keys |= np.arange(count)[::-1]
    keys.sort(axis=-1)
    keys &= place_bits
    weights = np.empty(size.shape, dtype=table.dtype)
    np.put_along_axis(weights[..., ::-1], keys, np.broadcast_to(table[::-1], size.shape), axis=-1)
    return weights
