"""The Euclidean ball, the set of section V-D."""

from __future__ import annotations

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.sets.base import ConvexSet


class L2Ball(ConvexSet):
    """All vectors whose Euclidean norm is at most ``radius``.

    Examples
    --------
    >>> import numpy as np
    >>> L2Ball().lmo(np.array([3.0, -4.0]))
    array([-0.6,  0.8])
    """

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = positive("radius", radius)

    def lmo(self, gradient: FloatArray) -> FloatArray:
        # Divide by the largest entry first, so that squares neither overflow nor underflow.
        top = np.abs(gradient).max(axis=-1, keepdims=True)
        direction = gradient / np.where(top > 0.0, top, 1.0)
        norm = np.linalg.norm(direction, axis=-1, keepdims=True)
        vertex: FloatArray = -self.radius * direction / np.where(norm > 0.0, norm, 1.0)
        return vertex

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the ball."""
        norm = np.linalg.norm(x, axis=-1, keepdims=True)
        nearest: FloatArray = x * (self.radius / np.maximum(norm, self.radius))
        return nearest

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        return bool(np.all(np.linalg.norm(x, axis=-1) <= self.radius * (1.0 + tolerance)))

    def diameter(self, shape: tuple[int, ...]) -> float:
        return 2.0 * self.radius
