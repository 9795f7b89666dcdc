"""The scaled probability simplex."""

from __future__ import annotations

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.sets.base import ConvexSet, as_float


class Simplex(ConvexSet):
    """All vectors of non-negative entries that add up to ``total``.

    Examples
    --------
    >>> import numpy as np
    >>> Simplex().lmo(np.array([3.0, -1.0, 2.0]))
    array([0., 1., 0.])
    """

    def __init__(self, total: float = 1.0) -> None:
        self.total = positive("total", total)

    def lmo(self, gradient: FloatArray) -> FloatArray:
        vertex = np.zeros_like(as_float(gradient))
        np.put_along_axis(vertex, np.argmin(gradient, axis=-1)[..., None], self.total, axis=-1)
        return vertex

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the simplex."""
        return project_to_simplex(x, self.total)

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        slack = self.total * tolerance
        return bool(np.all(x >= -slack) and np.all(np.abs(x.sum(axis=-1) - self.total) <= slack))

    def diameter(self, shape: tuple[int, ...]) -> float:
        return self.total * 2.0**0.5 if shape[-1] > 1 else 0.0


def project_to_simplex(x: FloatArray, total: float) -> FloatArray:
    """Return the point of the simplex nearest to each vector of a stack, by sorting.

    >>> project_to_simplex(np.array([2.0, 0.0, 1.0]), 1.0)
    array([1., 0., 0.])
    """
    x = as_float(x)
    x = x - x.max(axis=-1, keepdims=True)  # does not change the projection, and reduces rounding errors
    ordered = -np.sort(-x, axis=-1)
    excess = np.cumsum(ordered, axis=-1) - total
    ranks = np.arange(1, x.shape[-1] + 1, dtype=x.dtype)
    kept = np.count_nonzero(ordered * ranks > excess, axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, kept - 1, axis=-1) / kept.astype(x.dtype)
    return np.maximum(x - shift, 0.0)
