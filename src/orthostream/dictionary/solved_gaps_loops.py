"""The solution for missing readings as loops for a compiler: see `solved_gaps`."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.dictionary.missing_loops import RELAXATION, SHRINKAGE

#: The factor of the shrinkage from one iteration to the next, and the largest number of iterations.
DECAY, LONGEST = 0.8, 100
#: The last shrinkage, in units of the noise; coefficients whose energy is so many times larger count as nonzero.
NOISY, NONZERO = 3.0, 10.0
#: A row is solved once the squared length of an iteration's change of its code is below this share of the last
#: shrinkage.
ENOUGH = 1e-4


def solve_rows(rows: Any, gaps: Any, dictionary: Any, noise: float) -> Any:
    """Return the rows with better values in the gaps, and which rows have a code that is sparse enough."""
    features, atoms = dictionary.shape
    result = rows.copy()
    unique = np.ones(rows.shape[0], np.bool_)
    codes = np.dot(rows, dictionary)
    places, shrunk, change = np.empty(features, np.int64), np.empty(atoms), np.empty(atoms)
    least = NOISY * noise
    for i in range(rows.shape[0]):
        count = 0
        for j in range(features):
            if gaps[i, j]:
                places[count] = j
                count += 1
        if count == 0:
            continue
        code, row, shrinkage = codes[i], result[i], SHRINKAGE
        total = 0.0
        for _ in range(LONGEST):
            total = _shrink_by(code, shrunk, shrinkage)
            moved = _move(row, code, shrunk, change, places[:count], dictionary)
            if shrinkage <= least and moved <= ENOUGH * least * total:
                break
            shrinkage = max(DECAY * shrinkage, least)
        nonzero = 0
        for j in range(atoms):
            nonzero += code[j] * code[j] > NONZERO * least * total / atoms
        unique[i] = 2 * nonzero < features - count
    return result, unique


def _shrink_by(code: Any, shrunk: Any, share: float) -> float:
    """Shrink the coefficients that are small beside a share of their mean energy; return their total energy."""
    total = 0.0
    for j in range(code.size):
        total += code[j] * code[j]
    shrinkage = share * total / code.size
    for j in range(code.size):
        energy = code[j] * code[j]
        shrunk[j] = code[j] * (energy / (energy + shrinkage)) if energy > 0.0 else 0.0
    return total


def _move(row: Any, code: Any, shrunk: Any, change: Any, places: Any, dictionary: Any) -> float:
    """Move the values in the gaps towards those that are decoded; return the squared change of the code."""
    change[:] = 0.0
    for g in places:
        decoded = 0.0
        for j in range(code.size):
            decoded += dictionary[g, j] * shrunk[j]
        step = RELAXATION * (decoded - row[g])
        row[g] += step
        for j in range(code.size):
            change[j] += step * dictionary[g, j]
    moved = 0.0
    for j in range(code.size):
        code[j] += change[j]
        moved += change[j] * change[j]
    return moved
