"""A second moment as a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.sparse_eigenvectors.moment import Moment, last_eigenvector
from orthostream.optimize.estimates.sparse_eigenvectors.support import Indices


class WholeMoment(Moment):
    """A second moment as a matrix, remembered as the array ``moment``.

    Examples
    --------
    >>> moment = WholeMoment(np.diag([3.0, 2.0, 1.0]))
    >>> moment.leading(np.array([1, 2]), np.zeros((0, 3)))
    (2.0, array([0., 1., 0.]))
    """

    powers: ClassVar[Mapping[str, int]] = {"moment": 2}

    def __init__(self, matrix: FloatArray) -> None:
        self.matrix = matrix
        self.diagonal = np.diagonal(matrix)

    @staticmethod
    def add(memory: ArrayBlock, rows: Any) -> None:
        moment = memory["moment"]
        moment += rows.mT @ rows if isinstance(rows, np.ndarray) else (rows.T @ rows).toarray()

    @classmethod
    def of(cls, memory: ArrayBlock) -> Self:
        return cls(memory["moment"] / memory["weight"])

    def trace_of_square(self) -> float:
        return float(np.vdot(self.matrix, self.matrix))

    def times(self, vector: FloatArray) -> FloatArray:
        product: FloatArray = self.matrix @ vector
        return product

    def direction(self, support: Indices, basis: FloatArray) -> FloatArray:
        part = self.matrix if len(support) == len(self.matrix) else self.matrix[np.ix_(support, support)]
        pulled = part @ basis
        mixed = pulled @ basis.T
        rest = part - mixed - mixed.T + basis @ (basis.T @ pulled) @ basis.T
        return last_eigenvector(rest, basis, float(np.trace(part)))
