"""The contract of a contrast, an objective that depends on samples only through their coefficients."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective, columns_times, mean_factors, rows_times


class Contrast(Objective):
    """The mean over samples y of the sum over coefficients z = D'y of a loss that is small for sparse codes.

    Examples
    --------
    >>> import numpy as np
    >>> class Smooth(Contrast):
    ...     def loss(self, z):
    ...         return np.log(np.cosh(z))
    ...
    ...     def score(self, z):
    ...         return np.tanh(z)
    >>> Smooth().gradient(np.eye(2), np.array([[1.0, 0.0]])).round(2)
    array([[0.76, 0.  ],
           [0.  , 0.  ]])
    """

    core_ndim: ClassVar[int | None] = 2

    @abstractmethod
    def loss(self, z: FloatArray) -> FloatArray:
        """Return the loss of each coefficient."""

    @abstractmethod
    def score(self, z: FloatArray) -> FloatArray:
        """Return the derivative of the loss at each coefficient, in a new array."""

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        losses = self.loss(rows_times(batch, x)).sum(axis=-1)
        return np.asarray((losses * mean_factors(batch, weights)).sum(axis=-1))

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        factors = mean_factors(batch, weights)
        score = self.score(rows_times(batch, x))
        score *= factors if isinstance(factors, float) else factors[..., None]
        return columns_times(batch, score)
