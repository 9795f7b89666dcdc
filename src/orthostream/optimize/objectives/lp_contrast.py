"""The sparsity-promoting contrast of the paper: minus the p-th power of the lp norm, p > 2."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective, columns_times, mean_factors, rows_times


class LpContrast(Objective):
    r"""The mean of :math:`-\|D^T y\|_p^p` over the samples y, for a real p > 2.

    On the unit sphere the lp norm, p > 2, is largest at the sparsest points. The paper takes p = 3 (its factor p is
    missing there, to which the oracle is blind but not the Frank-Wolfe gap) and compares with p = 4.

    Examples
    --------
    >>> import numpy as np
    >>> LpContrast(3).value(np.eye(2), np.array([[2.0, -1.0]]))
    array(-9.)
    >>> LpContrast(3).gradient(np.eye(2), np.array([[2.0, -1.0]]))
    array([[-24.,   6.],
           [ 12.,  -3.]])
    """

    core_ndim: ClassVar[int | None] = 2

    def __init__(self, p: float = 3.0) -> None:
        self.p = float(p)
        if not 2.0 < self.p < np.inf:
            raise ValueError(f"p must be larger than 2, got {p!r}: at 2 the contrast says nothing of sparsity.")

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        powers = (np.abs(rows_times(batch, x)) ** self.p).sum(axis=-1)
        return np.asarray(-(powers * mean_factors(batch, weights)).sum(axis=-1))

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        z = rows_times(batch, x)
        size = np.abs(z)
        if self.p != 3.0:
            size **= self.p - 2.0
        factors = mean_factors(batch, weights)
        z *= -self.p * (factors if isinstance(factors, float) else factors[..., None])
        z *= size
        return columns_times(batch, z)
