"""A threshold that documents which are not novel exceed at a given rate."""

from __future__ import annotations

import math

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.thresholds.threshold import Threshold, last

#: The shares of scores above the quantiles that the tail is fitted to. Those above all of them may well be novel.
_SHARES = np.geomspace(0.3, 0.05, 16)
#: Shape parameters that are tried, and the weight of those near the usual one where quantiles decide nothing.
_SHAPES = np.linspace(-1.0, 0.4, 29)
_USUAL_SHAPE, _PULL = -0.2, 1e-3
#: In a steady stream at most so many times the rate, and at least that part of it, is flagged, however badly the tail
#: is fitted. Scores also have an upper limit, which an extrapolation does not know.
_MOST_FLAGGED = 3.0
_LEAST_SCORES = 100


class FalseAlarmRate(Threshold):
    """Extrapolates the upper tail of the scores of ordinary documents to a rate of false alarms.

    The tail above a high score is close to a generalised Pareto distribution (Pickands, 1975). It is fitted by least
    squares to the quantiles from 0.7 to 0.95 of the recent scores. The highest scores are not used, so that novel
    documents, if they are fewer than one in twenty, hardly raise the threshold. On simulated scores the share of
    flagged documents was up to 1.6 times a rate of 0.01, and up to 3 times a rate of 0.002: far extrapolation is
    uncertain. Some streams have no such tail, for instance logs that repeat a few sentences, or short documents most of
    which score 1; therefore the threshold stays between the quantiles that flag three times the rate and a third of
    it.

    Parameters
    ----------
    rate : float, default 0.01
        The share of ordinary documents that are flagged, from 0.0001 to 0.1.
    window : int, default 2000
        How many scores are used, the last ones.

    Examples
    --------
    >>> threshold = FalseAlarmRate(0.01)
    >>> memory = threshold.learn(threshold.begin(), np.random.default_rng(0).uniform(size=2000))
    >>> round(threshold.value(memory), 2)
    0.99
    """

    def __init__(self, rate: float = 0.01, window: int = 2000) -> None:
        self.rate = _checks.between("rate", rate, 1e-4, 0.1)
        self.window = _checks.integer("window", window, _LEAST_SCORES)

    def learn(self, memory: FloatArray, scores: FloatArray) -> FloatArray:
        return last(memory, scores, self.window)

    def value(self, memory: FloatArray) -> float:
        if len(memory) < _LEAST_SCORES:
            return math.inf
        quantiles = np.quantile(memory, 1.0 - _SHARES)
        spread = quantiles - quantiles.mean()
        if not spread.any():
            # Nothing to extrapolate from.
            return float(memory.max())
        growth = _growth(_SHARES[0] / _SHARES, _SHAPES)
        centred = growth - growth.mean(axis=1, keepdims=True)
        scales = centred @ spread / np.square(centred).sum(axis=1)
        misfits = np.square(spread - scales[:, None] * centred).sum(axis=1) / np.square(spread).sum()
        best = int(np.argmin(misfits + _PULL * np.square(_SHAPES - _USUAL_SHAPE)))
        far = _growth(np.array([_SHARES[0] / self.rate]), _SHAPES[best : best + 1])[0, 0]
        fitted = float(quantiles.mean() + scales[best] * (far - growth[best].mean()))
        low, high = np.quantile(memory, [1.0 - _MOST_FLAGGED * self.rate, 1.0 - self.rate / _MOST_FLAGGED])
        return float(np.clip(fitted, low, high))


def _growth(ratios: FloatArray, shapes: FloatArray) -> FloatArray:
    """Return the excess of generalised Pareto distributions of scale 1 that one in ``ratio`` exceeds.

    >>> _growth(np.array([2.0]), np.array([-1.0, 0.0])).round(3)
    array([[0.5  ],
           [0.693]])
    """
    safe = np.where(np.abs(shapes) < 1e-9, 1e-9, shapes)[:, None]
    return np.asarray(np.expm1(safe * np.log(ratios)) / safe)
