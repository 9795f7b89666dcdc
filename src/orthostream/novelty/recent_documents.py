"""The last documents of a stream, to compare new ones with."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from orthostream._typing import FloatArray, IntArray
from orthostream.novelty.block import SparseMatrix
from orthostream.novelty.past_rows import PastRows, cosines

#: A document is remembered by the terms that weigh most, so that memory does not depend on the length of documents.
_TERMS_KEPT = 256
_CHARACTERS_KEPT = 160


class Label(NamedTuple):
    """What names a document to people."""

    id: str
    title: str


class RecentDocuments:
    """The rows and labels of the last documents.

    Parameters
    ----------
    most : int
        How many documents are kept.

    Examples
    --------
    >>> recent = RecentDocuments(2)
    >>> recent.append(sparse.csr_array([[0.6, 0.8], [0.0, 1.0]]), [Label("1", "first"), Label("2", "second")])
    >>> recent.cosines(sparse.csr_array([[1.0, 0.0]])).round(3).tolist(), recent.labels[0].title
    ([[0.6000000238418579], [0.0]], 'first')
    """

    def __init__(self, most: int) -> None:
        self.past = PastRows(most=most)
        self.labels: deque[Label] = deque(maxlen=most)

    def __len__(self) -> int:
        return len(self.past)

    def append(self, rows: SparseMatrix, labels: Sequence[Label]) -> None:
        """Add documents; the oldest ones go."""
        self.past.append(_heaviest(rows))
        self.labels.extend(Label(label.id[:_CHARACTERS_KEPT], label.title[:_CHARACTERS_KEPT]) for label in labels)

    def cosines(self, rows: SparseMatrix) -> FloatArray:
        """Return the cosines of the remembered documents with new ones, of shape (remembered, new)."""
        return cosines(self.past.matrix(), rows)

    def forget_terms(self, slots: IntArray) -> None:
        """Remove terms from all documents."""
        self.past.clear_columns(slots)


def _heaviest(rows: SparseMatrix) -> SparseMatrix:
    """Return the rows with the entries of long ones cut to the largest."""
    lengths = np.diff(rows.indptr)
    if lengths.max(initial=0) <= _TERMS_KEPT:
        return rows
    kept = np.ones(rows.nnz, dtype=bool)
    for row in np.flatnonzero(lengths > _TERMS_KEPT):
        start, stop = rows.indptr[row], rows.indptr[row + 1]
        smallest = np.argpartition(rows.data[start:stop], stop - start - _TERMS_KEPT)[: stop - start - _TERMS_KEPT]
        kept[start + smallest] = False
    starts = np.append(0, np.cumsum(kept))[rows.indptr].astype(np.int32)
    return sparse.csr_array((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)
