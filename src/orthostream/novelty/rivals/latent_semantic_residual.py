"""Latent semantic analysis: what a document has outside of the leading singular vectors of the past."""

from __future__ import annotations

import numpy as np
from sklearn.utils.extmath import randomized_svd

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.block import DocumentBlock, SparseMatrix
from orthostream.novelty.rivals.refitted import Refitted

_NEGLIGIBLE = 1e-5


class LatentSemanticResidual(Refitted):
    """The energy of a document outside of a truncated singular value decomposition of all the past.

    The decomposition is that of scikit-learn's TruncatedSVD with its default settings, repeated after the first block
    and then every 500 documents. A document in terms that were not there at the last fit scores 1, as does an empty
    one.

    Parameters
    ----------
    n_components : int, default 100
    every : int, default 500
        Documents between two fits.
    random_state : int, default 0

    Examples
    --------
    >>> from scipy import sparse
    >>> known, new = sparse.csr_array([[0.6, 0.8, 0.0]]), sparse.csr_array([[0.0, 0.0, 1.0]])
    >>> rival = LatentSemanticResidual(n_components=1)
    >>> rival.learn(DocumentBlock(known, known))
    >>> [rival.score(DocumentBlock(rows, rows)).round(6).item() for rows in (known, new)]
    [0.0, 1.0]
    """

    def __init__(self, n_components: int = 100, every: int = 500, random_state: int = 0) -> None:
        super().__init__(every, window=None)
        self.n_components = _checks.integer("n_components", n_components)
        self.random_state = random_state
        self._components: FloatArray | None = None

    @property
    def name(self) -> str:
        return "LSA residual, refitted"

    def _has_learnt(self) -> bool:
        return self._components is not None

    def _fit(self, past: SparseMatrix) -> None:
        if past.nnz == 0:
            return
        count = min(self.n_components, *past.shape)
        _, sizes, components = randomized_svd(past, count, n_iter=5, random_state=self.random_state)
        # Vectors of vanishing singular values are arbitrary, and say nothing about the past.
        self._components = np.ascontiguousarray(components[sizes > _NEGLIGIBLE * sizes[0]].T)

    def _scores(self, block: DocumentBlock) -> FloatArray:
        assert self._components is not None
        codes = self._known(block.rows) @ self._components
        scores: FloatArray = np.clip(1.0 - np.square(codes).sum(axis=1, dtype=float), 0.0, 1.0)
        return scores
