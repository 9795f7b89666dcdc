"""Documents as unit vectors over the slots of a vocabulary."""

from __future__ import annotations

from copy import copy
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
    terms : list
        The terms of the block.
    slots : int array
        The slot of each term.
    is_new : bool array
        Which terms no document before the block has.
    unit : CSR array (n_documents, n_terms of the block)
        Weights, each row of unit length; a document without terms, or with terms that weigh nothing, is zero.
    """

    def __init__(self, counts: TermCounts, slots: IntArray, vocabulary: Vocabulary, weights: TermWeights) -> None:
        entries = counts.entries
        self.terms, self.slots, self.n_slots = counts.terms, slots, vocabulary.n_slots
        frequencies = vocabulary.frequencies(slots)
        self.is_new = frequencies == 0.0
        values = weights(entries.data, frequencies[entries.indices], vocabulary.n_documents)
        row = np.repeat(np.arange(len(counts)), np.diff(entries.indptr))
        lengths = np.sqrt(np.bincount(row, values * values, minlength=len(counts)))
        self.is_empty = lengths == 0.0
        lengths[self.is_empty] = 1.0
        self.unit: SparseMatrix = sparse.csr_array(
            (values / lengths[row], entries.indices, entries.indptr), shape=entries.shape
        )

    def __len__(self) -> int:
        return int(self.unit.shape[0])

    @cached_property
    def rows(self) -> SparseRows:
        """The rows over all slots, for the solver."""
        unit = self.unit.astype(np.float32)
        # Slots are distinct, but several terms of a block may share a bucket.
        slots, places = np.unique(self.slots, return_inverse=True)
        if len(slots) == len(self.slots):
            return SparseRows.over((len(self), self.n_slots), self.slots, unit)
        merged = sparse.csr_array(
            (unit.data, places.astype(np.int32)[unit.indices], unit.indptr), shape=(len(self), len(slots))
        )
        merged.sum_duplicates()
        return SparseRows.over((len(self), self.n_slots), slots, merged)

    def with_slots(self, slots: IntArray) -> WeightedRows:
        """Return the same rows with new terms in slots of their own, instead of buckets."""
        if np.array_equal(slots, self.slots):
            return self
        made = copy(self)
        made.slots = slots
        made.__dict__.pop("rows", None)
        return made

    def over_slots(self) -> SparseMatrix:
        """Return the rows as an ordinary matrix over all slots."""
        columns = self.slots.astype(np.int32)[self.unit.indices]
        return sparse.csr_array((self.unit.data, columns, self.unit.indptr), shape=(len(self), self.n_slots))

    def document(self, place: int) -> tuple[IntArray, FloatArray]:
        """Return the places among `terms` of the terms of a document, and their weights."""
        inside = slice(self.unit.indptr[place], self.unit.indptr[place + 1])
        columns: Any = self.unit.indices[inside]
        return columns.astype(np.int64), self.unit.data[inside]
