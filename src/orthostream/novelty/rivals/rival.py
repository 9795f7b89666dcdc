"""What all rivals have in common: they score a block of documents against the past, then learn it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from orthostream._typing import FloatArray
from orthostream.novelty.block import DocumentBlock


class Rival(ABC):
    """A detector of novel documents to compare with.

    Blocks may grow wider as the vocabulary grows; a term keeps its column.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """A short name for tables."""

    @abstractmethod
    def learn(self, block: DocumentBlock) -> None:
        """Add the documents of a block to the past."""

    def score(self, block: DocumentBlock) -> FloatArray:
        """Return one finite number for each document, higher for a more novel one, without learning anything.

        Before anything was learnt, all scores are 1.
        """
        if block.rows.shape[0] == 0 or not self._has_learnt():
            return np.ones(block.rows.shape[0])
        return self._scores(block)

    @abstractmethod
    def _has_learnt(self) -> bool:
        """Whether there is anything to compare with."""

    @abstractmethod
    def _scores(self, block: DocumentBlock) -> FloatArray:
        """Return the scores of one document or more, once something was learnt."""
