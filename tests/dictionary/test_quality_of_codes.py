"""`reconstruction_error` and `explained_variance`: what few coefficients keep of the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from orthostream import OrthogonalDictionaryLearning
from orthostream.metrics import relative_rmse

OFFSET = np.array([5.0, -3.0, 20.0, 0.0, 1.0, 0.5, -8.0, 2.0])


@pytest.fixture(scope="module", params=[None, "running"])
def fitted(request: pytest.FixtureRequest) -> tuple[OrthogonalDictionaryLearning, np.ndarray]:
    rows = np.random.default_rng(0).standard_normal((200, 8)) * np.arange(1.0, 9.0)
    if request.param is not None:
        rows = rows + OFFSET
    return OrthogonalDictionaryLearning(center=request.param, max_iter=3, random_state=0).fit(rows), rows


def test_the_error_is_that_of_transform_and_back(fitted: Any) -> None:
    learner, rows = fitted
    assert learner.reconstruction_error(rows) < 1e-12
    for count in (1, 3, 8):
        by_hand = type(learner)(**learner.get_params() | {"n_nonzero": count}).fit(rows)
        expected = relative_rmse(rows, by_hand.inverse_transform(by_hand.transform(rows)))
        assert learner.reconstruction_error(rows, n_nonzero=count) == pytest.approx(expected, abs=1e-12)
        assert by_hand.reconstruction_error(rows) == pytest.approx(expected, abs=1e-12)


def test_missing_readings_are_left_out_of_the_error(fitted: Any) -> None:
    learner, rows = fitted
    gaps = np.random.default_rng(1).random(rows.shape) < 0.1
    partial = np.where(gaps, np.nan, rows)
    restored = learner.inverse_transform(learner.transform(partial))
    assert learner.reconstruction_error(partial) == pytest.approx(relative_rmse(partial, restored), abs=1e-12)
    assert learner.reconstruction_error(partial) < 1e-12  # with all atoms, whatever was read is exact
    with pytest.raises(ValueError, match="no reading"):
        learner.reconstruction_error(np.full((2, 8), np.nan))


def test_error_and_explained_variance_agree_about_zero_and_about_the_mean(fitted: Any) -> None:
    learner, rows = fitted
    mean = 0.0 if learner.mean_ is None else learner.mean_
    for count in (1, 2, 5, 8):
        left = (learner.reconstruction_error(rows, count) * np.linalg.norm(rows)) ** 2
        expected = 1.0 - left / np.linalg.norm(rows - mean) ** 2
        assert learner.explained_variance(rows, count) == pytest.approx(expected, abs=1e-10)


def test_explained_variance_grows_to_one(fitted: Any) -> None:
    learner, rows = fitted
    shares = learner.explained_variance(rows, range(1, 9))
    assert shares.shape == (8,)
    assert (np.diff(shares) > 0).all()
    assert shares[-1] == pytest.approx(1.0, abs=1e-12)
    assert isinstance(learner.explained_variance(rows, 3), float)
    assert learner.explained_variance(rows, 3) == shares[2]
    np.testing.assert_array_equal(learner.explained_variance(rows, np.array([3, 1])), shares[[2, 0]])
    assert learner.explained_variance(rows, []).shape == (0,)


def test_fewer_atoms_than_features_leave_energy_out() -> None:
    rows = np.random.default_rng(0).standard_normal((100, 8))
    learner = OrthogonalDictionaryLearning(3, max_iter=2, random_state=0).fit(rows)
    held = np.square(learner.transform(rows)).sum() / np.square(rows).sum()
    assert learner.explained_variance(rows, 3) == pytest.approx(held)
    assert held < 0.9


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_units_do_not_matter(scale: float, fitted: Any) -> None:
    learner, rows = fitted
    if learner.mean_ is None:
        assert learner.explained_variance(rows * scale, 2) == pytest.approx(learner.explained_variance(rows, 2))
        assert learner.reconstruction_error(rows * scale, 2) == pytest.approx(learner.reconstruction_error(rows, 2))


def test_sparse_rows_and_rows_of_zeros() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 6)) * (np.random.default_rng(1).random((50, 6)) < 0.3)
    learner = OrthogonalDictionaryLearning(max_iter=2, random_state=0).fit(rows)
    packed = sparse.csr_matrix(rows)
    assert learner.explained_variance(packed, 2) == pytest.approx(learner.explained_variance(rows, 2))
    assert learner.reconstruction_error(packed, 2) == pytest.approx(learner.reconstruction_error(rows, 2))
    assert learner.explained_variance(np.zeros((2, 6)), 1) == 1.0
    assert learner.reconstruction_error(np.zeros((2, 6)), 1) == 0.0


@pytest.mark.parametrize("count", [0, 9, -1, 2.0, "two", [1, 9], [1.5]])
def test_bad_numbers_of_coefficients(count: Any, fitted: Any) -> None:
    learner, rows = fitted
    with pytest.raises(ValueError, match="n_nonzero must be an integer from 1 to the number of atoms = 8"):
        learner.explained_variance(rows, count)
    if not isinstance(count, list):
        with pytest.raises(ValueError, match="n_nonzero must be an integer from 1 to the number of atoms = 8"):
            learner.reconstruction_error(rows, count)


@pytest.mark.parametrize("rows", [np.zeros((2, 5)), np.zeros(8), np.full((2, 8), np.inf), [["a"] * 8]])
def test_bad_rows(rows: Any, fitted: Any) -> None:
    learner, _ = fitted
    with pytest.raises(ValueError):  # noqa: PT011  (scikit-learn words each of them)
        learner.explained_variance(rows, 1)
    with pytest.raises(ValueError):  # noqa: PT011
        learner.reconstruction_error(rows)


def test_before_fit() -> None:
    with pytest.raises(NotFittedError):
        OrthogonalDictionaryLearning().explained_variance(np.eye(3), 1)
    with pytest.raises(NotFittedError):
        OrthogonalDictionaryLearning().reconstruction_error(np.eye(3))
