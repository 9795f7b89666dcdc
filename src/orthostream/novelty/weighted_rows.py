"""Documents as unit vectors over the slots of a vocabulary."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from orthostream._typing import FloatArray, IntArray
from orthostream.novelty.block import SparseMatrix
from orthostream.novelty.term_counts import TermCounts
from orthostream.novelty.term_weights import TermWeights
from orthostream.novelty.vocabulary import Vocabulary
from orthostream.optimize.tall import SparseRows


class WeightedRows:
    """A block of documents with weights from the past of the stream.

    Attributes
    ----------
    terms : list or int array
        The terms of the block; one of those that share a bucket.
    slots : int array
        The slot of each term, each once.
    given_slots : int array
        The slot of each term of the counts.
    is_new : bool array
        Which terms no document before the block has.
    unit : CSR array (n_documents, n_terms of the block)
        Weights, each row of unit length; a document without terms, or with terms that weigh nothing, is zero.
    """

    def __init__(self, counts: TermCounts, slots: IntArray, vocabulary: Vocabulary, weights: TermWeights) -> None:
        entries = counts.entries
        self.given_slots, self.n_slots = slots, vocabulary.n_slots
        frequencies = vocabulary.frequencies(slots)
        values = weights(entries.data, frequencies[entries.indices], vocabulary.n_documents)
        unscaled: SparseMatrix = sparse.csr_array((values, entries.indices, entries.indptr), shape=entries.shape)
        kept, unscaled = _merged(unscaled, slots)
        self.slots, self.is_new = slots[kept], frequencies[kept] == 0.0
        self.terms = (
            counts.terms[kept] if isinstance(counts.terms, np.ndarray) else [counts.terms[place] for place in kept]
        )
        row = np.repeat(np.arange(len(counts)), np.diff(unscaled.indptr))
        lengths = np.sqrt(np.bincount(row, unscaled.data * unscaled.data, minlength=len(counts)))
        if not np.isfinite(lengths).all():
            place = int(np.flatnonzero(~np.isfinite(lengths))[0])
            raise ValueError(
                f"the weights of document {place} are not finite: its counts are too large, or the weights wrong."
            )
        self.is_empty = lengths == 0.0
        lengths[self.is_empty] = 1.0
        parts = (unscaled.data / lengths[row], unscaled.indices, unscaled.indptr)
        self.unit: SparseMatrix = sparse.csr_array(parts, shape=unscaled.shape)

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    @cached_property
    def rows(self) -> SparseRows:
        """The rows over all slots, for the solver."""
        return SparseRows.over((len(self), self.n_slots), self.slots, self.unit.astype(np.float32))

    @cached_property
    def over_slots(self) -> SparseMatrix:
        """The rows as an ordinary matrix over all slots."""
        columns = self.slots.astype(np.int32)[self.unit.indices]
        return sparse.csr_array((self.unit.data, columns, self.unit.indptr), shape=(len(self), self.n_slots))

    def document(self, place: int) -> tuple[IntArray, FloatArray]:
        """Return the places among `terms` of the terms of a document, and their weights."""
        inside = slice(self.unit.indptr[place], self.unit.indptr[place + 1])
        columns: Any = self.unit.indices[inside]
        return columns.astype(np.int64), self.unit.data[inside]


def _merged(rows: SparseMatrix, slots: IntArray) -> tuple[IntArray, SparseMatrix]:
    """Return the first term of each slot, and the rows with the terms of a slot added up: buckets are shared."""
    distinct, first, places = np.unique(slots, return_index=True, return_inverse=True)
    if len(distinct) == len(slots):
        return np.arange(len(slots)), rows
    columns = places.astype(np.int32)[rows.indices]
    # Copies: SciPy adds up in place.
    merged = sparse.csr_array((rows.data.copy(), columns, rows.indptr.copy()), shape=(rows.shape[0], len(distinct)))
    merged.sum_duplicates()
    return first.astype(np.int64), merged
