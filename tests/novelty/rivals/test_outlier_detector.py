"""scikit-learn's detectors in blocks: what they are fitted on, and when."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from orthostream.novelty.rivals import OutlierDetector


def detector(kind: str) -> Any:
    if kind == "lof":
        return LocalOutlierFactor(n_neighbors=20, metric="cosine", novelty=True)
    return IsolationForest(random_state=0)


@pytest.mark.parametrize("kind", ["lof", "forest"])
def test_scores_are_those_of_scikit_learn_on_the_last_documents(kind: str, topical: Any) -> None:
    rival, pasts, block = OutlierDetector(kind, every=100, window=150), [], topical()
    for _ in range(3):
        learnt = topical(100)
        pasts.append(learnt.rows)
        rival.learn(learnt)
    last = rival.seen.select(sparse.vstack(pasts).tocsr())[-150:].astype(np.float32)
    known = rival.seen.select(block.rows)
    with_rest = sparse.hstack([last, sparse.csr_array((150, 1))], format="csr")
    asked = sparse.hstack([known, np.sqrt(np.maximum(0.0, 1.0 - known.power(2).sum(axis=1)))[:, None]], format="csr")
    theirs = detector(kind).fit(_short(with_rest))
    np.testing.assert_allclose(rival.score(block), -theirs.score_samples(_short(asked)), rtol=1e-5)


def _short(matrix: Any) -> Any:
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


@pytest.mark.parametrize("kind", ["lof", "forest"])
def test_it_is_fitted_at_first_and_then_every_so_often(kind: str, topical: Any) -> None:
    rival, block, scores = OutlierDetector(kind, every=100), topical(), []
    for _ in range(6):
        rival.learn(topical(40))
        scores.append(rival.score(block))
    changes = [not np.array_equal(one, other) for one, other in pairwise(scores)]
    assert changes == [False, False, True, False, False]


def test_the_forest_depends_on_its_seed_alone(topical: Any) -> None:
    past, block, found = topical(200), topical(), []
    for seed in (0, 0, 1):
        rival = OutlierDetector("forest", random_state=seed)
        rival.learn(past)
        found.append(rival.score(block))
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
