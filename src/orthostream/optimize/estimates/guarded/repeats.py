"""Samples and mini-batches that come again and again, found in NumPy."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.estimates.guarded.decisions import is_repeat, signature_weight
from orthostream.optimize.estimates.guarded.layout import LAST_BATCH, LAST_SAMPLE
from orthostream.optimize.objectives.base import Batch


def without_repeats(
    numbers: list[list[float]], batch: Batch, weights: FloatArray | None, stack: tuple[int, ...]
) -> FloatArray | None:
    """Return the weights of the samples, 0 for those that only repeat the ones before."""
    signed = list(zip(numbers, _signatures(batch, stack), strict=True))
    repeats = np.array([[is_repeat(g, LAST_SAMPLE, one) for one in each] for g, each in signed])
    for i, (g, each) in enumerate(signed):
        total = sum(one * signature_weight(place) for place, one in enumerate(each))
        repeats[i] |= is_repeat(g, LAST_BATCH, total)
    if not repeats.any():
        return weights
    fresh = ~repeats.reshape(*stack, -1)
    return fresh * (1.0 if weights is None else weights)


def _signatures(batch: Batch, stack: tuple[int, ...]) -> list[list[float]]:
    """Return a number for each sample, the same up to rounding for samples that are the same, of each problem."""
    weights = np.array([signature_weight(j) for j in range(batch.shape[-1])])
    numbers = np.broadcast_to(np.asarray(batch @ weights), (*stack, batch.shape[-2]))
    each: list[list[float]] = numbers.reshape(-1, batch.shape[-2]).tolist()
    return each
