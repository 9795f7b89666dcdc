"""The completion of missing readings as loops for a compiler: see `missing`."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.dictionary.missing import ITERATIONS, RELAXATION, SHRINKAGE

_TINY = 2.2250738585072014e-308


def complete_rows(batch: Any, dictionary: Any) -> Any:
    """Return the rows with NaN replaced; see `missing.complete`."""
    count, features = batch.shape
    result = batch.copy()
    places = np.empty(count, np.int64)
    incomplete = 0
    for i in range(count):
        for j in range(features):
            if np.isnan(batch[i, j]):
                places[incomplete] = i
                incomplete += 1
                break
    units = np.ones(incomplete)
    filled = np.empty((incomplete, features))
    for k in range(incomplete):
        row = batch[places[k]]
        total = largest = 0.0
        known = 0
        for j in range(features):
            if not np.isnan(row[j]):
                known += 1
                largest = max(largest, abs(row[j]))
        if largest > 0.0:
            units[k] = largest
        for j in range(features):
            if not np.isnan(row[j]):
                filled[k, j] = row[j] / units[k]
                total += filled[k, j]
        for j in range(features):
            if np.isnan(row[j]):
                filled[k, j] = total / max(known, 1)
    for _ in range(ITERATIONS):
        codes = np.dot(filled, dictionary)
        for k in range(incomplete):
            shrinkage = SHRINKAGE * np.dot(codes[k], codes[k]) / codes.shape[1] + _TINY
            for j in range(codes.shape[1]):
                energy = codes[k, j] * codes[k, j]
                codes[k, j] *= energy / (energy + shrinkage)
        decoded = np.dot(codes, dictionary.T)
        for k in range(incomplete):
            row = batch[places[k]]
            for j in range(features):
                if np.isnan(row[j]):
                    filled[k, j] += RELAXATION * (decoded[k, j] - filled[k, j])
    for k in range(incomplete):
        i = places[k]
        for j in range(features):
            if np.isnan(batch[i, j]):
                result[i, j] = filled[k, j] * units[k]
    return result
