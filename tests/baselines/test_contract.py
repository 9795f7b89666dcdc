"""The contract of all baselines, one row of the table each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from orthostream.baselines import (
    DCT,
    BetaBernoulliDictionaryLearning,
    ForgettingPCA,
    L3FastICA,
    L4DictionaryLearning,
    OfflinePCA,
    OnlineAODL,
    SFWDictionaryLearning,
)


@dataclass
class Case:
    make: Callable[..., Any]
    """Return an estimator, given further parameters."""
    online: bool = False
    nested: bool = True
    """Whether one more coefficient never increases the error of any sample; otherwise, that of all samples together."""
    complete: bool = True
    """Whether all coefficients together reconstruct the sample."""


CASES = {
    "sfw": Case(lambda **w: SFWDictionaryLearning(random_state=0, **w), online=True, nested=False, complete=False),
    "sfw polar": Case(lambda **w: SFWDictionaryLearning(polar=True, random_state=0, **w), online=True),
    "l4": Case(lambda **w: L4DictionaryLearning(random_state=0, **w), online=True),
    "aodl spams": Case(
        lambda **w: OnlineAODL(solver="spams", penalty=0.5, random_state=0, **w),
        online=True,
        nested=False,
        complete=False,
    ),
    "aodl scikit-learn": Case(  # one iteration, since it is slow
        lambda **w: OnlineAODL(solver="scikit-learn", penalty=0.5, fit_iterations=1, random_state=0, **w),
        online=True,
        nested=False,
        complete=False,
    ),
    "beta-bernoulli": Case(lambda **w: BetaBernoulliDictionaryLearning(12, n_sweeps=5, random_state=0, **w)),
    "forgetting pca": Case(ForgettingPCA, online=True),
    "forgetting pca centred": Case(lambda **w: ForgettingPCA(centre=True, **w), online=True),
    "offline pca": Case(OfflinePCA),
    "offline pca centred": Case(lambda **w: OfflinePCA(centre=True, **w)),
    "dct": Case(DCT),
    "fast ica": Case(lambda **w: L3FastICA(random_state=0, **w)),
    "fast ica as it is": Case(lambda **w: L3FastICA(centre=False, random_state=0, **w)),
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    if "spams" in request.param:
        pytest.importorskip("spams")
    return CASES[request.param]


@pytest.fixture
def rows(stream: np.ndarray) -> np.ndarray:
    """100 samples of 8 features with a mean."""
    return stream[:100] + np.linspace(-1.0, 2.0, 8)


def _squares(learner: Any, rows: np.ndarray, count: int | None) -> np.ndarray:
    codes = learner.set_params(n_nonzero=count).transform(rows)
    return ((learner.inverse_transform(codes) - rows) ** 2).sum(axis=1)


def test_shapes(case: Case, rows: np.ndarray) -> None:
    learner = case.make().fit(rows)
    codes = learner.transform(rows[:7])
    assert learner.components_.shape[1] == learner.n_features_in_ == 8
    assert codes.shape == (7, len(learner.components_))
    assert learner.inverse_transform(codes).shape == (7, 8)
    assert len(learner.get_feature_names_out()) == codes.shape[1]
    np.testing.assert_allclose(learner.transform(rows[:1]), codes[:1], atol=1e-12)


def test_at_most_n_nonzero_entries(case: Case, rows: np.ndarray) -> None:
    learner = case.make().fit(rows)
    for count in (1, 3, 100):
        codes = learner.set_params(n_nonzero=count).transform(rows)
        assert (np.count_nonzero(codes, axis=1) <= count).all()
    fewer = case.make(n_nonzero=2).fit(rows).transform(rows)
    np.testing.assert_array_equal(fewer, learner.set_params(n_nonzero=2).transform(rows))
    assert np.count_nonzero(fewer) > 0


def test_more_nonzeros_are_never_worse(case: Case, rows: np.ndarray) -> None:
    learner = case.make().fit(rows)
    errors = np.array([_squares(learner, rows, count) for count in range(1, 9)])
    if not case.nested:
        errors = errors.sum(axis=1)
    assert (np.diff(errors, axis=0) <= 1e-9).all()
    assert errors[-1].sum() < 0.5 * errors[0].sum()


def test_all_coefficients_reconstruct(case: Case, rows: np.ndarray) -> None:
    if not case.complete:
        pytest.skip("not a complete dictionary")
    learner = case.make().fit(rows)
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(rows)), rows, atol=1e-10)
    assert _squares(learner, rows, 8).max() < 1e-18


def test_the_seed_decides(case: Case, rows: np.ndarray) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002  (the global state is what must not move)
    first, second = case.make().fit(rows), case.make().fit(rows)
    np.testing.assert_array_equal(first.components_, second.components_)
    np.testing.assert_array_equal(first.transform(rows), second.transform(rows))
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_inputs_are_not_written_to(case: Case, rows: np.ndarray) -> None:
    given = rows.copy()
    learner = case.make(n_nonzero=3).fit(given)
    codes = learner.transform(given)
    kept, components = codes.copy(), learner.components_.copy()
    learner.inverse_transform(codes)
    if case.online:
        learner.partial_fit(given)
    np.testing.assert_array_equal(given, rows)
    np.testing.assert_array_equal(codes, kept)
    if case.online:
        assert np.abs(learner.components_ - components).max() > 0.0


def test_clones_and_pickles(case: Case, rows: np.ndarray) -> None:
    learner = case.make(n_nonzero=3).fit(rows)
    copied = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(copied.transform(rows), learner.transform(rows))
    if case.online:
        learner.partial_fit(rows[:20])
        copied.partial_fit(rows[:20])
        np.testing.assert_array_equal(copied.components_, learner.components_)
    blank = clone(learner)
    assert blank.get_params().keys() == learner.get_params().keys()
    with pytest.raises(NotFittedError):
        blank.transform(rows)


def test_fit_starts_anew(case: Case, rows: np.ndarray) -> None:
    fresh = case.make().fit(rows).components_
    learner = case.make().fit(rows[::-1, ::-1][:, :5])
    np.testing.assert_array_equal(learner.fit(rows).components_, fresh)
    if case.online:
        learner.partial_fit(rows[:10])
        np.testing.assert_array_equal(learner.fit(rows).components_, fresh)


def test_a_stream(case: Case, rows: np.ndarray) -> None:
    if not case.online:
        assert not hasattr(case.make(), "partial_fit")
        return
    learner = case.make()
    for start in range(0, 100, 10):
        assert learner.partial_fit(rows[start : start + 10]) is learner
    assert learner.n_steps_ == 10
    assert np.isfinite(learner.components_).all()
    assert _squares(learner, rows, 8).sum() < 0.5 * (rows**2).sum()
    with pytest.raises(ValueError, match="features"):
        learner.partial_fit(rows[:, :5])


def test_bad_rows(case: Case, rows: np.ndarray) -> None:
    learner = case.make().fit(rows)
    for bad in (rows[:, 0], rows[:0], rows[:, :5], [["a"] * 8]):
        with pytest.raises(ValueError, match=r"1D array|sample|features|convert"):
            learner.transform(bad)
    infinite = rows.copy()
    infinite[3, 2] = np.inf
    for call in (case.make().fit, learner.transform, getattr(learner, "partial_fit", learner.transform)):
        with pytest.raises(ValueError, match=r"inf"):
            call(infinite)
    for bad_codes in (np.zeros(3), np.zeros((2, 77))):
        with pytest.raises(ValueError, match="codes must have shape"):
            learner.inverse_transform(bad_codes)


@pytest.mark.parametrize("count", [0, -1, 2.5, "three"])
def test_bad_n_nonzero(case: Case, rows: np.ndarray, count: Any) -> None:
    with pytest.raises(ValueError, match="n_nonzero must be a positive integer"):
        case.make(n_nonzero=count).fit(rows)
    learner = case.make().fit(rows)
    with pytest.raises(ValueError, match="n_nonzero must be a positive integer"):
        learner.set_params(n_nonzero=count).transform(rows)


@pytest.mark.parametrize(
    "rows", [np.zeros((20, 4)), np.full((20, 4), 3.0), np.arange(4.0)[None]], ids=["zeros", "constants", "one sample"]
)
def test_samples_without_variety(case: Case, rows: np.ndarray) -> None:
    learner = case.make(n_nonzero=2)
    try:
        learner.fit(rows)
    except ValueError as error:
        assert "there is nothing to learn from" in str(error)  # noqa: PT017  (most have a defined result)
        return
    assert np.isfinite(learner.components_).all()
    assert np.isfinite(learner.inverse_transform(learner.transform(rows))).all()


def test_tiny_and_huge_units(case: Case, rows: np.ndarray) -> None:
    small, large = (case.make(n_nonzero=3).fit(rows * unit) for unit in (1e-60, 1e60))
    for learner, unit in ((small, 1e-60), (large, 1e60)):
        assert np.isfinite(learner.components_).all()
        assert np.isfinite(learner.transform(rows * unit)).all()
