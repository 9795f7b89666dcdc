"""The contract of a threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from orthostream._typing import FloatArray


class Threshold(ABC):
    """Maps the scores of a stream so far to the score above which the next documents are flagged.

    A threshold is a value without a state: what it remembers is a vector that its caller keeps.
    """

    def __repr__(self) -> str:
        """Return the call that makes an equal threshold."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def begin(self) -> FloatArray:
        """Return the memory before the first score."""
        return np.zeros(0)

    @abstractmethod
    def learn(self, memory: FloatArray, scores: FloatArray) -> FloatArray:
        """Return the memory after more scores."""

    @abstractmethod
    def value(self, memory: FloatArray) -> float:
        """Return the threshold; infinity if too few scores were seen for one."""


def last(memory: FloatArray, scores: FloatArray, window: int) -> FloatArray:
    """Return the last ``window`` scores.

    >>> last(np.array([1.0, 2.0]), np.array([3.0]), 2)
    array([2., 3.])
    """
    return np.concatenate([memory, scores])[-window:]
