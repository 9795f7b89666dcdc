"""A protocol turns a collection into trials: documents in some order, and which of them a detector should find."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, IntArray
from orthostream.experiments.novelty.collection import Collection


class Judgement(NamedTuple):
    """Which documents of a trial are novel, and which of all documents count.

    Attributes
    ----------
    setting : str
        A short name for tables.
    novel, judged : bool arrays (n_documents,)
        In the order of the trial.
    """

    setting: str
    novel: BoolArray
    judged: BoolArray

    def check(self, remedy: str) -> Judgement:
        """Return the judgement if it has documents of both kinds."""
        novel = self.novel[self.judged]
        if novel.all() or not novel.any():
            found = f"{np.count_nonzero(novel)} novel documents of {len(novel)} that are judged"
            raise ValueError(f"{self.setting}: there must be novel documents and others, got {found}: {remedy}.")
        return self


class Trial(NamedTuple):
    """One run of the stream.

    Attributes
    ----------
    order : int array (n_documents,)
        The documents of the collection in the order in which they arrive.
    group : int or None
        How many documents are scored before any of them is learnt; None means as many as are learnt at once.
    judgements : tuple of Judgement
    """

    order: IntArray
    group: int | None
    judgements: tuple[Judgement, ...]


class NoveltyTrials(ABC):
    """What decides the order of documents and which of them are novel."""

    #: Whether seeds give different trials. If not, they matter only to methods that draw random numbers.
    is_random: bool

    @abstractmethod
    def trial(self, collection: Collection, seed: int) -> Trial:
        """Return the trial of this seed."""


def ranks(topics: IntArray | BoolArray) -> IntArray:
    """Return how many earlier documents have the topic of each.

    >>> ranks(np.array(["a", "b", "a", "a", "b"])).tolist()
    [0, 0, 1, 2, 1]
    """
    order = np.argsort(topics, kind="stable")
    _, starts, sizes = np.unique(topics[order], return_index=True, return_counts=True)
    found = np.empty(len(topics), dtype=np.int64)
    found[order] = np.arange(len(topics)) - np.repeat(starts, sizes)
    return found
