"""PCA with forgetting."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.baselines import ForgettingPCA, OfflinePCA


def test_the_moment_is_the_weighted_sum(stream: np.ndarray) -> None:
    learner, batches = ForgettingPCA(3, forgetting=0.7), np.split(stream[:60], 6)
    for batch in batches:
        learner.partial_fit(batch)
    moment = sum(0.7 ** (5 - i) * batch.T @ batch for i, batch in enumerate(batches))
    np.testing.assert_allclose(learner.moment_, moment)
    leading = np.linalg.eigh(moment)[1].T[::-1][:3]
    np.testing.assert_allclose(np.abs(learner.components_ @ leading.T), np.eye(3), atol=1e-9)


def test_the_mean_is_weighted_alike(stream: np.ndarray) -> None:
    learner, batches = ForgettingPCA(forgetting=0.5, centre=True), np.split(stream[:30] + 2.0, 3)
    for batch in batches:
        learner.partial_fit(batch)
    weights = np.repeat([0.25, 0.5, 1.0], 10)
    rows = stream[:30] + 2.0
    np.testing.assert_allclose(learner.mean_, np.average(rows, axis=0, weights=weights))
    axes = np.linalg.eigh(np.cov(rows.T, aweights=weights, ddof=0))[1].T[::-1]
    np.testing.assert_allclose(np.abs(learner.components_ @ axes.T), np.eye(8), atol=1e-8)


def test_without_forgetting_it_is_the_offline_one(stream: np.ndarray, fed) -> None:
    for centre in (False, True):
        learner = fed(ForgettingPCA(forgetting=1.0, centre=centre), stream[:300] + 1.0)
        offline = OfflinePCA(centre=centre).fit(stream[:300] + 1.0)
        np.testing.assert_allclose(learner.components_, offline.components_, atol=1e-7)


@pytest.mark.parametrize("forgetting", [-0.1, 1.1, "half", None, np.nan])
def test_bad_forgetting(forgetting: object, stream: np.ndarray) -> None:
    with pytest.raises(ValueError, match="forgetting must be a number from 0 to 1"):
        ForgettingPCA(forgetting=forgetting).partial_fit(stream)


def test_overflow_is_named_and_leaves_the_learner_as_it_was(stream: np.ndarray) -> None:
    learner = ForgettingPCA().partial_fit(stream)
    before = learner.components_.copy()
    with pytest.raises(ValueError, match="overflow"):
        learner.partial_fit(stream * 1e200)
    np.testing.assert_allclose(learner.partial_fit(stream).components_, before, atol=1e-9)


def test_airly(airly_temperatures: np.ndarray) -> None:
    """The figures of an independent implementation, in percent, for forgetting 0.95."""
    rows = airly_temperatures[4100:]
    learner = ForgettingPCA(forgetting=0.95).fit(airly_temperatures[4000:4100])
    errors = {"before": np.zeros(2), "after": np.zeros(2)}
    for start in range(0, len(rows), 6):
        batch = rows[start : start + 6]
        for when in errors:
            if when == "after":
                learner.partial_fit(batch)
            for i, count in enumerate((2, 17)):
                codes = learner.set_params(n_nonzero=count).transform(batch)
                errors[when][i] += ((learner.inverse_transform(codes) - batch) ** 2).sum()
    relative = {when: 100.0 * np.sqrt(error / (rows**2).sum()) for when, error in errors.items()}
    np.testing.assert_allclose(relative["after"], [3.40, 0.77], atol=0.01)
    np.testing.assert_allclose(relative["before"], [3.81, 1.15], atol=0.01)
