"""The single-unit sparse-PCA objective of section V-D."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective, columns_times, mean_factors, rows_times


class SparsePCAObjective(Objective):
    r"""The mean of :math:`-(z^T y)^2 + \lambda H_\mu(z)` over the samples y.

    :math:`H_\mu` is Huber's smoothed l1 norm: :math:`|z_i| - \mu/2` for entries beyond :math:`\mu`, and
    :math:`z_i^2 / 2\mu` within. The defaults are the paper's.

    Examples
    --------
    >>> import numpy as np
    >>> objective = SparsePCAObjective(penalty=1.0, mu=0.2)
    >>> objective.value(np.array([1.0, 0.1]), np.array([[1.0, 0.0]])).round(6)
    np.float64(-0.075)
    """

    core_ndim: ClassVar[int | None] = 1

    def __init__(self, penalty: float = 1.0, mu: float = 0.2) -> None:
        self.penalty = float(penalty)
        if not 0.0 <= self.penalty < np.inf:
            raise ValueError(f"penalty must be finite and not negative, got {penalty!r}.")
        self.mu = positive("mu", mu)

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        size = np.abs(x)
        huber = np.where(size <= self.mu, x * x / (2.0 * self.mu), size - 0.5 * self.mu).sum(axis=-1)
        energy = (_scores(x, batch) ** 2 * mean_factors(batch, weights)).sum(axis=-1)
        return np.asarray(self.penalty * huber - energy)

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        scores = _scores(x, batch) * mean_factors(batch, weights)
        pull = columns_times(batch, scores[..., None])[..., 0]
        slope = np.clip(x / self.mu, -1.0, 1.0)
        return np.asarray(self.penalty * slope - 2.0 * pull)


def _scores(x: FloatArray, batch: Batch) -> FloatArray:
    return rows_times(batch, x[..., None])[..., 0]
