"""The contract of an objective."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from orthostream._typing import FloatArray

#: A mini-batch: an array whose rows are samples, a SciPy sparse matrix, or whatever else an objective understands.
Batch = Any


class Objective(ABC):
    """The mean over a mini-batch of a differentiable function of a point and a sample.

    ``x`` is a point or a stack of points, ``batch`` one mini-batch or a stack of them; ``weights``, one number for each
    sample, turn the mean into a weighted mean. The value has the shape of the stack.
    """

    core_ndim: ClassVar[int | None] = None
    """The number of axes of a point; None if any number is allowed."""

    degree: float = 2.0
    """Its gradients are proportional to this power of the data."""

    @abstractmethod
    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        """Return the objective."""

    @abstractmethod
    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        """Return its exact gradient, an array of the shape of x."""


class CallableObjective(Objective):
    """A pair of functions of (x, batch) as an objective, without sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> distance = CallableObjective(lambda x, y: ((x - y) ** 2).sum(-1).mean(), lambda x, y: 2 * (x - y.mean(0)))
    >>> distance.gradient(np.zeros(2), np.ones((3, 2)))
    array([-2., -2.])
    """

    def __init__(
        self, value: Callable[[FloatArray, Batch], Any], gradient: Callable[[FloatArray, Batch], FloatArray]
    ) -> None:
        self._value, self._gradient = value, gradient

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        self._refuse(weights)
        return np.asarray(self._value(x, batch))

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        self._refuse(weights)
        return np.asarray(self._gradient(x, batch))

    @staticmethod
    def _refuse(weights: FloatArray | None) -> None:
        if weights is not None:
            raise ValueError("an objective made of two functions takes no sample weights: subclass Objective for them.")


def batch_size(batch: Batch) -> int:
    """Return the number of samples of a mini-batch, or of each mini-batch of a stack.

    >>> batch_size(np.zeros((100, 6, 10))), batch_size((np.zeros((6, 10)), np.zeros(6))), batch_size([1, 2])
    (6, 6, 2)
    """
    pair = isinstance(batch, tuple) or (isinstance(batch, list) and batch and np.ndim(batch[0]) >= 2)
    first = batch[0] if pair else batch
    shape = getattr(first, "shape", None)
    if not shape:
        return len(first) if hasattr(first, "__len__") else 1
    return int(shape[-2] if len(shape) >= 2 else shape[0])


def rows_times(batch: Batch, x: FloatArray) -> FloatArray:
    """Return batch @ x, also for sparse rows and a stack of points."""
    if isinstance(batch, np.ndarray) or x.ndim == 2:
        product: FloatArray = batch @ x
        return product
    return np.stack([rows_times(batch, one) for one in x])


def columns_times(batch: Batch, z: FloatArray) -> FloatArray:
    """Return the transpose of batch @ z, also for sparse rows and a stack of them."""
    if isinstance(batch, np.ndarray):
        return batch.mT @ z
    if z.ndim == 2:
        product: FloatArray = batch.T @ z
        return product
    return np.stack([columns_times(batch, one) for one in z])


def mean_factors(batch: Batch, weights: FloatArray | None) -> FloatArray | float:
    """Return the share of each sample in the mean: 1/M, or its weight divided by the sum of weights."""
    if weights is None:
        return 1.0 / batch_size(batch)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total > 0.0, total, 1.0)
