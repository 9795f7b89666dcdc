"""Tracked principal components: what a document has outside of them."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.rivals.rival import Rival
from orthostream.novelty.rivals.seen_columns import SeenColumns

_NEGLIGIBLE = 1e-8
_WORST_CONDITION = 1e4


class IncrementalPCAResidual(Rival):
    """The energy of a document outside of principal components that are updated with each block.

    scikit-learn's IncrementalPCA takes dense rows only. This is the same update for sparse rows: the leading singular
    vectors of the diagonal of singular values stacked on the new rows (Brand, 2006; Ross et al., 2008). It is exact up
    to the truncation after each block. Rows are not centred, which would make them dense and matters little as their
    mean is the first component.

    Two identities make it fast. New directions come from the Gram matrix of the residuals, which has one row for each
    document. The components V are kept as a product W C with a small C, so that a rotation costs nothing and a block
    changes only the rows of W of its own terms. C is multiplied out when the number of components grows, or when C
    becomes ill-conditioned.

    Parameters
    ----------
    n_components : int, default 100

    Examples
    --------
    >>> from scipy import sparse
    >>> known, new = sparse.csr_array([[0.6, 0.8, 0.0]]), sparse.csr_array([[0.0, 0.0, 1.0]])
    >>> rival = IncrementalPCAResidual(n_components=1)
    >>> rival.learn(DocumentBlock(known, known))
    >>> [rival.score(DocumentBlock(rows, rows)).round(6).item() for rows in (known, new)]
    [0.0, 1.0]
    """

    def __init__(self, n_components: int = 100) -> None:
        self.n_components = _checks.integer("n_components", n_components)
        self.seen = SeenColumns()
        self._sizes: FloatArray = np.zeros(0)
        self._terms: FloatArray = np.zeros((0, 0))
        self._rotation: FloatArray = np.zeros((0, 0))

    @property
    def name(self) -> str:
        return "incremental PCA residual"

    def learn(self, block: DocumentBlock) -> None:
        self.seen.add(block.rows)
        rows = self.seen.select(block.rows).astype(float)
        terms = np.zeros((len(self.seen), self._terms.shape[1]))
        terms[: len(self._terms)] = self._terms
        codes = rows @ terms @ self._rotation
        # The rows are codes V' + factor Q', with Q' = whiten' (rows - codes V') orthonormal.
        energies, vectors = linalg.eigh((rows @ rows.T).toarray() - codes @ codes.T)
        kept = energies > _NEGLIGIBLE
        lengths, vectors = np.sqrt(energies[kept]), vectors[:, kept]
        stacked = np.block(
            [[np.diag(self._sizes), np.zeros((len(self._sizes), len(lengths)))], [codes, vectors * lengths]]
        )
        squares, directions = linalg.eigh(stacked.T @ stacked)
        count = min(self.n_components, int(np.count_nonzero(squares > _NEGLIGIBLE)))
        squares, directions = squares[::-1][:count], directions[:, ::-1][:, :count]
        from_rows = (vectors / lengths) @ directions[len(self._sizes) :]
        turn = directions[: len(self._sizes)] - codes.T @ from_rows
        self._sizes = np.sqrt(squares)
        self._store(terms, self._rotation @ turn, rows.T @ from_rows)

    def _store(self, terms: FloatArray, rotation: FloatArray, added: FloatArray) -> None:
        """Keep the components ``terms @ rotation + added``."""
        square = rotation.shape[0] == rotation.shape[1] > 0
        if square and np.linalg.cond(rotation) < _WORST_CONDITION:
            touched = np.flatnonzero(added.any(axis=1))
            terms[touched] += linalg.solve(rotation.T, added[touched].T).T
            self._terms, self._rotation = terms, rotation
            return
        components = terms @ rotation + added
        # Rounding errors add up; this makes the components orthonormal again.
        lower = linalg.cholesky(components.T @ components, lower=True)
        self._terms = linalg.solve_triangular(lower, components.T, lower=True).T
        self._rotation = np.eye(components.shape[1])

    def _has_learnt(self) -> bool:
        return len(self._sizes) > 0

    def _scores(self, block: DocumentBlock) -> FloatArray:
        codes = self.seen.select(block.rows) @ self._terms @ self._rotation
        scores: FloatArray = np.clip(1.0 - np.square(codes).sum(axis=1), 0.0, 1.0)
        return scores
