"""The array operations of mixed memories in NumPy, for one problem; `loops` has them as loops for a compiler."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.estimates.mixed_memories.constants import LEADING, MEMORIES, OTHERS, ROUNDING
from orthostream.optimize.objectives.rank_weights import weights_by_rank


def own_weights(z: FloatArray, table: FloatArray) -> FloatArray:
    """Return the weight of each coefficient by its rank in its sample, with rounding errors ranked by their place.

    >>> own_weights(np.array([[1.0, -2.0, 0.0, 1e-15]]), np.array([4.0, 3.0, 2.0, 1.0]))
    array([[3., 4., 2., 1.]])
    """
    size = np.abs(z)
    size *= size >= ROUNDING * size.max(axis=-1, keepdims=True)
    return weights_by_rank(size, table)


def agreement(products: FloatArray, totals: FloatArray, scale: FloatArray, leads: FloatArray) -> FloatArray:
    """Return how the memories' predictions of correlations overlap, and in the last column how they match what came.

    ``products`` are the memories' sums of z z' and at last the mean that came, which is in units of ``scale`` already;
    they are overwritten. Squares on the diagonal are left out. An atom counts for the first group as far as it leads.
    """
    products[:MEMORIES] *= (scale[:, None] * scale) / totals[:, None, None]
    places = np.arange(len(scale))
    products[:, places, places] = 0.0
    flat = products.reshape(MEMORIES + 1, -1)
    found = np.empty((2, MEMORIES, MEMORIES + 1))
    np.dot((products[:MEMORIES] * leads).reshape(MEMORIES, -1), flat.T, out=found[LEADING])
    np.subtract(flat[:MEMORIES] @ flat.T, found[LEADING], out=found[OTHERS])
    return found


def deviating(z: FloatArray, own: FloatArray, mean: FloatArray, leads: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the coefficients times what their weights are above the mean, times the share of their sample."""
    result: FloatArray = shares[LEADING][:, None] * leads
    result += shares[OTHERS][:, None] * (1.0 - leads)
    result *= own - mean
    result *= z
    return result
