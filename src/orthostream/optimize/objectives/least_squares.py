"""Least squares, the textbook example."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective, columns_times, mean_factors, rows_times


class LeastSquares(Objective):
    r"""The mean of :math:`(a^T x - b)^2 / 2` over the samples (a, b); a batch is the pair (rows, targets).

    Examples
    --------
    >>> import numpy as np
    >>> LeastSquares().gradient(np.array([1.0, 1.0]), (np.eye(2), np.array([0.0, 1.0])))
    array([0.5, 0. ])
    """

    core_ndim: ClassVar[int | None] = 1

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        return np.asarray((0.5 * _residual(x, batch) ** 2 * mean_factors(batch[0], weights)).sum(axis=-1))

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        residual = _residual(x, batch) * mean_factors(batch[0], weights)
        return columns_times(batch[0], residual[..., None])[..., 0]


def _residual(x: FloatArray, batch: Batch) -> FloatArray:
    rows, targets = batch
    residual: FloatArray = rows_times(rows, x[..., None])[..., 0] - targets
    return residual
