"""Sparse rows of the past in one matrix that grows, or that holds only the last of them; and their cosines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from orthostream import _checks
from orthostream._typing import FloatArray, IntArray
from orthostream.novelty.block import SparseMatrix


class PastRows:
    """The rows of a stream as one CSR matrix in single precision.

    Rows are appended to arrays with room to spare, so that a block costs time in proportion to its own size.

    Parameters
    ----------
    most : int, optional
        How many rows are kept, the last ones. None keeps all.

    Examples
    --------
    >>> past = PastRows(most=2)
    >>> for number in (1.0, 2.0, 3.0):
    ...     past.append(sparse.csr_array([[0.0, number]]))
    >>> len(past), past.matrix().toarray().tolist()
    (2, [[0.0, 2.0], [0.0, 3.0]])
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = _checks.optional_integer("most", most)
        self.width = 0
        self._first = self._end = 0
        self._starts = np.zeros(1, dtype=np.int64)
        self._columns = np.zeros(0, dtype=np.int32)
        self._values = np.zeros(0, dtype=np.float32)

    def __len__(self) -> int:
        return self._end - self._first

    @property
    def nbytes(self) -> int:
        """The memory of the rows, and of the room for more."""
        return self._starts.nbytes + self._columns.nbytes + self._values.nbytes

    def append(self, rows: SparseMatrix) -> None:
        """Add rows at the end; they may be wider than those before."""
        if self.most is not None:
            rows = rows[-self.most :]
            self._forget(max(0, len(self) + rows.shape[0] - self.most))
        start, end = int(self._starts[self._end]), self._end + rows.shape[0]
        stop = start + rows.nnz
        self._starts = _with_room(self._starts, end + 1)
        self._columns, self._values = _with_room(self._columns, stop), _with_room(self._values, stop)
        self._starts[self._end + 1 : end + 1] = start + rows.indptr[1:]
        self._columns[start:stop], self._values[start:stop] = rows.indices, rows.data
        self._end, self.width = end, max(self.width, rows.shape[1])

    def matrix(self) -> SparseMatrix:
        """Return the rows, oldest first. The matrix shares memory with this object and must not be changed."""
        starts = self._starts[self._first : self._end + 1]
        inside = slice(int(starts[0]), int(starts[-1]))
        # Of one type, so that SciPy need not convert them.
        offsets = (starts - starts[0]).astype(np.int32 if inside.stop - inside.start < 2**31 else np.int64)
        entries = (self._values[inside], self._columns[inside], offsets)
        return sparse.csr_array(entries, shape=(len(self), self.width))

    def clear_columns(self, columns: IntArray) -> None:
        """Set all entries in some columns to zero."""
        cleared = np.zeros(self.width, dtype=bool)
        cleared[columns[columns < self.width]] = True
        inside = slice(int(self._starts[self._first]), int(self._starts[self._end]))
        self._values[inside][cleared[self._columns[inside]]] = 0.0

    def _forget(self, count: int) -> None:
        """Drop the oldest rows, and free their memory once they are more than those that are left."""
        self._first += count
        if self._first <= len(self):
            return
        kept = slice(int(self._starts[self._first]), int(self._starts[self._end]))
        self._columns, self._values = self._columns[kept].copy(), self._values[kept].copy()
        self._starts = self._starts[self._first : self._end + 1] - self._starts[self._first]
        self._first, self._end = 0, len(self)


def cosines(past: SparseMatrix, rows: SparseMatrix) -> FloatArray:
    """Return the inner products of past rows with new ones, of shape (past rows, new rows)."""
    touched, places = np.unique(rows.indices, return_inverse=True)
    # Terms that no new row has share row 0, which is zero and stays in the cache.
    local = np.zeros(max(past.shape[1], rows.shape[1]), dtype=np.int32)
    local[touched] = np.arange(1, len(touched) + 1)
    dense = np.zeros((len(touched) + 1, rows.shape[0]), dtype=np.float32)
    dense[places + 1, np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))] = rows.data
    shape = (past.shape[0], len(dense))
    products: FloatArray = sparse.csr_array((past.data, local[past.indices], past.indptr), shape=shape) @ dense
    return products


def _with_room(array: Any, size: int) -> Any:
    """Return the array, or twice as much room with the array at its start."""
    if size <= len(array):
        return array
    roomy = np.zeros(2 * size, dtype=array.dtype)
    roomy[: len(array)] = array
    return roomy
