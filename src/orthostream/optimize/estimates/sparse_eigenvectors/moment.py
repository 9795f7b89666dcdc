"""The second moment of a stream, and what the search for components asks of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.sparse_eigenvectors.support import Indices

#: Vectors are taken for dependent where a singular value is below this.
_DEPENDENT = 1e-10


class Moment(ABC):
    """A second moment S, a positive semidefinite matrix, and the form in which a memory keeps its sum over samples."""

    powers: ClassVar[Mapping[str, int]]
    """The names of the remembered arrays, and the power of the data that each is proportional to."""

    diagonal: FloatArray
    """The variance of each feature."""

    @staticmethod
    @abstractmethod
    def add(memory: ArrayBlock, rows: Any) -> None:
        """Add rows, dense or sparse, to the arrays of a memory, or a stack of them; this writes to the memory."""

    @classmethod
    @abstractmethod
    def of(cls, memory: ArrayBlock) -> Self:
        """Return the moment that the memory of one problem holds, as a mean over the samples."""

    @abstractmethod
    def trace_of_square(self) -> float:
        """Return the sum of the squares of all entries of S."""

    @abstractmethod
    def times(self, vector: FloatArray) -> FloatArray:
        """Return S times a vector."""

    @abstractmethod
    def direction(self, support: Indices, basis: FloatArray) -> FloatArray:
        """Return a vector of largest variance on some features, orthogonal to an orthonormal basis of columns."""

    def leading(self, support: Indices, before: FloatArray) -> tuple[float, FloatArray]:
        """Return largest variance and unit vector on some features, orthogonal to the rows ``before``.

        There must be more features than rows that are not zero on them.
        """
        basis = span(before[:, support].T)
        vector = self.direction(support, basis)
        vector = vector - basis @ (basis.T @ vector)
        component = np.zeros(len(self.diagonal))
        component[support] = vector / np.linalg.norm(vector)
        return max(float(component @ self.times(component)), 0.0), component


def last_eigenvector(matrix: FloatArray, kernel: FloatArray, scale: float) -> FloatArray:
    """Return a leading eigenvector of a positive semidefinite matrix, orthogonal to some vectors of its kernel.

    The matrix is exact up to rounding errors of numbers as large as ``scale``.

    >>> last_eigenvector(np.diag([0.0, 0.0]), np.array([[1.0], [0.0]]), 0.0)
    array([0., 1.])
    """
    if kernel.shape[1]:  # move them below all other eigenvalues, which may be zero too
        matrix = matrix - (scale or 1.0) * kernel @ kernel.T
    last = len(matrix) - 1
    vectors = linalg.eigh(matrix, subset_by_index=(last, last), check_finite=False)[1]
    leading: FloatArray = vectors[:, 0]
    return leading


def span(vectors: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of the columns."""
    left, sizes, _ = np.linalg.svd(vectors, full_matrices=False)
    basis: FloatArray = left[:, sizes > _DEPENDENT]
    return basis
