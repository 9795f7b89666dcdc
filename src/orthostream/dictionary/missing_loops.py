"""The completion of missing readings as loops for a compiler: see `missing`."""

from __future__ import annotations

from typing import Any

import numpy as np

ITERATIONS = 10
SHRINKAGE = 0.3
RELAXATION = 1.5

_TINY = 2.2250738585072014e-308


def complete_rows(batch: Any, dictionary: Any) -> Any:
    """Return the rows with NaN replaced; see `missing.complete`."""
    result = batch.copy()
    gaps = np.empty(batch.shape[1], np.int64)
    for i in range(batch.shape[0]):
        count = 0
        for j in range(batch.shape[1]):
            if np.isnan(batch[i, j]):
                gaps[count] = j
                count += 1
        if count > 0:
            _complete_row(result[i], gaps[:count], dictionary)
    return result


def _complete_row(row: Any, gaps: Any, dictionary: Any) -> None:
    """Fill the gaps of a row in place.

    An iteration changes only the gaps. So the codes are updated rather than computed again, and only the gaps are
    decoded.
    """
    features, atoms = dictionary.shape
    for g in gaps:
        row[g] = 0.0
    unit = max(np.max(np.abs(row)), _TINY)
    filled = row / unit
    mean = np.sum(filled) / max(features - gaps.size, 1)
    for g in gaps:
        filled[g] = mean
    codes = np.dot(filled, dictionary)
    shrunk = np.empty(atoms)
    changes = np.empty(gaps.size)
    for _ in range(ITERATIONS):
        shrinkage = SHRINKAGE * np.dot(codes, codes) / atoms + _TINY
        for j in range(atoms):
            energy = codes[j] * codes[j]
            shrunk[j] = codes[j] * energy / (energy + shrinkage)
        for k in range(gaps.size):
            atom_values = dictionary[gaps[k]]
            decoded = 0.0
            for j in range(atoms):
                decoded += shrunk[j] * atom_values[j]
            changes[k] = RELAXATION * (decoded - filled[gaps[k]])
        for k in range(gaps.size):
            change = changes[k]
            filled[gaps[k]] += change
            atom_values = dictionary[gaps[k]]
            for j in range(atoms):
                codes[j] += change * atom_values[j]
    for g in gaps:
        row[g] = filled[g] * unit
