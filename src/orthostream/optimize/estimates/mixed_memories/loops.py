"""The array operations of mixed memories as loops for a compiler, under the names that `arrays` has for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.optimize.estimates.mixed_memories.constants import LEADING, MEMORIES, OTHERS, ROUNDING


def own_weights(z: Any, table: Any) -> Any:
    """Return the weight of each coefficient by its rank. To count larger ones is faster than to sort."""
    count, atoms = z.shape
    own = np.empty_like(z)
    size, taken = np.empty(atoms), np.empty(atoms, np.int64)
    for i in range(count):
        most = 0.0
        for j in range(atoms):
            size[j] = abs(z[i, j])
            most = max(most, size[j])
        for j in range(atoms):
            if size[j] < ROUNDING * most:
                size[j] = 0.0
        taken[:] = 0
        for j in range(atoms):
            mine, larger = size[j], 0
            for k in range(atoms):
                larger += size[k] > mine
            own[i, j] = table[larger + taken[larger]]
            taken[larger] += 1  # the next one of equal size ranks lower
    return own


def agreement(products: Any, totals: Any, scale: Any, leads: Any) -> Any:
    """Return overlaps and matches of the memories' predictions; ``products`` are overwritten."""
    atoms = scale.size
    led = np.empty((MEMORIES, atoms, atoms))
    for m in range(MEMORIES):
        for i in range(atoms):
            factor = scale[i] / totals[m]
            for j in range(atoms):
                products[m, i, j] *= factor * scale[j]
            products[m, i, i] = 0.0
            for j in range(atoms):
                led[m, i, j] = products[m, i, j] * leads[j]
    for i in range(atoms):
        products[MEMORIES, i, i] = 0.0
    flat = products.reshape((MEMORIES + 1, atoms * atoms))
    found = np.empty((2, MEMORIES, MEMORIES + 1))
    found[LEADING] = np.dot(led.reshape((MEMORIES, atoms * atoms)), flat.T)
    found[OTHERS] = np.dot(flat[:MEMORIES], flat.T) - found[LEADING]
    return found


def deviating(z: Any, own: Any, mean: Any, leads: Any, shares: Any) -> Any:
    """Return the coefficients times what their weights are above the mean, times the share of their sample."""
    result = np.empty_like(z)
    for i in range(z.shape[0]):
        base, more = shares[OTHERS, i], shares[LEADING, i] - shares[OTHERS, i]
        for j in range(z.shape[1]):
            result[i, j] = (base + more * leads[j]) * (own[i, j] - mean[j]) * z[i, j]
    return result
