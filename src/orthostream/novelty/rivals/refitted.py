"""Rivals that do not learn online: they keep documents, and are fitted anew from time to time."""

from __future__ import annotations

from abc import abstractmethod

from orthostream import _checks
from orthostream.novelty.block import DocumentBlock, SparseMatrix
from orthostream.novelty.past_rows import PastRows
from orthostream.novelty.rivals.rival import Rival
from orthostream.novelty.rivals.seen_columns import SeenColumns


class Refitted(Rival):
    """Fits the documents of the past after the first block, then after every so many documents.

    Parameters
    ----------
    every : int
        Documents between two fits.
    window : int or None
        How many documents are fitted, the last ones. None means all the past.
    """

    def __init__(self, every: int, window: int | None) -> None:
        self.every = _checks.integer("every", every)
        self.past = PastRows(most=window)
        self.seen = SeenColumns()
        self._fitted_columns = 0
        self._waiting = 0

    def learn(self, block: DocumentBlock) -> None:
        self.seen.add(block.rows)
        self.past.append(self.seen.select(block.rows))
        self._waiting += block.rows.shape[0]
        if self._waiting >= self.every or not self._has_learnt():
            self._fit(self.past.matrix())
            self._fitted_columns = len(self.seen)
            self._waiting = 0

    def _known(self, rows: SparseMatrix) -> SparseMatrix:
        """Return the rows over the columns that were there at the last fit."""
        known: SparseMatrix = self.seen.select(rows)[:, : self._fitted_columns]
        return known

    @abstractmethod
    def _fit(self, past: SparseMatrix) -> None:
        """Fit these rows. If they are too few, nothing happens."""
