"""What documents have outside of a subspace: refitted, and tracked."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.rivals import IncrementalPCAResidual, LatentSemanticResidual


def outside(components: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the energy of unit rows outside of orthonormal components."""
    energies: np.ndarray = np.square(rows).sum(axis=1) - np.square(rows @ components.T).sum(axis=1)
    return energies


def exact(rows: np.ndarray, count: int) -> np.ndarray:
    return np.linalg.svd(rows, full_matrices=False)[2][:count]


def part(block: DocumentBlock, start: int, stop: int) -> DocumentBlock:
    return DocumentBlock(block.counts[start:stop], block.rows[start:stop])


@pytest.mark.parametrize("count", [1, 4, 10])
def test_lsa_is_a_truncated_svd_of_the_past(count: int, topical: Any) -> None:
    past, block = topical(300), topical()
    rival = LatentSemanticResidual(count, every=100)
    rival.learn(past)
    expected = outside(exact(past.rows.toarray(), count), block.rows.toarray())
    np.testing.assert_allclose(rival.score(block), expected, atol=2e-3)
    theirs = TruncatedSVD(count, random_state=0).fit(past.rows)
    np.testing.assert_allclose(rival.score(block), outside(theirs.components_, block.rows.toarray()), atol=2e-3)


def test_lsa_is_fitted_at_first_and_then_every_so_often(topical: Any) -> None:
    rival, block = LatentSemanticResidual(4, every=100), topical()
    scores, pasts = [], []
    for _ in range(6):
        learnt = topical(40)
        pasts.append(learnt.rows)
        rival.learn(learnt)
        scores.append(rival.score(block))
    changes = [not np.array_equal(one, other) for one, other in pairwise(scores)]
    assert changes == [False, False, True, False, False]  # after 40 documents, then after 160
    past = sparse.vstack(pasts[:4]).toarray()
    np.testing.assert_allclose(scores[-1], outside(exact(past, 4), block.rows.toarray()), atol=2e-3)


def test_lsa_of_few_documents_keeps_what_they_span(topical: Any) -> None:
    rival, past = LatentSemanticResidual(100), topical(5)
    rival.learn(past)
    np.testing.assert_allclose(rival.score(past), 0.0, atol=1e-5)
    block = topical()
    rank = np.linalg.matrix_rank(past.rows.toarray())
    expected = outside(exact(past.rows.toarray(), rank), block.rows.toarray())
    np.testing.assert_allclose(rival.score(block), expected, atol=1e-5)


def test_lsa_depends_on_its_seed_alone(topical: Any) -> None:
    past, block = topical(300), topical()
    found = []
    for seed in (0, 0, 1):
        rival = LatentSemanticResidual(3, random_state=seed)
        rival.learn(past)
        found.append(rival.score(block))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2], atol=2e-3)


@pytest.mark.parametrize("sizes", [[60, 60, 60], [1] * 50, [3, 100, 1, 1, 20]])
def test_tracked_components_are_exact_while_nothing_is_cut_off(sizes: list[int], topical: Any) -> None:
    rival, block, past = IncrementalPCAResidual(100), topical(), np.zeros((0, 40))
    for size in sizes:
        learnt = topical(size)
        past = np.vstack([past, learnt.rows.toarray()])
        rival.learn(learnt)
        expected = outside(exact(past, np.linalg.matrix_rank(past, tol=1e-6)), block.rows.toarray())
        np.testing.assert_allclose(rival.score(block), expected, atol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 6])
@pytest.mark.parametrize("size", [1, 7, 60])
def test_tracked_components_are_those_of_the_dense_update(count: int, size: int, topical: Any) -> None:
    rival, block = IncrementalPCAResidual(count), topical()
    sizes, components = np.zeros(0), np.zeros((0, 40))
    for _ in range(40):
        learnt = topical(size)
        rival.learn(learnt)
        stacked = np.vstack([sizes[:, None] * components, learnt.rows.toarray()])
        _, sizes, components = np.linalg.svd(stacked, full_matrices=False)
        kept = sizes > 1e-4
        sizes, components = sizes[kept][:count], components[kept][:count]
    np.testing.assert_allclose(rival.score(block), outside(components, block.rows.toarray()), atol=1e-6)


def test_tracked_components_stay_orthonormal_over_a_long_stream(topical: Any) -> None:
    rival = IncrementalPCAResidual(5)
    for number in range(300):
        rival.learn(topical(8, terms=40 + number))
    unit = DocumentBlock(*2 * [sparse.csr_array(np.eye(400))])
    # The energies of all unit vectors inside of the components add up to their number.
    assert (1.0 - rival.score(unit)).sum() == pytest.approx(5.0, abs=1e-6)


def test_tracked_components_are_near_those_of_all_the_past(topical: Any) -> None:
    rival, past, block = IncrementalPCAResidual(6), topical(1000), topical(200)
    for start in range(0, 1000, 50):
        rival.learn(part(past, start, start + 50))
    expected = outside(exact(past.rows.toarray(), 6), block.rows.toarray())
    assert np.abs(rival.score(block) - expected).mean() < 0.02
