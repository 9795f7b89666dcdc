"""The box."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthostream._typing import FloatArray
from orthostream.optimize.sets.base import ConvexSet, as_float


class Box(ConvexSet):
    """All vectors between ``lower`` and ``upper``, each a number or a vector.

    Examples
    --------
    >>> import numpy as np
    >>> Box(0.0, [1.0, 2.0]).lmo(np.array([3.0, -4.0]))
    array([0., 2.])
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        self.lower: FloatArray = np.array(lower, dtype=float)
        self.upper: FloatArray = np.array(upper, dtype=float)
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all()):
            raise ValueError("lower and upper must be finite: an unbounded box has no linear minimisation oracle.")
        if np.any(self.lower > self.upper):
            raise ValueError("lower must not exceed upper in any coordinate.")

    def lmo(self, gradient: FloatArray) -> FloatArray:
        return np.where(gradient > 0.0, self.lower, self.upper).astype(as_float(gradient).dtype)

    def project(self, x: FloatArray) -> FloatArray:
        """Return the nearest point of the box."""
        return np.clip(x, self.lower, self.upper).astype(as_float(x).dtype)

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        slack = tolerance * np.maximum(1.0, np.maximum(np.abs(self.lower), np.abs(self.upper)))
        return bool(np.all(x >= self.lower - slack) and np.all(x <= self.upper + slack))

    def diameter(self, shape: tuple[int, ...]) -> float:
        return float(np.linalg.norm(np.broadcast_to(self.upper - self.lower, shape[-1:])))

    def check_shape(self, shape: tuple[int, ...]) -> None:
        super().check_shape(shape)
        size = np.broadcast_shapes(self.lower.shape, self.upper.shape)
        if size not in ((), (1,), shape[-1:]):
            raise ValueError(f"this Box holds vectors of length {size[-1]}, but a point of shape {shape} was given.")
