"""The completion of missing readings as loops for a compiler: see `missing`."""

from __future__ import annotations

from typing import Any

import numpy as np

ITERATIONS = 10
SHRINKAGE = 0.3
RELAXATION = 1.5
#: A row is complete once an iteration changes its code by less than this share of its length.
SETTLED = 2e-2
#: The smallest sum of squares of the readings, and the inverse of the largest, that loops without scaling can handle.
LEAST = 1e-200

_TINY = 2.2250738585072014e-308


def complete_rows(batch: Any, dictionary: Any) -> Any:
    """Return the rows with NaN replaced, see `missing.complete`, and whether their squares are in a safe range."""
    features, atoms = dictionary.shape
    result = batch.copy()
    places, ends = np.empty(batch.size, np.int64), np.empty(batch.shape[0], np.int64)
    means = np.empty(batch.shape[0])
    end, squares = 0, 0.0
    for i in range(batch.shape[0]):
        start = end
        total = 0.0
        for j in range(features):
            if np.isnan(batch[i, j]):
                places[end] = j
                end += 1
                result[i, j] = 0.0
            else:
                total += batch[i, j]
                squares += batch[i, j] * batch[i, j]
        ends[i] = end
        means[i] = total / max(features - end + start, 1)
    if not LEAST < squares < 1.0 / LEAST:
        return result, False
    known = np.dot(result, dictionary)
    start = 0
    for i in range(batch.shape[0]):
        for k in range(start, ends[i]):
            result[i, places[k]] = means[i]
        start = ends[i]
    codes = np.dot(result, dictionary)
    if atoms * batch.shape[0] > 2 * end:
        _fill_gaps(result, codes, places, ends, dictionary)
    else:
        _fill_few_atoms(result, codes, codes - known, places, ends, means, dictionary)
    return result, True


def _equal(a: Any, b: Any) -> bool:
    different = abs(a.size - b.size)
    for i in range(min(a.size, b.size)):
        different += abs(a[i] - b[i])
    return different == 0  # type: ignore[no-any-return]


def _shrink(codes: Any, shrunk: Any) -> float:
    """Shrink the small coefficients; return the sum of all squared coefficients before."""
    total = 0.0
    for j in range(codes.size):
        total += codes[j] * codes[j]
    shrinkage = SHRINKAGE * total / codes.size + _TINY
    for j in range(codes.size):
        energy = codes[j] * codes[j]
        shrunk[j] = codes[j] * energy / (energy + shrinkage)
    return total


def _settles(codes: Any, change: Any, total: float) -> bool:
    """Add the change to the codes; return whether they have settled."""
    moved = 0.0
    for j in range(codes.size):
        codes[j] += change[j]
        moved += change[j] * change[j]
    return moved <= SETTLED * SETTLED * total


def _fill_gaps(rows: Any, codes: Any, places: Any, ends: Any, dictionary: Any) -> None:
    """Improve the values in the gaps; ``codes`` are those of the rows, and are overwritten.

    An iteration changes only the gaps. So the codes are updated rather than computed again, and only the gaps are
    decoded.
    """
    shrunk, change = np.empty(codes.shape[1]), np.empty(codes.shape[1])
    start = 0
    for i in range(codes.shape[0]):
        gaps, code, row = places[start : ends[i]], codes[i], rows[i]
        start = ends[i]
        for _ in range(ITERATIONS if gaps.size else 0):
            total = _shrink(code, shrunk)
            change[:] = 0.0
            for g in gaps:
                decoded = 0.0
                for j in range(code.size):
                    decoded += dictionary[g, j] * shrunk[j]
                step = RELAXATION * (decoded - row[g])
                row[g] += step
                for j in range(code.size):
                    change[j] += step * dictionary[g, j]
            if _settles(code, change, total):
                break


def _gap_products(gaps: Any, dictionary: Any, products: Any) -> None:
    """Compute the products of all pairs of atoms over the gaps."""
    values = np.empty((gaps.size, dictionary.shape[1]))
    for k in range(gaps.size):
        for j in range(dictionary.shape[1]):
            values[k, j] = dictionary[gaps[k], j]
    np.dot(values.T, values, products)


def _fill_few_atoms(rows: Any, codes: Any, filled: Any, places: Any, ends: Any, means: Any, dictionary: Any) -> None:
    """Do the same for few atoms, where the products of atoms over the gaps save decoding until the end.

    ``filled`` are the codes of the gaps alone. The values in the gaps are ``kept`` times the mean of the row, plus a
    weighted sum of all shrunk codes, decoded.
    """
    atoms = codes.shape[1]
    products, sums = np.empty((atoms, atoms)), np.zeros_like(codes)
    shrunk, change = np.empty(atoms), np.empty(atoms)
    kept = np.ones(codes.shape[0])
    start, last = 0, places[:0]
    for i in range(codes.shape[0]):
        gaps = places[start : ends[i]]
        start = ends[i]
        if gaps.size and not _equal(gaps, last):  # rows often have the gaps of the row before
            _gap_products(gaps, dictionary, products)
            last = gaps
        code, gap_code, weighted = codes[i], filled[i], sums[i]
        for _ in range(ITERATIONS if gaps.size else 0):
            total = _shrink(code, shrunk)
            kept[i] *= 1.0 - RELAXATION
            for j in range(atoms):
                weighted[j] += RELAXATION * (shrunk[j] - weighted[j])
                change[j] = -RELAXATION * gap_code[j]
            for k in range(atoms):
                factor = RELAXATION * shrunk[k]
                for j in range(atoms):
                    change[j] += factor * products[k, j]
            for j in range(atoms):
                gap_code[j] += change[j]
            if _settles(code, change, total):
                break
    decoded = np.dot(sums, dictionary.T)
    start = 0
    for i in range(codes.shape[0]):
        for k in range(start, ends[i]):
            rows[i, places[k]] = kept[i] * means[i] + decoded[i, places[k]]
        start = ends[i]
