"""Sparse principal components, section V-D."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream import StreamingSparsePCA
from orthostream.datasets import make_sparse_component


def learn(n_features: int, n_nonzero: int, batch: int, steps: int, seed: int = 0, **words: float) -> float:
    data = make_sparse_component(batch * steps, n_features, n_nonzero=n_nonzero, random_state=seed)
    learner = StreamingSparsePCA(random_state=seed, **words)
    for start in range(0, batch * steps, batch):
        learner.partial_fit(data.samples[start : start + batch])
    return abs(1.0 - abs(float(learner.components_[0] @ data.component)))


@pytest.mark.parametrize(("n_features", "batch", "n_nonzero"), [(10, 10, 3), (50, 10, 5), (50, 1, 5), (100, 10, 10)])
def test_finds_the_planted_component(n_features: int, batch: int, n_nonzero: int) -> None:
    assert np.mean([learn(n_features, n_nonzero, batch, 1000, seed) for seed in range(3)]) < 0.01


def test_error_falls_along_the_stream() -> None:
    early, late = (np.mean([learn(30, 5, 10, steps, seed) for seed in range(5)]) for steps in (30, 1500))
    assert late < early / 5


def test_penalty_shrinks_small_entries() -> None:
    rng = np.random.default_rng(0)
    direction = np.array([1.0, 1.0, 0.15, 0.15, 0.0, 0.0])
    direction /= np.linalg.norm(direction)
    rows = np.outer(rng.standard_normal(20_000), direction) * 2 + 0.1 * rng.standard_normal((20_000, 6))
    small = {}
    for penalty in (0.0, 1.0):
        learner = StreamingSparsePCA(penalty=penalty, mu=0.02, batch_size=10, random_state=0).partial_fit(rows)
        small[penalty] = np.abs(learner.components_[0, 2:]).max()
    assert small[1.0] < 0.3 * small[0.0]


def test_several_components_are_those_of_pca_without_a_penalty() -> None:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    rows = (rng.standard_normal((40_000, 8)) * np.array([8, 5, 3, 1, 1, 1, 1, 1])) @ axes.T
    learner = StreamingSparsePCA(3, penalty=0.0, batch_size=20, random_state=0).partial_fit(rows)
    assert (np.abs(np.diagonal(learner.components_ @ axes[:, :3])) > 0.98).all()
    assert learner.inverse_transform(learner.transform(rows[:4])).shape == (4, 8)


@pytest.mark.parametrize("words", [{"n_components": 0}, {"init": "data"}, {"init": np.ones((2, 6))}, {"mu": 0.0}])
def test_bad_words(words: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be"):
        StreamingSparsePCA(**words).fit(np.eye(6))
