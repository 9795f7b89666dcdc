"""Stochastic Frank-Wolfe as a baseline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.baselines import SFWDictionaryLearning
from orthostream.optimize import LpContrast, MokhtariSchedule, SpectralBall, StochasticFrankWolfe


def test_it_is_the_plain_algorithm(stream: np.ndarray, fed) -> None:
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
    learner = fed(SFWDictionaryLearning(init=start.T), stream[:500])
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3.0), MokhtariSchedule())
    state = solver.init(start)
    for first in range(0, 500, 10):
        state = solver.step(state, stream[first : first + 10])
    np.testing.assert_allclose(learner.raw_components_, state.x.T, atol=1e-9)


def test_the_iterate_is_inside_of_the_ball_and_its_polar_factor_on_the_group(stream: np.ndarray, fed) -> None:
    learner = fed(SFWDictionaryLearning(random_state=0), stream[:300])
    u, singular, v = np.linalg.svd(learner.raw_components_)
    assert singular.max() <= 1.0 + 1e-9
    assert singular.min() < 0.99
    np.testing.assert_allclose(learner.transform(stream[:5]), stream[:5] @ learner.components_.T)
    learner.set_params(polar=True)
    np.testing.assert_allclose(learner.raw_components_, u @ v, atol=1e-9)
    same = fed(OrthogonalDictionaryLearning(schedule="sfw", random_state=0), stream[:300])
    np.testing.assert_allclose(learner.components_, same.components_, atol=1e-12)


def test_saved_and_loaded(stream: np.ndarray, fed, tmp_path: Path) -> None:
    learner = fed(SFWDictionaryLearning(polar=True, n_nonzero=2, random_state=0), stream[:300])
    learner.save(tmp_path / "learner")
    loaded = SFWDictionaryLearning.load(tmp_path / "learner")
    assert loaded.polar is True
    np.testing.assert_array_equal(fed(loaded, stream[300:400]).components_, fed(learner, stream[300:400]).components_)


def test_presets_belong_to_the_learner() -> None:
    with pytest.raises(ValueError, match="preset"):
        SFWDictionaryLearning.preset("paper")
