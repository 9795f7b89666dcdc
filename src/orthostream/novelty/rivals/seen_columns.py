"""Short numbers for the terms that a stream has shown, so that dense factors hold no others."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from orthostream.novelty.block import SparseMatrix


class SeenColumns:
    """Numbers columns in the order of their first appearance.

    Examples
    --------
    >>> from scipy import sparse
    >>> seen = SeenColumns()
    >>> seen.add(sparse.csr_array([[0.0, 0.0, 5.0, 6.0]]))
    >>> len(seen), seen.select(sparse.csr_array([[1.0, 2.0, 3.0, 0.0]])).toarray().tolist()
    (2, [[3.0, 0.0]])
    """

    def __init__(self) -> None:
        self._count = 0
        self._places = np.zeros(0, dtype=np.int32)

    def __len__(self) -> int:
        return self._count

    def add(self, rows: SparseMatrix) -> None:
        """Give numbers to the columns of these rows that have none."""
        if rows.shape[1] > len(self._places):
            self._places = np.append(self._places, np.full(rows.shape[1] - len(self._places), -1, np.int32))
        touched = np.unique(rows.indices[rows.data != 0])
        new = touched[self._places[touched] < 0]
        self._places[new] = self._count + np.arange(len(new))
        self._count += len(new)

    def select(self, rows: SparseMatrix) -> SparseMatrix:
        """Return the rows over the numbered columns, without their entries in other ones."""
        inside = rows.indices < len(self._places)
        places = np.where(inside, self._places[np.where(inside, rows.indices, 0)], -1)
        known = places >= 0
        starts = np.append(0, np.cumsum(known))[rows.indptr].astype(np.int32)
        return sparse.csr_array((rows.data[known], places[known], starts), shape=(rows.shape[0], self._count))
