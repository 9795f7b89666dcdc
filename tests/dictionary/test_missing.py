"""Missing readings: completed by the dictionary, better than by the mean of the row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.dictionary.missing import complete
from orthostream.metrics import recovery_error
from orthostream.optimize import ConstantSchedule


def row_mean(rows: np.ndarray) -> np.ndarray:
    gaps = np.isnan(rows)
    means = np.where(gaps, 0, rows).sum(axis=1) / np.maximum((~gaps).sum(axis=1), 1)
    return np.where(gaps, means[:, None], rows)


@pytest.mark.parametrize(("share", "better"), [(0.1, 1.5), (0.3, 10.0)])
def test_recovery_is_better_than_with_row_means(share: float, better: float) -> None:
    ours, theirs = [], []
    for seed in range(4):
        data = make_bernoulli_gaussian(15_000, 10, random_state=seed)
        gaps = np.random.default_rng(seed).random(data.samples.shape) < share
        rows = np.where(gaps, np.nan, data.samples)
        learners = [OrthogonalDictionaryLearning(random_state=seed) for _ in range(2)]
        for start in range(0, len(rows), 10):
            learners[0].partial_fit(rows[start : start + 10])
            learners[1].partial_fit(row_mean(rows[start : start + 10]))
        ours.append(recovery_error(learners[0].components_, data.components))
        theirs.append(recovery_error(learners[1].components_, data.components))
    assert np.mean(ours) < np.mean(theirs) / better
    assert np.mean(ours) < 5e-3


def test_hidden_readings_of_real_sensors_are_found_better_than_by_row_means(airly_folder: Path) -> None:
    pd = pytest.importorskip("pandas")
    months = [pd.read_csv(airly_folder / f"{month}-2017.csv") for month in ("september", "october", "november")]
    table = pd.concat(months)
    readings = table[[name for name in table if name.endswith("_temperature")]].to_numpy(float)
    hidden = (np.random.default_rng(0).random(readings.shape) < 0.05) & ~np.isnan(readings)
    rows = np.where(hidden, np.nan, readings)
    learner = OrthogonalDictionaryLearning(init="data", schedule=ConstantSchedule(), random_state=0)
    learner.partial_fit(rows[:100])
    errors: list[tuple[float, float]] = []
    for start in range(100, len(rows) - 6, 6):
        batch, where = rows[start : start + 6], hidden[start : start + 6]
        ours, theirs = complete(batch, learner.components_.T), row_mean(batch)
        truth = readings[start : start + 6]
        errors += zip((ours - truth)[where] ** 2, (theirs - truth)[where] ** 2, strict=True)
        learner.partial_fit(batch)
    mine, mean = np.sqrt(np.mean(errors, axis=0))
    assert mine < 0.95 * mean


def test_what_was_read_is_kept(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream)
    gaps = np.random.default_rng(0).random(stream.shape) < 0.3
    rows = np.where(gaps, np.nan, stream)
    filled = complete(rows, learner.components_.T)
    np.testing.assert_array_equal(filled[~gaps], stream[~gaps])
    assert np.isfinite(filled).all()
    assert np.isnan(rows).any()


def test_a_row_of_which_nothing_was_read_pulls_nowhere(stream: np.ndarray) -> None:
    with_gap, without = (OrthogonalDictionaryLearning(random_state=0) for _ in range(2))
    rows = stream[:20].copy()
    rows[7] = np.nan
    with_gap.partial_fit(rows)
    rows[7] = 0.0
    without.partial_fit(rows)
    np.testing.assert_allclose(with_gap.components_, without.components_, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_extreme_values(scale: float, stream: np.ndarray) -> None:
    atoms = OrthogonalDictionaryLearning(random_state=0).partial_fit(stream).components_.T
    rows = np.where(np.random.default_rng(0).random(stream.shape) < 0.2, np.nan, stream)
    np.testing.assert_allclose(complete(rows * scale, atoms) / scale, complete(rows, atoms), rtol=1e-6, atol=1e-9)


def test_a_gap_beside_the_largest_readings_does_not_overflow() -> None:
    atoms = np.array([[3.0, 4.0], [-4.0, 3.0]]) / 5.0
    filled = complete(np.array([[1.79e308, np.nan], [np.nan, -1.79e308]]), atoms)
    assert np.isfinite(filled).all()
