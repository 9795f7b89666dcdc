"""The l1 ball."""

from __future__ import annotations

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.sets.base import ConvexSet, as_float
from orthostream.optimize.sets.simplex import project_to_simplex


class L1Ball(ConvexSet):
    """All vectors whose absolute values add up to at most ``radius``.

    Examples
    --------
    >>> import numpy as np
    >>> L1Ball().lmo(np.array([1.0, -3.0, 2.0]))
    array([0., 1., 0.])
    """

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = positive("radius", radius)

    def lmo(self, gradient: FloatArray) -> FloatArray:
        gradient = as_float(gradient)
        vertex = np.zeros_like(gradient)
        best = np.argmax(np.abs(gradient), axis=-1)[..., None]
        signs = np.where(np.take_along_axis(gradient, best, axis=-1) > 0.0, -self.radius, self.radius)
        np.put_along_axis(vertex, best, signs.astype(gradient.dtype), axis=-1)
        return vertex

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the ball."""
        size = np.abs(x)
        inside = size.sum(axis=-1, keepdims=True) <= self.radius
        return np.where(inside, x, np.sign(x) * project_to_simplex(size, self.radius))

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        return bool(np.all(np.abs(x).sum(axis=-1) <= self.radius * (1.0 + tolerance)))

    def diameter(self, shape: tuple[int, ...]) -> float:
        return 2.0 * self.radius
