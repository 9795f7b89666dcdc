"""What a convex set is to the solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray


class ConvexSet(ABC):
    """A bounded convex set with a linear minimisation oracle.

    A point takes the last `core_ndim` axes of an array; leading axes are a stack of independent points, and every
    method broadcasts over them. A set that has a cheap projection also has a method ``project(x)``.
    """

    core_ndim: ClassVar[int] = 1

    @abstractmethod
    def lmo(self, gradient: FloatArray) -> FloatArray:
        """Return a point s of the set that minimises <gradient, s>."""

    @abstractmethod
    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        """Tell whether every point of the stack lies in the set, up to a relative tolerance."""

    @abstractmethod
    def diameter(self, shape: tuple[int, ...]) -> float:
        """Return the largest Euclidean (Frobenius) distance of two points of the given shape."""

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise ValueError where the set has no points of this shape."""
        if len(shape) < self.core_ndim:
            what = "vectors" if self.core_ndim == 1 else "matrices"
            raise ValueError(f"{type(self).__name__} holds {what}, but a point of shape {shape} was given.")

    def memory(self, x: FloatArray) -> FloatArray | float:
        """Return what `oracle` is given on the first call: one number for each point of the stack."""
        stack = x.shape[: x.ndim - self.core_ndim]
        return np.zeros(stack) if stack else 0.0

    def oracle(
        self, gradient: FloatArray, x: FloatArray, memory: FloatArray | float
    ) -> tuple[FloatArray, FloatArray | float]:
        """Return `lmo` of the gradient and what to remember for the next call.

        A set overrides this where the current point or the last call makes the answer better or cheaper.
        """
        return self.lmo(gradient), memory


def as_float(x: FloatArray) -> FloatArray:
    """Return an array as it is if it holds floats, as doubles otherwise."""
    array = np.asarray(x)
    return array if np.issubdtype(array.dtype, np.floating) else array.astype(float)


def positive(name: str, value: float) -> float:
    """Return a parameter as a float, or raise ValueError where it is not positive and finite."""
    number = float(value)
    if not 0.0 < number < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")
    return number
