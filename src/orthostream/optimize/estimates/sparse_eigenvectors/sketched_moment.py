"""A second moment as a sketch, for many features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.sparse_eigenvectors.moment import Moment, last_eigenvector
from orthostream.optimize.estimates.sparse_eigenvectors.support import Indices


class SketchedMoment(Moment):
    """A second moment of low rank, the Gram matrix of rows, with the exact variances of all features.

    It is remembered as the arrays ``rows``, of which ``held`` are in use, and ``diagonal``. Rows are collected until
    there is no room. Half of it then keeps the directions of largest variance, and the others are dropped.

    Examples
    --------
    >>> moment = SketchedMoment(np.array([[0.0, 2.0, 0.0]]), np.array([1.0, 4.0, 1.0]))
    >>> moment.leading(np.arange(3), np.zeros((0, 3)))
    (4.0, array([0., 1., 0.]))
    """

    powers: ClassVar[Mapping[str, int]] = {"rows": 1, "held": 0, "diagonal": 2}

    def __init__(self, rows: FloatArray, diagonal: FloatArray) -> None:
        self.rows, self.diagonal = rows, diagonal

    @staticmethod
    def add(memory: ArrayBlock, rows: Any) -> None:
        stack = memory.array.shape[:-1]
        for index in np.ndindex(stack):
            mine = np.broadcast_to(rows, (*stack, *rows.shape[-2:]))[index] if stack else rows
            _add(memory["rows"][index], memory["held"][(*index, ...)], memory["diagonal"][index], mine)

    @classmethod
    def of(cls, memory: ArrayBlock) -> Self:
        held, weight = int(memory["held"]), float(memory["weight"])
        return cls(memory["rows"][:held] / weight**0.5, memory["diagonal"] / weight)

    def trace_of_square(self) -> float:
        """Return the sum for the rows, and for what they lack of the variances as if it were uncorrelated."""
        gram = self.rows @ self.rows.T
        lack = self.diagonal - np.square(self.rows).sum(axis=0)
        return float(np.vdot(gram, gram) + lack @ lack)

    def times(self, vector: FloatArray) -> FloatArray:
        product: FloatArray = self.rows.T @ (self.rows @ vector)
        return product

    def direction(self, support: Indices, basis: FloatArray) -> FloatArray:
        rows = self.rows[:, support]
        scale = float(np.vdot(rows, rows))
        rows = rows - (rows @ basis) @ basis.T
        if len(support) <= len(rows):
            return last_eigenvector(rows.T @ rows, basis, scale)
        if len(rows):
            combined: FloatArray = rows.T @ last_eigenvector(rows @ rows.T, np.zeros((len(rows), 0)), scale)
            if np.vdot(combined, combined) > 1e-24 * scale:
                return combined
        # Nothing is left here: take the coordinate that is farthest from the basis.
        unit = np.zeros(len(support))
        unit[np.argmin(np.linalg.norm(basis, axis=1))] = 1.0
        return unit


def _add(kept: FloatArray, held: FloatArray, diagonal: FloatArray, rows: Any) -> None:
    """Add rows to the arrays of one problem; these are written to."""
    room = len(kept)
    for start in range(0, rows.shape[0], room):
        some = rows[start : start + room]
        dense = np.asarray(some if isinstance(some, np.ndarray) else some.toarray())
        diagonal += np.square(dense).sum(axis=0)
        dense = dense[dense.any(axis=1)]
        while len(dense):
            used = int(held)
            fitting = dense[: room - used]
            kept[used : used + len(fitting)] = fitting
            held += len(fitting)
            dense = dense[len(fitting) :]
            if int(held) == room:
                _merge(kept)
                held[...] = room // 2


def _merge(rows: FloatArray) -> None:
    """Replace rows by as many combinations of them as are half of their number, and zeros.

    >>> rows = np.array([[3.0, 0.0], [4.0, 0.1]])
    >>> _merge(rows)
    >>> np.abs(rows).round(2)
    array([[5.  , 0.08],
           [0.  , 0.  ]])
    """
    half = len(rows) // 2
    vectors = np.linalg.eigh(rows @ rows.T)[1]
    rows[:half] = vectors[:, : -half - 1 : -1].T @ rows
    rows[half:] = 0.0
