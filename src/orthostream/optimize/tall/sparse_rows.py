"""A mini-batch of sparse rows, with the columns that it touches."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from orthostream._typing import FloatArray


class SparseRows:
    """Sparse rows of many columns, stored over the few columns that have an entry.

    Parameters
    ----------
    rows : SciPy sparse matrix or array
        Samples in rows. It is not changed.
    dtype : the type of the entries, default that of the rows

    Attributes
    ----------
    shape : (samples, columns) of the whole matrix
    touched : the columns with an entry, each once
    entries : CSR matrix (samples, touched columns)

    Examples
    --------
    >>> rows = SparseRows(sparse.csr_array(([1.0, 2.0], ([0, 1], [7, 3])), shape=(2, 1000)))
    >>> rows.shape, rows.touched.tolist(), rows.entries.toarray().tolist()
    ((2, 1000), [3, 7], [[0.0, 1.0], [2.0, 0.0]])
    """

    def __init__(self, rows: Any, dtype: Any = None) -> None:
        matrix = sparse.csr_array(rows)
        if matrix.ndim != 2:
            raise ValueError(f"sparse rows must be a matrix, got an array of shape {matrix.shape}.")
        self.shape: tuple[int, int] = matrix.shape
        places: NDArray[np.intp]
        self.touched: NDArray[np.integer[Any]]
        self.touched, places = np.unique(matrix.indices, return_inverse=True)
        values = matrix.data.astype(matrix.dtype if dtype is None else dtype, copy=False)
        if values.dtype.kind != "f":
            values = values.astype(float)
        self.entries = sparse.csr_array(
            (values, places.astype(np.int32), matrix.indptr), shape=(matrix.shape[0], len(self.touched))
        )

    @classmethod
    def over(cls, shape: tuple[int, int], touched: NDArray[np.integer[Any]], entries: Any) -> Self:
        """Return rows whose entries are over some distinct columns already.

        >>> SparseRows.over((2, 1000), np.array([7, 3]), sparse.eye_array(2, format="csr")).touched.tolist()
        [7, 3]
        """
        made = cls.__new__(cls)
        made.shape, made.touched, made.entries = shape, touched, entries
        return made

    @cached_property
    def columns(self) -> Any:
        """The transpose of `entries`, as a CSR matrix: multiplying it runs over its rows."""
        return sparse.csr_array(self.entries.T)

    def energies(self) -> FloatArray:
        """Return the squared length of each row.

        >>> SparseRows(sparse.csr_array([[3.0, 4.0], [0.0, 0.0]])).energies()
        array([25.,  0.])
        """
        sums = np.append(0.0, np.cumsum(np.square(self.entries.data, dtype=float)))
        return np.diff(sums[self.entries.indptr])

    def inner_products(self, weights: FloatArray) -> FloatArray:
        """Return weights' Y Y' weights for the rows Y, which takes no product as large as the columns.

        >>> SparseRows(sparse.eye_array(2)).inner_products(np.array([[1.0], [2.0]]))
        array([[5.]])
        """
        found: FloatArray = weights.T @ ((self.entries @ self.columns) @ weights)
        return found


def as_sparse_rows(batch: Any, dtype: Any) -> SparseRows:
    """Return sparse rows unchanged, and any matrix as sparse rows."""
    return batch if isinstance(batch, SparseRows) else SparseRows(batch, dtype)
