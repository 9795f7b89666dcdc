"""A mean with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import stats

from orthostream._typing import BoolArray, FloatArray

_LEVEL = 0.95
_RESAMPLES, _RESAMPLES_SEED = 500, 0


class Estimate(NamedTuple):
    """A mean and its 95 % interval.

    Attributes
    ----------
    mean, low, high : float
        The limits are NaN if there is a single value, which says nothing about others.
    values : tuple of float
        Those of the seeds, or of the draws that gave the interval.

    Examples
    --------
    >>> found = Estimate.over_seeds([0.7, 0.8, 0.9])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.8, 0.552, 1.048)
    """

    mean: float
    low: float
    high: float
    values: tuple[float, ...]

    def __str__(self) -> str:
        """Return the mean, and half the length of the interval if there is one."""
        half = 0.5 * (self.high - self.low)
        return f"{self.mean:.3f}" + (f" ±{half:.3f}".replace("±0.", "±.") if half > 0.0 else "")

    @classmethod
    def over_seeds(cls, values: Sequence[float]) -> Self:
        """Return the mean with the interval of Student's t distribution."""
        mean, count = float(np.mean(values)), len(values)
        if count == 1:
            return cls(mean, math.nan, math.nan, (mean,))
        half = float(stats.t.ppf(0.5 + 0.5 * _LEVEL, count - 1) * np.std(values, ddof=1)) / math.sqrt(count)
        return cls(mean, mean - half, mean + half, tuple(map(float, values)))

    @classmethod
    def exact(cls, value: float) -> Self:
        """Return a value that does not depend on chance."""
        return cls(float(value), float(value), float(value), (float(value),))

    @classmethod
    def resampled(cls, mean: float, values: FloatArray) -> Self:
        """Return a mean with the percentiles of its bootstrap values, of which some may be NaN."""
        tail = 0.5 * (1.0 - _LEVEL)
        low, high = np.nanquantile(values, [tail, 1.0 - tail])
        return cls(float(mean), float(low), float(high), tuple(values.tolist()))


def resampled_areas(novel: BoolArray, scores: FloatArray, topics: Any) -> FloatArray:
    """Return the area under the ROC curve of 500 collections whose topics are drawn with replacement from these.

    All documents of a topic are drawn together, as they are alike. The draws are the same for all scores of the same
    documents, so that differences of two detectors can be taken draw by draw. A draw without novel documents, or with
    no others, gives NaN.

    >>> novel, topics = np.array([True, False, True, False]), ["a", "a", "b", "b"]
    >>> np.unique(resampled_areas(novel, np.array([0.9, 0.1, 0.8, 0.2]), topics)).tolist()
    [1.0]
    """
    names, topic = np.unique(topics, return_inverse=True)
    _, place = np.unique(scores, return_inverse=True)
    generator = np.random.default_rng(_RESAMPLES_SEED)
    share = np.full(len(names), 1.0 / len(names))
    draws = generator.multinomial(len(names), share, size=_RESAMPLES)
    return np.array([_weighted_area(novel, place, draw[topic]) for draw in draws])


def _weighted_area(novel: BoolArray, place: Any, weights: FloatArray) -> float:
    """Return the probability that a novel document scores above another one; ties count half."""
    hits, others = (np.bincount(place, weights * kind) for kind in (novel, ~novel))
    pairs = hits.sum() * others.sum()
    return float(hits @ (np.cumsum(others) - 0.5 * others) / pairs) if pairs > 0.0 else math.nan
