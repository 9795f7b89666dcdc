"""The simplest detector: how many of a document's terms are new."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.rivals.rival import Rival


class UnseenTerms(Rival):
    """The share of a document's distinct terms that no document of the past has. An empty document scores 0.

    Examples
    --------
    >>> from scipy import sparse
    >>> rival = UnseenTerms()
    >>> rival.learn(DocumentBlock(*2 * [sparse.csr_array([[1.0, 0.0, 0.0]])]))
    >>> rival.score(DocumentBlock(*2 * [sparse.csr_array([[2.0, 3.0, 0.0]])])).tolist()
    [0.5]
    """

    def __init__(self) -> None:
        self._seen = np.zeros(0, dtype=bool)
        self._learnt = False

    @property
    def name(self) -> str:
        return "share of unseen terms"

    def learn(self, block: DocumentBlock) -> None:
        self._seen = self._as_wide_as(block)
        self._seen[block.counts.indices[block.counts.data != 0]] = True
        self._learnt = self._learnt or block.counts.shape[0] > 0

    def _has_learnt(self) -> bool:
        return self._learnt

    def _scores(self, block: DocumentBlock) -> FloatArray:
        counts = block.counts
        there = counts.data != 0
        new = there & ~self._as_wide_as(block)[counts.indices]
        terms, new_terms = (np.diff(np.append(0, np.cumsum(what))[counts.indptr]) for what in (there, new))
        return new_terms / np.maximum(terms, 1)

    def _as_wide_as(self, block: DocumentBlock) -> BoolArray:
        """Return which terms were seen, with room for all terms of the block."""
        missing = max(0, block.counts.shape[1] - len(self._seen))
        return np.append(self._seen, np.zeros(missing, dtype=bool))
