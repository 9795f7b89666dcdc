"""The l-infinity ball."""

from __future__ import annotations

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.sets.base import ConvexSet


class LInfBall(ConvexSet):
    """All vectors whose entries are at most ``radius`` in absolute value.

    Examples
    --------
    >>> import numpy as np
    >>> LInfBall(2.0).lmo(np.array([3.0, -4.0]))
    array([-2.,  2.])
    """

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = positive("radius", radius)

    def lmo(self, gradient: FloatArray) -> FloatArray:
        return -self.radius * np.sign(gradient)

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the ball."""
        return np.clip(x, -self.radius, self.radius)

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        return bool(np.all(np.abs(x) <= self.radius * (1.0 + tolerance)))

    def diameter(self, shape: tuple[int, ...]) -> float:
        return float(2.0 * self.radius * shape[-1] ** 0.5)
