"""A detector that can take part in a comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from orthostream._typing import FloatArray
from orthostream.novelty import NovelDocumentDetector
from orthostream.novelty.block import DocumentBlock, SparseMatrix


class BlockDetector(Protocol):
    """What a detector must be able to do, as all of `orthostream.novelty.rivals` are."""

    def score(self, block: DocumentBlock) -> FloatArray:
        """Return a number for each document, higher for a more novel one, without learning."""

    def learn(self, block: DocumentBlock) -> None:
        """Learn the documents of a block."""


class NoveltyMethod(NamedTuple):
    """A detector with the name that tables show.

    Attributes
    ----------
    name : str
    make : callable
        Returns a new `BlockDetector`; called with ``random_state=seed`` if the method is random, else without anything.
    is_random : bool
        Whether it draws random numbers.
    reads_weights : bool
        Whether it uses the weighted rows of a block. If so, its time includes the weighting.

    Examples
    --------
    >>> from orthostream.novelty.rivals import UnseenTerms
    >>> method = NoveltyMethod("share of unseen terms", UnseenTerms, reads_weights=False)
    >>> type(method.start(seed=3)).__name__
    'UnseenTerms'
    """

    name: str
    make: Callable[..., BlockDetector]
    is_random: bool = False
    reads_weights: bool = True

    def start(self, seed: int) -> BlockDetector:
        """Return a detector that has seen nothing."""
        return self.make(random_state=seed) if self.is_random else self.make()


class DetectorOnCounts:
    """`NovelDocumentDetector` on the counts of blocks: it has a weighting of its own.

    Parameters
    ----------
    preset : str, optional
    parameters : of the detector

    Examples
    --------
    >>> from scipy import sparse
    >>> counts = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    >>> detector = DetectorOnCounts(n_components=1, batch_size=2, random_state=0)
    >>> score_then_learn(detector, DocumentBlock(counts, counts)).tolist()
    [1.0, 1.0]
    """

    def __init__(self, preset: str | None = None, **parameters: Any) -> None:
        self.detector = (
            NovelDocumentDetector.preset(preset, **parameters) if preset else NovelDocumentDetector(**parameters)
        )
        self._has_begun = False

    def score(self, block: DocumentBlock) -> FloatArray:
        if not self._has_begun:
            # An empty block lets the detector begin; it then has nothing to compare with.
            self._learn(block.counts[:0])
        return self.detector.score(block.counts)

    def learn(self, block: DocumentBlock) -> None:
        self._learn(block.counts)

    def score_then_learn(self, block: DocumentBlock) -> FloatArray:
        """Do both at once, which takes half the time."""
        if self.detector.first_story:
            # At once, it would also compare with earlier documents of the block, which no rival sees.
            scores = self.score(block)
            self.learn(block)
            return scores
        return self._learn(block.counts)

    def _learn(self, counts: SparseMatrix) -> FloatArray:
        self._has_begun = True
        return self.detector.score_then_learn(counts)


def score_then_learn(detector: BlockDetector, block: DocumentBlock) -> FloatArray:
    """Return the scores of a block, then learn it."""
    if isinstance(detector, DetectorOnCounts):
        return detector.score_then_learn(block)
    scores = detector.score(block)
    detector.learn(block)
    return scores
