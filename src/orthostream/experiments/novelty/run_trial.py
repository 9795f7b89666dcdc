"""Run one detector over the stream of a trial."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.experiments.novelty.novelty_method import NoveltyMethod, score_then_learn
from orthostream.experiments.novelty.past_weighting import PastWeighting
from orthostream.novelty.block import DocumentBlock, SparseMatrix


class ScoredTrial(NamedTuple):
    """The scores of all documents in the order of the stream, and the processor time that the detector took."""

    scores: FloatArray
    seconds: float


def run_trial(
    method: NoveltyMethod, counts: SparseMatrix, batch_size: int, group: int | None = None, seed: int = 0
) -> ScoredTrial:
    """Score each block of documents against those before it, then learn it.

    Parameters
    ----------
    method : NoveltyMethod
    counts : CSR array (n_documents, n_terms)
        In the order in which documents arrive.
    batch_size : int
        Documents that are learnt at once.
    group : int, optional
        Documents that are scored before any of them is learnt, by default ``batch_size``.
    seed : int
    """
    detector = method.start(seed)
    weighting = PastWeighting(counts.shape[1])
    scores, spent = [], _Stopwatch()

    def weighted(start: int, stop: int) -> DocumentBlock:
        some = counts[start:stop]
        with spent if method.reads_weights else _Stopwatch():
            return weighting.block(some)

    def counted(block: DocumentBlock) -> None:
        with spent if method.reads_weights else _Stopwatch():
            weighting.count(block.counts)

    n_documents, size = counts.shape[0], batch_size if group is None else group
    for start in range(0, n_documents, size):
        stop = min(start + size, n_documents)
        block = weighted(start, stop)
        if group is None:
            with spent:
                found = score_then_learn(detector, block)
            counted(block)
        else:
            with spent:
                found = detector.score(block)
            for first in range(start, stop, batch_size):
                part = weighted(first, min(first + batch_size, stop))
                with spent:
                    detector.learn(part)
                counted(part)
        scores.append(_checked(found, method.name, stop - start))
    return ScoredTrial(np.concatenate(scores), spent.seconds)


class _Stopwatch:
    """Adds up the processor time of the blocks of code inside ``with``."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._start = time.process_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._start


def _checked(scores: FloatArray, name: str, count: int) -> FloatArray:
    """Return the scores of a block if there is one finite number for each document."""
    found = np.asarray(scores, dtype=float)
    if found.shape != (count,) or not np.isfinite(found).all():
        what = f"shape {found.shape}" if found.shape != (count,) else "values that are not finite"
        raise ValueError(f"{name} must return {count} finite scores for a block of {count} documents, got {what}.")
    return found
