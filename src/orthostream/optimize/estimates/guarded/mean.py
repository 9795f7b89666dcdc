"""The running mean of the samples of a guarded hand-over in NumPy, and whether it is an offset."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.guarded import arrays
from orthostream.optimize.estimates.guarded import decisions as decide
from orthostream.optimize.estimates.guarded.layout import LENGTH
from orthostream.optimize.objectives.base import Batch


def offset_of(memory: ArrayBlock, numbers: list[list[float]], batch: Batch) -> FloatArray | None:
    """Return the mean of the samples where it is an offset and zero elsewhere; None if it is zero everywhere."""
    mean = memory["mean"]
    squares = np.reshape(np.vecdot(mean, mean), -1).tolist()
    which = [decide.has_offset(g, square) for g, square in zip(numbers, squares, strict=True)]
    if not any(which) or not isinstance(batch, np.ndarray):
        return None
    return np.where(np.reshape(which, mean.shape[:-1])[..., None], mean, 0.0)


def learn_mean(
    memory: ArrayBlock, numbers: list[list[float]], uncentred: Batch, shares: FloatArray, samples: list[float]
) -> None:
    """Add a mini-batch to the running means of the samples and of their squared length, in place."""
    mean = memory["mean"]
    fresh, lengths = arrays.mean_sample(uncentred, shares)
    weights = [
        decide.mean_weight(g, each, memory["moments"].shape[-1]) if each > 0.0 else 0.0
        for g, each in zip(numbers, samples, strict=True)
    ]
    mean += np.reshape(weights, mean.shape[:-1])[..., None] * (fresh - mean)
    for g, weight, length in zip(numbers, weights, np.reshape(lengths, -1).tolist(), strict=True):
        g[LENGTH] += weight * (length - g[LENGTH])
