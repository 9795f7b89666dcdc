"""A quantile of the recent scores."""

from __future__ import annotations

import math

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.thresholds.threshold import Threshold, last


class RecentQuantile(Threshold):
    """Flags the most novel documents, whatever their scores: a constant share of the stream.

    Parameters
    ----------
    quantile : float, default 0.99
        0.99 flags one document in a hundred.
    window : int, default 2000
        How many scores are compared, the last ones.

    Examples
    --------
    >>> threshold = RecentQuantile(0.9)
    >>> memory = threshold.learn(threshold.begin(), np.linspace(0.0, 1.0, 101))
    >>> round(threshold.value(memory), 6)
    0.9
    """

    def __init__(self, quantile: float = 0.99, window: int = 2000) -> None:
        self.quantile = _checks.fraction("quantile", quantile)
        self.window = _checks.integer("window", window, 10)

    def learn(self, memory: FloatArray, scores: FloatArray) -> FloatArray:
        return last(memory, scores, self.window)

    def value(self, memory: FloatArray) -> float:
        # One score above the quantile is the least that makes sense.
        enough = len(memory) * (1.0 - self.quantile) >= 1.0 or len(memory) == self.window
        return float(np.quantile(memory, self.quantile)) if enough else math.inf
