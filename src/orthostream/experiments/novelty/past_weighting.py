"""The term weighting that every rival gets: document frequencies of the past only."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from orthostream.novelty.block import DocumentBlock, SparseMatrix
from orthostream.novelty.term_weights import DampedInverseFrequency


class PastWeighting:
    """Turns counts into blocks whose rows are weighted by what was counted before, each of unit length.

    Parameters
    ----------
    n_terms : int

    Examples
    --------
    >>> weighting = PastWeighting(2)
    >>> weighting.count(sparse.csr_array([[1.0, 0.0], [2.0, 1.0], [1.0, 0.0]]))
    >>> weighting.block(sparse.csr_array([[1.0, 1.0], [0.0, 5.0]])).rows.toarray().round(3)
    array([[0.461, 0.887],
           [0.   , 1.   ]])
    """

    def __init__(self, n_terms: int) -> None:
        self._weights = DampedInverseFrequency()
        self._frequencies = np.zeros(n_terms)
        self._documents = 0

    def block(self, counts: SparseMatrix) -> DocumentBlock:
        """Return documents with their weighted rows."""
        values = self._weights(counts.data, self._frequencies[counts.indices], float(self._documents))
        row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        lengths = np.sqrt(np.bincount(row, values * values, minlength=counts.shape[0]))
        lengths[lengths == 0.0] = 1.0
        rows = sparse.csr_array((values / lengths[row], counts.indices, counts.indptr), shape=counts.shape)
        return DocumentBlock(counts, rows)

    def count(self, counts: SparseMatrix) -> None:
        """Add documents to the past."""
        self._frequencies += np.bincount(counts.indices, minlength=len(self._frequencies))
        self._documents += counts.shape[0]
