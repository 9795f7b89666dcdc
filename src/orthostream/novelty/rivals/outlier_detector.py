"""scikit-learn's general detectors of outliers, fitted anew from time to time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.block import DocumentBlock, SparseMatrix
from orthostream.novelty.rivals.refitted import Refitted

_NAMES = {"lof": "LocalOutlierFactor", "forest": "IsolationForest"}


class OutlierDetector(Refitted):
    """LocalOutlierFactor or IsolationForest on the last documents, refitted after the first block and then regularly.

    Both have scikit-learn's default settings, and take the sparse rows as they are; LocalOutlierFactor compares them by
    cosine.

    Parameters
    ----------
    kind : {"lof", "forest"}
    every : int, default 500
        Documents between two fits.
    window : int, default 2000
        How many documents are fitted, the last ones.
    random_state : int, default 0
        Only the forest draws random numbers.

    Examples
    --------
    >>> from scipy import sparse
    >>> known = sparse.csr_array(np.repeat([[0.6, 0.8, 0.0], [0.8, 0.6, 0.0]], 30, axis=0))
    >>> new = sparse.csr_array([[0.0, 0.0, 1.0], [0.6, 0.8, 0.0]])
    >>> rival = OutlierDetector("lof")
    >>> rival.learn(DocumentBlock(known, known))
    >>> rival.score(DocumentBlock(new, new)).argmax().item()
    0
    """

    def __init__(self, kind: str = "lof", every: int = 500, window: int = 2000, random_state: int = 0) -> None:
        super().__init__(every, window)
        self.kind = _checks.one_of("kind", kind, _NAMES)
        self.random_state = random_state
        self._detector: Any = None

    @property
    def name(self) -> str:
        return _NAMES[self.kind]

    def _has_learnt(self) -> bool:
        return self._detector is not None

    def _fit(self, past: SparseMatrix) -> None:
        count = past.shape[0]
        if count < 2 or past.nnz == 0:
            return
        if self.kind == "lof":
            detector = LocalOutlierFactor(n_neighbors=min(20, count - 1), metric="cosine", novelty=True)
        else:
            detector = IsolationForest(random_state=self.random_state)
        self._detector = detector.fit(_with_rest(past, np.zeros(count)))

    def _scores(self, block: DocumentBlock) -> FloatArray:
        known = self._known(block.rows)
        scores: FloatArray = -self._detector.score_samples(_with_rest(known, _rest(block.rows, known)))
        return scores


def _rest(rows: SparseMatrix, known: SparseMatrix) -> FloatArray:
    """Return the length of the part of each row that is not among the known columns."""
    squares: Any = rows.power(2).sum(axis=1) - known.power(2).sum(axis=1)
    lengths: FloatArray = np.sqrt(np.maximum(0.0, squares))
    return lengths


def _with_rest(known: SparseMatrix, rest: FloatArray) -> SparseMatrix:
    """Return the rows with one more column, for terms that were not there at the fit: cosines need their length."""
    both: Any = sparse.hstack([known, sparse.csr_array(rest[:, None])], format="csr")
    # scikit-learn's trees take short indices only.
    both.indices, both.indptr = both.indices.astype(np.int32), both.indptr.astype(np.int32)
    wider: SparseMatrix = both
    return wider
