"""The matrix operations of the product path, for stacks in NumPy and for one matrix in BLAS.

At the usual sizes a call of NumPy costs as much as its arithmetic. One call of BLAS multiplies, scales and adds, which
halves the number of calls, but only for single matrices. Stacks need NumPy.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import blas, lapack

from orthostream._typing import FloatArray


class Algebra(Protocol):
    """The operations that the product path needs; ``x`` is (..., N, K), all else (..., K, K) and symmetric."""

    def gram(self, x: FloatArray, alpha: float, beta: float) -> FloatArray:
        """Return alpha x'x + beta 1."""
        ...

    def square(self, a: FloatArray, alpha: float, beta: float) -> FloatArray:
        """Return alpha a a + beta 1."""
        ...

    def times(self, a: FloatArray, b: FloatArray, alpha: float) -> FloatArray:
        """Return alpha a b."""
        ...

    def times_plus(self, a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
        """Return a b + c; c is overwritten."""
        ...

    def times_inverse(self, x: FloatArray, a: FloatArray, alpha: float, beta: float) -> tuple[FloatArray, float]:
        """Return alpha x a^-1 + beta x for positive definite a, which is overwritten, and the largest trace of a^-1."""
        ...


def diagonal(a: FloatArray) -> FloatArray:
    """Return a writeable view of the diagonals of a stack of contiguous square matrices."""
    return a.reshape(*a.shape[:-2], -1)[..., :: a.shape[-1] + 1]


class Stack:
    """Operations on stacks, by NumPy's broadcasting."""

    def gram(self, x: FloatArray, alpha: float, beta: float) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):  # the caller checks the norm
            gram: FloatArray = x.mT @ x
        gram *= alpha
        diagonal(gram)[...] += beta
        return gram

    def square(self, a: FloatArray, alpha: float, beta: float) -> FloatArray:
        square: FloatArray = a @ a
        square *= alpha
        diagonal(square)[...] += beta
        return square

    def times(self, a: FloatArray, b: FloatArray, alpha: float) -> FloatArray:
        product: FloatArray = a @ b
        if alpha != 1.0:
            product *= alpha
        return product

    def times_plus(self, a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
        c += a @ b
        return c

    def times_inverse(self, x: FloatArray, a: FloatArray, alpha: float, beta: float) -> tuple[FloatArray, float]:
        inverse = np.linalg.inv(a)
        trace = float(diagonal(inverse).sum(axis=-1).max())
        inverse *= alpha
        diagonal(inverse)[...] += beta
        product: FloatArray = x @ inverse
        return product, trace


class Single:
    """Operations on one matrix. BLAS stores matrices by columns, so it takes and returns transposes."""

    def __init__(self, size: int) -> None:
        self.one: FloatArray = np.eye(size)

    def gram(self, x: FloatArray, alpha: float, beta: float) -> FloatArray:
        gram: FloatArray = blas.dgemm(alpha, x.T, x.T, beta, self.one.copy().T, trans_b=1, overwrite_c=1).T
        return gram

    def square(self, a: FloatArray, alpha: float, beta: float) -> FloatArray:
        square: FloatArray = blas.dgemm(alpha, a.T, a.T, beta, self.one.T).T
        return square

    def times(self, a: FloatArray, b: FloatArray, alpha: float) -> FloatArray:
        product: FloatArray = blas.dgemm(alpha, b.T, a.T).T
        return product

    def times_plus(self, a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
        total: FloatArray = blas.dgemm(1.0, b.T, a.T, 1.0, c.T, overwrite_c=1).T
        return total

    def times_inverse(self, x: FloatArray, a: FloatArray, alpha: float, beta: float) -> tuple[FloatArray, float]:
        factor, bad = lapack.dpotrf(a.T, overwrite_a=1, clean=0)
        if bad:
            raise np.linalg.LinAlgError("the shifted Gram matrix is not positive definite")
        half, _ = lapack.dpotri(factor, overwrite_c=1)
        product: FloatArray = blas.dsymm(alpha, half, x.T, beta, x.T).T
        return product, float(half.trace())


STACK = Stack()
_singles: dict[int, Single] = {}


def algebra_for(a: FloatArray) -> Algebra:
    """Return the operations for one matrix or for a stack."""
    if a.ndim != 2:
        return STACK
    size = a.shape[1]
    single = _singles.get(size)
    if single is None:
        single = _singles[size] = Single(size)
    return single
