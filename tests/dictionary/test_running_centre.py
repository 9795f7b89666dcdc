"""A running mean in spite of outliers; that of plain streams is the plain mean."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.dictionary.running_centre import FARTHEST, FIRST_SAMPLES, RunningCentre, Spread


def stream(count: int = 2000, features: int = 6, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, features)) * (rng.random((count, features)) < 0.3) + 3.0


def centre_of(rows: np.ndarray, size: int, limit: float = 1e9, weight: float | None = None) -> RunningCentre:
    centre = RunningCentre(np.zeros(rows.shape[1]), np.zeros(rows.shape[1]), limit)
    for start in range(0, len(rows), size):
        some = rows[start : start + size]
        centre = centre.after(some, None if weight is None else np.full(len(some), weight))
    return centre


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_a_plain_stream_has_its_plain_mean(size: int, scale: float) -> None:
    rows = scale * stream()
    centre = centre_of(rows, size)
    np.testing.assert_allclose(centre.mean, rows.mean(axis=0), rtol=1e-12)
    assert centre.spread.distance == pytest.approx(scale * (rows / scale).std(axis=0).mean(), rel=0.2)


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("place", [0, 3, 19, 20, 500])
@pytest.mark.parametrize("value", [1e3, 1e100, -1e308])
def test_one_monstrous_row(size: int, place: int, value: float) -> None:
    rows = stream()
    usual = rows.std()
    rows[place] = value
    centre = centre_of(rows, size)
    np.testing.assert_allclose(centre.mean, np.delete(rows, place, axis=0).mean(axis=0), atol=0.1 * usual)
    assert 0.5 * usual < centre.spread.distance < 2.0 * usual


@pytest.mark.parametrize("gaps", [False, True])
def test_a_few_rows_times_a_thousand(gaps: bool) -> None:
    rng = np.random.default_rng(1)
    rows = stream(6000)
    rows[rng.random(6000) < 0.002] *= 1000.0
    if gaps:
        rows[rng.random(rows.shape) < 0.2] = np.nan
    centre = centre_of(rows, 10)
    np.testing.assert_allclose(centre.mean, 3.0, atol=0.05)
    assert np.abs(np.nanmean(rows, axis=0) - 3.0).min() > 1.0


def test_a_stream_that_moves_is_followed() -> None:
    rows = np.concatenate([stream(2000), stream(2000, seed=1) + 1000.0])
    plain = 3.0 + 500.0
    np.testing.assert_allclose(centre_of(rows, 10).mean, plain, rtol=0.1)


def test_without_a_usual_distance_nothing_is_limited() -> None:
    rows = np.concatenate([np.zeros((50, 2)), np.ones((50, 2))])
    np.testing.assert_allclose(centre_of(rows, 50).mean, 0.5)


def test_the_limit_is_a_distance_from_the_mean() -> None:
    known = Spread(2.0, 1000.0)
    centre = RunningCentre(np.full(3, 5.0), np.full(3, 99.0), 1e9, known)
    far = centre.after(np.full((1, 3), 5.0 + 1e6), None)
    np.testing.assert_allclose(far.mean, 5.0 + FARTHEST * 2.0 / 100.0)
    np.testing.assert_array_equal(far.weight, 100.0)
    assert far.spread.distance == pytest.approx(2.0 * np.sqrt(1.0 + (FARTHEST**2 - 1.0) / 1000.0))
    near = centre.after(np.full((1, 3), 6.0), None)
    np.testing.assert_allclose(near.mean, 5.01)


def test_a_feature_that_is_read_late_takes_its_first_reading() -> None:
    rows = stream(100)
    rows[:90, 2] = np.nan
    rows[90:, 2] += 1e6
    np.testing.assert_allclose(centre_of(rows, 10).mean[2], rows[90:, 2].mean(), rtol=1e-12)


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_weights_count_like_samples(weight: float) -> None:
    rows = stream(200)
    rows[100] = 1e9
    repeated = centre_of(np.repeat(rows, int(weight), axis=0), int(weight))
    np.testing.assert_allclose(centre_of(rows, 1, weight=weight).mean, repeated.mean, rtol=1e-2)


@pytest.mark.parametrize("rows", [10, 100])
def test_it_goes_on_after_a_file(rows: int, tmp_path: Path) -> None:
    data = stream(200, 4)
    data[2] = 1e9
    data[150] = 1e100
    learner = OrthogonalDictionaryLearning(center="running", random_state=0).partial_fit(data[:rows])
    assert (learner._centre.first is None) == (rows >= FIRST_SAMPLES)
    learner.save(tmp_path / "learner")
    loaded = OrthogonalDictionaryLearning.load(tmp_path / "learner")
    for start in range(rows, 200, 10):
        for one in (learner, loaded):
            one.partial_fit(data[start : start + 10])
    np.testing.assert_array_equal(loaded.mean_, learner.mean_)
    assert loaded._centre.spread == learner._centre.spread
    np.testing.assert_allclose(learner.mean_, 3.0, atol=0.3)


def test_a_mean_of_an_earlier_version_goes_on() -> None:
    centre = RunningCentre.from_arrays({"mean": np.full(6, 3.0), "weight": np.full(6, 500.0)}, 1e9)
    for start in range(0, 100, 10):
        centre = centre.after(stream(100)[start : start + 10], None)
    assert centre.spread.distance > 0.0
    before = centre.mean
    np.testing.assert_allclose(centre.after(np.full((1, 6), 1e100), None).mean, before, atol=0.02)


def test_damaged_parts_are_refused() -> None:
    for arrays in ({"mean": np.zeros(3), "weight": np.zeros(2)}, {"mean": np.zeros(2), "weight": np.zeros(2)}):
        with pytest.raises(ValueError, match="do not fit"):
            RunningCentre.from_arrays(arrays | {"first": np.zeros((4, 4))}, 1.0)
