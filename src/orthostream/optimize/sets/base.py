"""The contract of a convex set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray


class ConvexSet(ABC):
    """A bounded convex set with a linear minimisation oracle.

    The last `core_ndim` axes of an array are a point. Leading axes are a stack of independent points, and every method
    broadcasts over them. A set with a cheap projection also has a method ``project(x)``.
    """

    core_ndim: ClassVar[int] = 1

    @abstractmethod
    def lmo(self, gradient: FloatArray) -> FloatArray:
        """Return a point s of the set that minimises <gradient, s>."""

    @abstractmethod
    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        """Return whether every point of the stack lies in the set, up to a relative tolerance."""

    @abstractmethod
    def diameter(self, shape: tuple[int, ...]) -> float:
        """Return the largest Euclidean (Frobenius) distance between two points of the given shape."""

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise ValueError if the set has no points of this shape."""
        if len(shape) < self.core_ndim:
            what = "vectors" if self.core_ndim == 1 else "matrices"
            raise ValueError(f"{type(self).__name__} holds {what}, but a point of shape {shape} was given.")

    def memory(self, x: FloatArray) -> FloatArray | float:
        """Return the ``memory`` for the first call of `oracle`: one number for each point of the stack."""
        stack = x.shape[: x.ndim - self.core_ndim]
        return np.zeros(stack) if stack else 0.0

    def oracle(
        self, gradient: FloatArray, x: FloatArray, memory: FloatArray | float
    ) -> tuple[FloatArray, FloatArray | float]:
        """Return `lmo` of the gradient, and the ``memory`` for the next call.

        A set overrides this if it can use the current point or its memory of the last call.
        """
        return self.lmo(gradient), memory


def as_float(x: FloatArray) -> FloatArray:
    """Return an array of floats unchanged, and any other array in double precision."""
    array = np.asarray(x)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(float)
