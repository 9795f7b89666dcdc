"""A fixed score."""

from __future__ import annotations

import math
from typing import Any

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
        if not _is_finite(score):
            raise ValueError(f"score must be a finite number, got {score!r}.")
        self.score = float(score)

    def learn(self, memory: FloatArray, scores: FloatArray) -> FloatArray:
        return memory

    def value(self, memory: FloatArray) -> float:
        return self.score


def _is_finite(score: Any) -> bool:
    return isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
