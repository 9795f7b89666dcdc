"""A learner that centres its samples: the mean is right, and what it learns is that of centred samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.dictionary.centring import MEMORY_PER_ATOM, make_centre
from orthostream.dictionary.running_centre import RunningCentre
from orthostream.metrics import recovery_error

OFFSET = np.array([5.0, -3.0, 20.0, 0.0, 1.0, 0.5, -8.0, 2.0])


def learnt(rows: np.ndarray, **words: Any) -> OrthogonalDictionaryLearning:
    learner = OrthogonalDictionaryLearning(random_state=0, **words)
    for start in range(0, len(rows), 10):
        learner.partial_fit(rows[start : start + 10])
    return learner


def fresh(features: int, limit: float = 1e9) -> RunningCentre:
    return RunningCentre(np.zeros(features), np.zeros(features), limit)


@given(st.integers(0, 10**6), st.integers(1, 7), st.booleans())
@settings(max_examples=50, deadline=None)
def test_the_running_mean_is_the_mean_of_what_was_read(seed: int, size: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(3.0, 1.0, (20, 4))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    weights = rng.integers(0, 4, 20).astype(float) if weighted else np.ones(20)
    centre = fresh(4)
    for start in range(0, 20, size):
        some = slice(start, start + size)
        centre = centre.after(rows[some], weights[some] if weighted else None)
    read = ~np.isnan(rows) * weights[:, None]
    seen = read.sum(axis=0)
    expected = (np.nan_to_num(rows) * read).sum(axis=0) / np.where(seen > 0, seen, 1.0)
    np.testing.assert_allclose(centre.mean, expected, atol=1e-12)
    np.testing.assert_allclose(centre.weight, seen)


def test_a_weight_counts_like_repeated_rows() -> None:
    rows = np.random.default_rng(0).normal(size=(6, 3))
    weights = np.array([1.0, 2.0, 3.0, 0.0, 1.0, 2.0])
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    np.testing.assert_allclose(fresh(3).after(rows, weights).mean, fresh(3).after(repeated, None).mean, atol=1e-14)


def test_a_feature_that_was_never_read_keeps_a_mean_of_zero() -> None:
    centre = fresh(2).after(np.array([[1.0, np.nan], [3.0, np.nan]]), None)
    np.testing.assert_array_equal(centre.mean, [2.0, 0.0])
    np.testing.assert_array_equal(centre.after(np.array([[2.0, 7.0]]), None).mean, [2.0, 7.0])


def test_sums_that_overflow_do_not_spoil_the_mean() -> None:
    rows = np.full((4, 2), 1.7e308)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(fresh(2).after(rows, None).mean, rows[0], rtol=1e-14)


def test_it_forgets_after_a_thousand_samples_per_atom() -> None:
    centre = make_centre("running", 1, 2)
    assert isinstance(centre, RunningCentre)
    assert centre.limit == 2 * MEMORY_PER_ATOM == 2000.0
    for _ in range(1000):
        centre = centre.after(np.zeros((10, 1)), None)
    for _ in range(200):
        centre = centre.after(np.ones((10, 1)), None)
    assert centre.mean[0] == pytest.approx(1 - np.exp(-1), abs=0.01)


def test_one_mini_batch_larger_than_the_memory_is_its_own_mean() -> None:
    rows = np.random.default_rng(0).normal(size=(500, 2))
    centre = RunningCentre(np.full(2, 9.0), np.full(2, 50.0), 100.0).after(rows, None)
    np.testing.assert_allclose(centre.mean, rows.mean(axis=0))


def test_a_known_mean_is_the_same_as_centred_samples(stream: np.ndarray) -> None:
    centred, given_mean = learnt(stream), learnt(stream + OFFSET, center=OFFSET)
    # Rounding of the sum differs, and the learner follows it at the level of rounding.
    np.testing.assert_allclose(given_mean.components_, centred.components_, atol=1e-6)
    np.testing.assert_array_equal(given_mean.mean_, OFFSET)
    np.testing.assert_allclose(given_mean.transform(stream + OFFSET), centred.transform(stream), atol=1e-5)
    assert given_mean.score(stream + OFFSET) == pytest.approx(centred.score(stream), rel=1e-6)


def test_a_zero_mean_changes_no_bit(stream: np.ndarray) -> None:
    np.testing.assert_array_equal(learnt(stream, center=np.zeros(8)).components_, learnt(stream).components_)


def test_a_running_mean_recovers_a_dictionary_that_an_offset_hides() -> None:
    data = make_bernoulli_gaussian(n_samples=20_000, n_features=8, sparsity=0.3, random_state=1)
    hidden, found = learnt(data.samples + OFFSET), learnt(data.samples + OFFSET, center="running")
    assert recovery_error(found.components_, data.components) < 1e-3
    assert recovery_error(hidden.components_, data.components) > 0.05
    assert found.mean_ is not None
    np.testing.assert_allclose(found.mean_, OFFSET, atol=0.05)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_is_that_of_the_rows(stream: np.ndarray, missing: float, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    rows = np.where(rng.random(stream.shape) < missing, np.nan, stream + OFFSET)
    weights = rng.random(len(rows)) if weighted else np.ones(len(rows))
    learner = OrthogonalDictionaryLearning(center="running", batch_size=9, random_state=0)
    learner.partial_fit(rows[:99], sample_weight=weights[:99] if weighted else None)
    read = ~np.isnan(rows[:99]) * weights[:99, None]
    expected = (np.nan_to_num(rows[:99]) * read).sum(axis=0) / read.sum(axis=0)
    assert learner.mean_ is not None
    np.testing.assert_allclose(learner.mean_, expected, atol=1e-12)


def test_missing_readings_are_filled_in_around_the_mean(stream: np.ndarray) -> None:
    learner = learnt(stream + OFFSET, center="running")
    row = np.full((1, 8), np.nan)
    np.testing.assert_array_equal(learner.transform(row), np.zeros((1, 8)))
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(row))[0], learner.mean_)


def test_there_and_back(stream: np.ndarray) -> None:
    rows = stream + OFFSET
    learner = learnt(rows, center="running")
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(rows)), rows, atol=1e-10)
    single = learnt(rows.astype(np.float32), center="running")
    assert single.mean_ is not None and single.mean_.dtype == np.float32
    assert single.inverse_transform(single.transform(rows)).dtype == np.float32


def test_the_mean_before_and_without() -> None:
    assert not hasattr(OrthogonalDictionaryLearning(center="running"), "mean_")
    assert OrthogonalDictionaryLearning().partial_fit(np.eye(3)).mean_ is None


def test_the_reported_mean_is_a_copy() -> None:
    learner = OrthogonalDictionaryLearning(center=[1.0, 2.0, 3.0]).partial_fit(np.eye(3))
    assert learner.mean_ is not None
    learner.mean_[:] = 99.0
    np.testing.assert_array_equal(learner.mean_, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("center", ["running", np.zeros(8)])
def test_sparse_rows_are_refused(center: Any, stream: np.ndarray) -> None:
    rows = sparse.csr_matrix(stream)
    learner = OrthogonalDictionaryLearning(center=center, random_state=0)
    for method in (learner.fit, learner.partial_fit):
        with pytest.raises(ValueError, match="use dense rows"):
            method(rows)
    learner.partial_fit(stream)
    for method in (learner.partial_fit, learner.transform, learner.score, learner.reconstruction_error):
        with pytest.raises(ValueError, match="use dense rows"):
            method(rows)


def test_sparse_rows_that_wait_when_centring_begins_are_not_lost(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(batch_size=10, random_state=0).partial_fit(sparse.csr_matrix(stream[:15]))
    learner.set_params(center="running").partial_fit(stream[15:20])
    assert learner.n_steps_ == 2
    np.testing.assert_allclose(learner.mean_, stream[10:20].mean(axis=0))


def test_infinity_leaves_the_mean_as_it_was(stream: np.ndarray) -> None:
    learner = learnt(stream + OFFSET, center="running")
    mean, atoms = learner.mean_, learner.components_
    for value in (np.inf, -np.inf):
        rows = stream[:10].copy()
        rows[3, 2] = value
        rows[4, 2] = np.nan
        with pytest.raises(ValueError, match="infinity"):
            learner.partial_fit(rows)
    np.testing.assert_array_equal(learner.mean_, mean)
    np.testing.assert_array_equal(learner.components_, atoms)


def test_fit_starts_from_scratch(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(center="running", max_iter=1, random_state=0)
    learner.fit(stream + 100.0).fit(stream)
    np.testing.assert_allclose(learner.mean_, stream.mean(axis=0), atol=1e-12)


def test_parameters_of_a_fitted_learner(stream: np.ndarray) -> None:
    learner = learnt(stream + OFFSET, center="running")
    mean = learner.mean_
    np.testing.assert_array_equal(learner.set_params(n_nonzero=2).mean_, mean)
    np.testing.assert_array_equal(learner.set_params(center=OFFSET).mean_, OFFSET)
    np.testing.assert_array_equal(learner.set_params(center="running").mean_, OFFSET)  # until there are rows
    np.testing.assert_allclose(learner.partial_fit(stream[:10]).mean_, stream[:10].mean(axis=0), atol=1e-12)
    assert learner.set_params(center=None).mean_ is None


def test_a_saved_mean_can_be_replaced(stream: np.ndarray, tmp_path: Path) -> None:
    learner = learnt(stream + OFFSET, center="running")
    learner.save(tmp_path / "learner")
    loaded = OrthogonalDictionaryLearning.load(tmp_path / "learner", center=OFFSET)
    np.testing.assert_array_equal(loaded.mean_, OFFSET)
    assert OrthogonalDictionaryLearning.load(tmp_path / "learner", center=None).mean_ is None
    learnt(stream).save(tmp_path / "not centred")
    begun = OrthogonalDictionaryLearning.load(tmp_path / "not centred", center="running").partial_fit(stream[:10])
    np.testing.assert_allclose(begun.mean_, stream[:10].mean(axis=0), atol=1e-12)


def test_input_is_not_written_to(stream: np.ndarray) -> None:
    rows, mean = stream + OFFSET, OFFSET.copy()
    before = rows.copy()
    learnt(rows, center=mean).fit(rows).transform(rows)
    learnt(rows, center="running").transform(rows)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(mean, OFFSET)
