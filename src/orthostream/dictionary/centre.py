"""The contract of a mean that a learner subtracts from samples, and a mean that is known before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from orthostream._typing import FloatArray


class Centre(ABC):
    """A mean, which is never changed in place: a step that fails leaves the learner with the mean it had."""

    mean: FloatArray

    @abstractmethod
    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Return the centre after these rows, with NaN where a reading is missing."""

    @abstractmethod
    def to_arrays(self) -> dict[str, FloatArray]:
        """Return what a saved file must hold, beside the parameter ``center``."""

    def subtracted(self, rows: FloatArray) -> FloatArray:
        """Return the rows minus the mean."""
        with np.errstate(over="ignore"):  # the learner refuses infinity in words of its own
            return rows - self.mean


class FixedCentre(Centre):
    """A mean that is known before.

    >>> FixedCentre(np.array([1.0, 2.0])).subtracted(np.array([[1.0, np.nan]]))
    array([[ 0., nan]])
    """

    def __init__(self, mean: FloatArray) -> None:
        self.mean = mean

    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        return self

    def to_arrays(self) -> dict[str, FloatArray]:
        return {}
