"""The distance to the nearest documents of the past: the standard detector of first stories."""

from __future__ import annotations

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.past_rows import PastRows, cosines
from orthostream.novelty.rivals.rival import Rival

_AT_ONCE = 128
_GROUP = 32


class NearestNeighbours(Rival):
    """One minus the mean cosine to the k nearest documents of the past.

    The search is exhaustive, in single precision: scores are exact to about 1e-6. Each part of up to 128 documents is
    multiplied as a dense matrix over the few terms it touches, which takes a quarter of the time of a product of sparse
    matrices.

    Parameters
    ----------
    k : int, default 1
        Fewer neighbours are used while the past has fewer documents.
    ring : int, optional
        Compare with the last ``ring`` documents only. None means with all the past.

    Examples
    --------
    >>> from scipy import sparse
    >>> block = DocumentBlock(*2 * [sparse.csr_array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]])])
    >>> rival = NearestNeighbours()
    >>> rival.learn(block)
    >>> rival.score(DocumentBlock(*2 * [sparse.csr_array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])])).round(6).tolist()
    [0.4, 0.0]
    """

    def __init__(self, k: int = 1, ring: int | None = None) -> None:
        self.k = _checks.integer("k", k)
        self.ring = _checks.optional_integer("ring", ring)
        self.past = PastRows(most=ring)

    @property
    def name(self) -> str:
        return f"{self.k}-NN, " + ("all the past" if self.ring is None else f"last {self.ring:,}")

    def learn(self, block: DocumentBlock) -> None:
        self.past.append(block.rows)

    def _has_learnt(self) -> bool:
        return len(self.past) > 0

    def _scores(self, block: DocumentBlock) -> FloatArray:
        past, rows = self.past.matrix(), block.rows
        parts = [rows[start : start + _AT_ONCE] for start in range(0, rows.shape[0], _AT_ONCE)]
        nearest = [_mean_of_largest(cosines(past, part), self.k) for part in parts]
        scores: FloatArray = np.maximum(0.0, 1.0 - np.concatenate(nearest))
        return scores


def _mean_of_largest(values: FloatArray, k: int) -> FloatArray:
    """Return the mean of the k largest numbers of each column."""
    count = min(k, len(values))
    if count == 1:
        nearest: FloatArray = values.max(axis=0).astype(float)
        return nearest
    # The k largest numbers lie in the k groups of rows with the largest maxima, so that only those need sorting.
    whole = len(values) // _GROUP * _GROUP
    groups = values[:whole].reshape(-1, _GROUP, values.shape[1])
    if len(groups) > count:
        best = np.argpartition(groups.max(axis=1), len(groups) - count, axis=0)[-count:]
        inside = groups[best, :, np.arange(values.shape[1])].transpose(0, 2, 1).reshape(-1, values.shape[1])
        values = np.concatenate([inside, values[whole:]])
    means: FloatArray = np.partition(values, len(values) - count, axis=0)[-count:].mean(axis=0, dtype=float)
    return means
