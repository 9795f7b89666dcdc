"""The Beta-Bernoulli dictionary as an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthostream.baselines import BetaBernoulliDictionaryLearning, OfflinePCA
from orthostream.datasets import make_bernoulli_gaussian


@pytest.fixture(scope="module")
def noisy() -> np.ndarray:
    data = make_bernoulli_gaussian(600, 6, random_state=0)
    samples: np.ndarray = data.samples + 0.05 * np.random.default_rng(0).standard_normal((600, 6))
    return samples


def test_the_truth_is_found(noisy: np.ndarray) -> None:
    truth = make_bernoulli_gaussian(600, 6, random_state=0).components
    learner = BetaBernoulliDictionaryLearning(12, n_sweeps=100, init="data", random_state=0).fit(noisy)
    assert np.abs(learner.components_ @ truth.T).max(axis=0).min() > 0.99
    np.testing.assert_allclose(np.linalg.norm(learner.components_, axis=1), 1.0)
    assert learner.probabilities_.shape == (len(learner.components_),)


def test_the_trace(noisy: np.ndarray) -> None:
    learner = BetaBernoulliDictionaryLearning(12, n_sweeps=100, init="data", random_state=0).fit(noisy)
    trace = learner.trace_
    assert set(trace) == {"noise_precision", "active_atoms", "rmse"}
    assert all(curve.shape == (100,) for curve in trace.values())
    assert trace["rmse"][-1] < 0.5 * trace["rmse"][0]
    assert trace["noise_precision"][-1] ** -0.5 == pytest.approx(0.05, rel=0.2)
    assert trace["active_atoms"][-1] == pytest.approx(0.3 * 6, abs=0.6)


def test_units_do_not_matter(noisy: np.ndarray) -> None:
    parameters: dict[str, Any] = {"n_sweeps": 5, "random_state": 0}
    plain = BetaBernoulliDictionaryLearning(9, **parameters).fit(noisy)
    scaled = BetaBernoulliDictionaryLearning(9, **parameters).fit(noisy * 1024.0)
    np.testing.assert_allclose(scaled.components_, plain.components_)
    np.testing.assert_allclose(scaled.trace_["rmse"], 1024.0 * plain.trace_["rmse"])
    np.testing.assert_allclose(scaled.trace_["noise_precision"], plain.trace_["noise_precision"] / 1024.0**2)


def test_the_prior_is_an_eighth_of_the_samples(noisy: np.ndarray) -> None:
    parameters: dict[str, Any] = {"n_sweeps": 3, "random_state": 0}
    default = BetaBernoulliDictionaryLearning(9, **parameters).fit(noisy)
    given = BetaBernoulliDictionaryLearning(9, a0=75, b0=75.0, **parameters).fit(noisy)
    other = BetaBernoulliDictionaryLearning(9, a0=1e-3, b0=75.0, **parameters).fit(noisy)
    np.testing.assert_array_equal(default.components_, given.components_)
    assert other.trace_["active_atoms"][-1] != default.trace_["active_atoms"][-1]


@pytest.mark.parametrize("init", ["svd", "data", "random"])
def test_starts(init: str, noisy: np.ndarray) -> None:
    for count in (2, 9):
        learner = BetaBernoulliDictionaryLearning(count, n_sweeps=1, init=init, random_state=0)
        start = learner._first_draw(noisy, np.random.RandomState(0)).atoms
        assert start.shape == (count, 6)
        if init == "svd":
            axes = OfflinePCA().fit(noisy).components_[:count]
            np.testing.assert_allclose(np.abs((start[:6] * axes).sum(axis=1)), 1.0)
        if init == "data":
            cosines = start @ noisy.T / np.linalg.norm(noisy, axis=1)
            np.testing.assert_allclose(cosines.max(axis=1), 1.0)


def test_callbacks_are_told_and_may_stop(noisy: np.ndarray) -> None:
    seen: list[tuple[int, dict[str, float]]] = []

    def note(sweep: int, measures: dict[str, float]) -> Any:
        seen.append((sweep, measures))
        return sweep == 4

    learner = BetaBernoulliDictionaryLearning(9, n_sweeps=10, random_state=0, callbacks=[note]).fit(noisy)
    assert [sweep for sweep, _ in seen] == [1, 2, 3, 4]
    np.testing.assert_array_equal([measures["rmse"] for _, measures in seen], learner.trace_["rmse"])


def test_atoms_that_no_sample_uses_are_left_out() -> None:
    rows = np.outer(np.random.default_rng(0).standard_normal(200), [1.0, 2.0, -1.0])
    learner = BetaBernoulliDictionaryLearning(20, a0=1e-3, b0=200.0, n_sweeps=30, random_state=0).fit(rows)
    assert len(learner.components_) < 20
    nothing = BetaBernoulliDictionaryLearning(20, n_sweeps=3, random_state=0).fit(np.zeros((30, 3)))
    assert len(nothing.components_) >= 1


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": None}, ValueError, "n_components must be a positive integer"),
        ({"n_sweeps": 0}, ValueError, "n_sweeps must be"),
        ({"init": "pca"}, ValueError, "init must be"),
        ({"a0": 0.0}, ValueError, "a0 must be positive and finite"),
        ({"b0": "big"}, ValueError, "b0 must be positive and finite"),
        ({"callbacks": print}, TypeError, "sequence of functions"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], error: type[Exception], message: str, noisy: np.ndarray) -> None:
    with pytest.raises(error, match=message):
        BetaBernoulliDictionaryLearning(**parameters).fit(noisy)
