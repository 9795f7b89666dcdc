"""The level of recent scores, by which scores are corrected for the growth of the history."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from orthostream._typing import FloatArray

#: In documents.
_HALF_LIFE = 1000.0
#: Scores that are all equal have no spread to divide by.
_LEAST_SPREAD = 1e-6


class ScoreLevel(NamedTuple):
    """The running mean and spread of scores.

    The more a detector has seen, the less is new to it, and scores fall for thousands of documents. Corrected scores
    say by how many standard deviations a document lies above those of its time.

    Examples
    --------
    >>> level = ScoreLevel().learn(np.array([0.4, 0.6]))
    >>> level.corrected(np.array([0.5, 0.7])).round(3)
    array([0., 2.])
    """

    weight: float = 0.0
    mean: float = 0.0
    square: float = 0.0

    def learn(self, scores: FloatArray) -> Self:
        """Return the level after some more scores."""
        if not len(scores):
            return self
        keep = 0.5 ** (len(scores) / _HALF_LIFE)
        weight = keep * self.weight + len(scores)
        share = len(scores) / weight
        mean = self.mean + share * (float(scores.mean()) - self.mean)
        square = self.square + share * (float(np.square(scores).mean()) - self.square)
        return self._replace(weight=weight, mean=mean, square=square)

    def corrected(self, scores: FloatArray) -> FloatArray:
        """Return how far scores lie above the level, in standard deviations; 0 for all before anything was learnt."""
        if self.weight == 0.0:
            return np.zeros_like(scores)
        spread = max(self.square - self.mean**2, _LEAST_SPREAD**2) ** 0.5
        return np.asarray((scores - self.mean) / spread)
