"""The nuclear-norm ball, the convex hull of the matrices of rank one and norm ``radius``."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition.exact import thin_svd
from orthostream.optimize.sets.base import ConvexSet
from orthostream.optimize.sets.simplex import project_to_simplex


class NuclearBall(ConvexSet):
    """All matrices whose singular values add up to at most ``radius``.

    Examples
    --------
    >>> import numpy as np
    >>> NuclearBall(2.0).lmo(np.diag([3.0, 1.0])) + 0.0
    array([[-2.,  0.],
           [ 0.,  0.]])
    """

    core_ndim: ClassVar[int] = 2

    def __init__(self, radius: float = 1.0) -> None:
        self.radius = positive("radius", radius)

    def lmo(self, gradient: FloatArray) -> FloatArray:
        u, _, vt = thin_svd(gradient)
        return -self.radius * u[..., :, :1] * vt[..., :1, :]

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the ball: its singular values are projected."""
        u, s, vt = thin_svd(x)
        inside = s.sum(axis=-1, keepdims=True) <= self.radius
        cut = np.where(inside, s, project_to_simplex(s, self.radius))
        nearest: FloatArray = (u * cut[..., None, :]) @ vt
        return nearest

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        if not np.isfinite(x).all():
            return False
        return bool(np.all(np.linalg.norm(x, ord="nuc", axis=(-2, -1)) <= self.radius * (1.0 + tolerance)))

    def diameter(self, shape: tuple[int, ...]) -> float:
        return 2.0 * self.radius
