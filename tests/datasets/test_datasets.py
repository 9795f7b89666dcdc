"""The synthetic streams."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.datasets import make_bernoulli_gaussian, make_sparse_component


def test_bernoulli_gaussian() -> None:
    data = make_bernoulli_gaussian(40_000, 6, sparsity=0.25, random_state=0)
    np.testing.assert_allclose(data.components @ data.components.T, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(data.samples @ data.components.T, data.codes, atol=1e-12)
    assert np.mean(data.codes != 0) == pytest.approx(0.25, abs=0.01)
    assert np.var(data.codes[data.codes != 0]) == pytest.approx(1.0, abs=0.03)
    same = make_bernoulli_gaussian(40_000, 6, sparsity=0.25, random_state=0)
    np.testing.assert_array_equal(same.samples, data.samples)
    assert np.abs(make_bernoulli_gaussian(4, 6, random_state=1).components - data.components).max() > 0.1


def test_dictionaries_are_drawn_uniformly() -> None:
    draws = np.stack([make_bernoulli_gaussian(1, 2, random_state=seed).components for seed in range(600)])
    assert np.abs(draws.mean(axis=0)).max() < 0.1
    assert np.mean(np.linalg.det(draws) > 0) == pytest.approx(0.5, abs=0.08)


def test_sparse_component() -> None:
    data = make_sparse_component(60_000, 5, n_nonzero=2, variance=100.0, random_state=0)
    covariance = np.eye(5) + 99.0 * np.outer(data.component, data.component)
    np.testing.assert_allclose(np.cov(data.samples.T), covariance, atol=1.5)
    assert np.count_nonzero(data.component) == 2
    assert np.linalg.norm(data.component) == pytest.approx(1.0)


def test_bad_parameters() -> None:
    with pytest.raises(ValueError, match="sparsity"):
        make_bernoulli_gaussian(sparsity=0.0)
    with pytest.raises(ValueError, match="n_nonzero"):
        make_sparse_component(n_nonzero=0)
