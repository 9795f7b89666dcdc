"""The energy of the largest coefficients of each sample: what a sparse code of fixed length keeps."""

from __future__ import annotations

import numpy as np

from orthostream import _checks
from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.objectives.contrast import Contrast


class TopEnergy(Contrast):
    r"""Minus half the mean over the samples y of the sum of the ``count`` largest :math:`z_j^2`, :math:`z = D^T y`.

    The gradient is exact wherever no sample has two coefficients of equal size at the edge of the ``count`` largest,
    which is almost everywhere; equal ones count as kept.

    Examples
    --------
    >>> import numpy as np
    >>> TopEnergy(1).value(np.eye(3), np.array([[1.0, -2.0, 0.5]]))
    array(-2.)
    >>> TopEnergy(1).score(np.array([[1.0, -2.0, 0.5]])) + 0.0
    array([[0., 2., 0.]])
    """

    def __init__(self, count: int = 16) -> None:
        self.count = _checks.integer("count", count)

    def loss(self, z: FloatArray) -> FloatArray:
        return -0.5 * self._kept(z) ** 2

    def score(self, z: FloatArray) -> FloatArray:
        return -self._kept(z)

    def _kept(self, z: FloatArray) -> FloatArray:
        """Return the coefficients, zero but for the largest of each sample."""
        return np.where(is_largest(np.abs(z), self.count), z, z.dtype.type(0))


def is_largest(sizes: FloatArray, count: int) -> BoolArray:
    """Return which numbers are among the ``count`` largest along the last axis; those equal to the last one count too.

    >>> is_largest(np.array([[1.0, 3.0, 2.0]]), 2)
    array([[False,  True,  True]])
    """
    length = sizes.shape[-1]
    if count >= length:
        return np.ones(sizes.shape, dtype=bool)
    edge = np.partition(sizes, length - count, axis=-1)[..., length - count, None]
    return np.asarray(sizes >= edge)
