"""A fixed score."""

from __future__ import annotations

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.thresholds.threshold import Threshold


class FixedThreshold(Threshold):
    """The same score at all times, as in the paper's Example 2.

    Scores fall while the history grows, so that a fixed score flags fewer and fewer documents.

    Parameters
    ----------
    score : float

    Examples
    --------
    >>> threshold = FixedThreshold(0.9)
    >>> threshold.value(threshold.begin())
    0.9
    """

    def __init__(self, score: float) -> None:
        self.score = _checks.between("score", score, -1e300, 1e300)

    def learn(self, memory: FloatArray, scores: FloatArray) -> FloatArray:
        return memory

    def value(self, memory: FloatArray) -> float:
        return self.score
