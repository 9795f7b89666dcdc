"""FastICA with the l3 score."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from orthostream.baselines import L3FastICA
from orthostream.baselines.base import unit_rows
from orthostream.baselines.fast_ica import _l3_score
from orthostream.datasets import make_bernoulli_gaussian


def _matches(learner: L3FastICA, truth: np.ndarray) -> np.ndarray:
    return np.abs(learner.components_ @ unit_rows(truth).T).max(axis=0)


@pytest.mark.parametrize("centre", [True, False])
def test_atoms_that_are_not_orthogonal_are_found(centre: bool) -> None:
    codes = make_bernoulli_gaussian(20_000, 5, sparsity=0.2, random_state=0).codes
    mixing = np.random.default_rng(0).standard_normal((5, 5))
    offset = 10.0 if centre else 0.0
    learner = L3FastICA(centre=centre, random_state=0).fit(codes @ mixing + offset)
    assert _matches(learner, mixing).min() > 0.999
    sparse = learner.set_params(n_nonzero=2).transform(unit_rows(mixing)[:1] * 3.0 + offset)
    assert np.abs(np.sort(np.abs(sparse[0]))[-1] - 3.0) < 0.2


def test_the_score_is_half_of_the_second_derivative_of_the_cube() -> None:
    u = np.random.default_rng(0).standard_normal((3, 50))
    score, slope = _l3_score(u)
    step = 1e-6
    np.testing.assert_allclose(score, (np.abs(u + step) ** 3 - np.abs(u - step) ** 3) / (6.0 * step), atol=1e-6)
    forward = (_l3_score(u + step)[0] - _l3_score(u - step)[0]).mean(axis=1) / (2.0 * step)
    np.testing.assert_allclose(slope, forward, rtol=1e-6)


def test_directions_without_variance_are_left_out() -> None:
    rows = make_bernoulli_gaussian(2_000, 4, random_state=0).samples
    wide = np.concatenate([rows, rows.mean(axis=1, keepdims=True), np.ones((2_000, 1))], axis=1)
    learner = L3FastICA(random_state=0).fit(wide)
    assert learner.components_.shape == (4, 6)
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(wide)), wide, atol=1e-9)
    assert L3FastICA(2, random_state=0).fit(wide).components_.shape == (2, 6)


def test_samples_that_are_all_equal() -> None:
    with pytest.raises(ValueError, match="all samples are equal"):
        L3FastICA().fit(np.ones((5, 3)))


def test_an_early_end_is_told() -> None:
    rows = np.random.default_rng(0).standard_normal((200, 6))
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        learner = L3FastICA(max_iter=2, random_state=0).fit(rows)
    assert learner.n_iter_ == 2
