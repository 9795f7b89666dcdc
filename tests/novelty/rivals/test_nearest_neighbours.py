"""Nearest neighbours, against scikit-learn's exhaustive search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.rivals import NearestNeighbours


def expected(k: int, past: Any, rows: Any) -> np.ndarray:
    search = NearestNeighbors(n_neighbors=min(k, past.shape[0]), metric="cosine", algorithm="brute").fit(past)
    distances: np.ndarray = search.kneighbors(rows)[0].mean(axis=1)
    return distances


@pytest.mark.parametrize("k", [1, 2, 5, 7])
@pytest.mark.parametrize("n_past", [1, 4, 31, 33, 64, 500, 1003])
def test_scores_are_those_of_scikit_learn(k: int, n_past: int, topical: Any) -> None:
    rival, block = NearestNeighbours(k), topical(150)
    past = topical(n_past)
    for start in range(0, n_past, 90):
        rival.learn(DocumentBlock(past.counts[start : start + 90], past.rows[start : start + 90]))
    np.testing.assert_allclose(rival.score(block), expected(k, past.rows, block.rows), atol=2e-6)


@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("sizes", [[30] * 10, [1] * 130, [200], [60, 150, 7]])
def test_a_ring_holds_the_last_documents(k: int, sizes: list[int], topical: Any) -> None:
    rival, block, all_rows = NearestNeighbours(k, ring=100), topical(), []
    for size in sizes:
        learnt = topical(size)
        rival.learn(learnt)
        all_rows.append(learnt.rows)
        last = sparse.vstack(all_rows).tocsr()[-100:]
        assert len(rival.past) == last.shape[0]
        np.testing.assert_allclose(rival.score(block), expected(k, last, block.rows), atol=2e-6)


def test_a_ring_takes_memory_that_does_not_grow(topical: Any) -> None:
    rival = NearestNeighbours(ring=100)
    sizes = []
    for _ in range(60):
        rival.learn(topical(50))
        sizes.append(rival.past.nbytes)
    assert max(sizes[30:]) <= max(sizes[:30])


def test_equal_documents_are_not_novel_at_all(topical: Any) -> None:
    rival, block = NearestNeighbours(), topical()
    rival.learn(block)
    assert rival.score(block).min() >= 0.0
    np.testing.assert_allclose(rival.score(block), 0.0, atol=1e-6)
