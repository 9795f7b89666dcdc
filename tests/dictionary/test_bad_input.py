"""Nothing breaks the learner: odd data gets a clear error or a defined result."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA
from orthostream.optimize import CoolThenConstant, LpContrast, Progress, Status

RNG = np.random.default_rng(0)
NORMAL = RNG.standard_normal((60, 6))


def orthonormal(learner: OrthogonalDictionaryLearning | StreamingSparsePCA, tolerance: float = 1e-9) -> bool:
    rows = learner.components_
    return bool(np.isfinite(rows).all() and np.abs(rows @ rows.T - np.eye(len(rows))).max() < tolerance)


ODD = {
    "all zero": np.zeros((5, 6)),
    "constant column": np.concatenate([np.full((60, 1), 3.0), NORMAL[:, 1:]], axis=1),
    "constant": np.full((5, 6), 2.0),
    "one sample": NORMAL[:1],
    "1e150": NORMAL * 1e150,
    "1e-150": NORMAL * 1e-150,
    "denormal": NORMAL * 1e-310,
    "1e300": NORMAL * 1e300,
    "mixed scales": NORMAL * 10.0 ** np.arange(-150, 150, 50),
    "a row of NaN": np.concatenate([NORMAL, np.full((1, 6), np.nan)]),
    "a column of NaN": np.concatenate([np.full((60, 1), np.nan), NORMAL[:, 1:]], axis=1),
    "all NaN": np.full((4, 6), np.nan),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("before", [0, 40])
@pytest.mark.parametrize(
    "words", [{}, {"average": True}, {"schedule": "sfw"}, {"init": "data"}, {"contrast": "l4"}, {"center": "running"}]
)
def test_odd_mini_batches(name: str, before: int, words: dict[str, Any]) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0, **words)
    for _ in range(before):
        learner.partial_fit(RNG.standard_normal((10, 6)))
    for _ in range(3):
        learner.partial_fit(ODD[name])
    assert orthonormal(learner)
    learner.partial_fit(NORMAL)
    assert orthonormal(learner)
    assert np.isfinite(learner.transform(NORMAL)).all()


@pytest.mark.parametrize("name", [name for name in ODD if "NaN" not in name])
@pytest.mark.parametrize("before", [0, 40])
@pytest.mark.parametrize("words", [{}, {"n_components": 6}, {"n_components": 2, "half_life": 30.0}])
def test_odd_mini_batches_for_sparse_components(name: str, before: int, words: dict[str, Any]) -> None:
    learner = StreamingSparsePCA(**words)
    for _ in range(before):
        learner.partial_fit(RNG.standard_normal((10, 6)))
    for _ in range(3):
        learner.partial_fit(ODD[name])
        assert orthonormal(learner)
    learner.partial_fit(NORMAL)
    assert orthonormal(learner)
    assert np.isfinite(learner.transform(NORMAL)).all()


@pytest.mark.parametrize(("p", "scale"), [(3, 1e13), (3, 1e-15), (4, 1e10), (4, 1e-12), (3, 1e30), (20, 2.0**57)])
def test_units_do_not_matter_in_single_precision_or_to_high_powers(p: float, scale: float) -> None:
    dtype = np.float32 if p < 20 else np.float64
    rng = np.random.default_rng(5)
    here, there = (OrthogonalDictionaryLearning(contrast=LpContrast(p), random_state=0) for _ in range(2))
    for _ in range(30):
        rows = (rng.standard_normal((10, 6)) * (rng.random((10, 6)) < 0.4)).astype(dtype)
        here.partial_fit(rows)
        there.partial_fit((rows * scale).astype(dtype))
    np.testing.assert_allclose(there.components_, here.components_, atol=2e-2 if p < 20 else 1e-6)


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e30, 1e-300])
@pytest.mark.parametrize(
    "learner",
    [
        partial(OrthogonalDictionaryLearning, random_state=0),
        partial(StreamingSparsePCA, 2),
        partial(StreamingSparsePCA, method="paper", penalty=0.0, random_state=0),
    ],
)
def test_units_do_not_matter(scale: float, learner: Any) -> None:
    here, there = learner(), learner()
    for _ in range(50):
        rows = RNG.standard_normal((10, 6)) * (RNG.random((10, 6)) < 0.4)
        here.partial_fit(rows)
        there.partial_fit(rows * scale)
    np.testing.assert_allclose(there.components_, here.components_, atol=1e-6)


def test_a_stream_that_grows_by_a_hundred_decades_follows_the_new_values() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for exponent in range(-100, 101, 10):
        for _ in range(5):
            learner.partial_fit(RNG.standard_normal((8, 5)) * 10.0**exponent)
            assert orthonormal(learner)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("fitted", [False, True])
def test_infinity_is_refused(value: float, fitted: bool) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    if fitted:
        for _ in range(30):
            learner.partial_fit(NORMAL)
        before = learner.components_
    rows = NORMAL.copy()
    rows[3, 2] = value
    with pytest.raises(ValueError, match="infinity"):
        learner.partial_fit(rows)
    if fitted:
        np.testing.assert_array_equal(learner.components_, before)
        with pytest.raises(ValueError, match="infinity"):
            learner.transform(rows)


def test_one_feature() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for row in RNG.standard_normal(20):
        learner.partial_fit([[row]])
    assert abs(learner.components_[0, 0]) == pytest.approx(1.0, abs=1e-12)


def test_fewer_samples_than_features_for_the_whole_stream() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for row in RNG.standard_normal((7, 30)):
        learner.partial_fit(row[None])
    assert orthonormal(learner)


def test_tall_dictionary() -> None:
    learner = OrthogonalDictionaryLearning(3, random_state=0)
    for _ in range(200):
        learner.partial_fit(RNG.standard_normal((8, 12)) * np.array([5.0] * 3 + [0.1] * 9))
    assert learner.components_.shape == (3, 12)
    assert orthonormal(learner)
    # Three directions carry almost everything: three atoms should find them.
    assert np.linalg.norm(learner.components_[:, :3]) ** 2 > 2.9
    codes = learner.transform(NORMAL @ RNG.standard_normal((6, 12)))
    assert learner.inverse_transform(codes).shape == (60, 12)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"n_components": 7}, "n_components"),
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"contrast": "l5"}, "contrast must be 'auto'"),
        ({"schedule": "slow"}, "schedule must be 'adaptive'"),
        ({"init": "best"}, "init must be"),
        ({"init": np.eye(5)}, "init must have shape"),
        ({"init": np.ones((6, 6))}, "orthonormal"),
        ({"init": np.full((6, 6), np.nan)}, "finite"),
        ({"batch_size": 0}, "batch_size"),
        ({"n_nonzero": 0}, "n_nonzero"),
        ({"n_nonzero": 7}, "n_nonzero must be an integer from 1 to n_features = 6, got 7"),
        ({"n_components": 3, "n_nonzero": 4}, "n_nonzero must be an integer from 1 to n_components = 3, got 4"),
        ({"center": "median"}, "center must be 'running' or an array"),
        ({"center": np.zeros(5)}, r"center must have shape \(6,\), got \(5,\)"),
        ({"center": np.zeros((6, 1))}, "center must have shape"),
        ({"center": 0.0}, "center must have shape"),
        ({"center": np.full(6, np.nan)}, "center must be finite"),
        ({"center": np.full(6, np.inf)}, "center must be finite"),
        ({"center": ["a"] * 6}, "array of numbers"),
        ({"max_iter": 0}, "max_iter must be a positive integer, got 0"),
        ({"max_iter": 2.5}, "max_iter"),
        ({"tol": -1.0}, "tol must be a finite number of at least 0, got -1"),
        ({"tol": np.nan}, "tol"),
        ({"tol": "small"}, "tol"),
        ({"shuffle": "yes"}, "shuffle must be True or False, got 'yes'"),
    ],
)
def test_bad_words(words: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OrthogonalDictionaryLearning(**words).fit(NORMAL).transform(NORMAL)


@pytest.mark.parametrize("words", [{"n_nonzero": 7}, {"center": "median"}, {"center": np.zeros(5)}])
def test_bad_words_of_a_stream(words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(words))):
        OrthogonalDictionaryLearning(**words).partial_fit(NORMAL)


def test_too_many_nonzero_coefficients_after_fitting() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).partial_fit(NORMAL).set_params(n_nonzero=7)
    with pytest.raises(ValueError, match="n_nonzero must be an integer from 1 to n_features = 6, got 7"):
        learner.transform(NORMAL)


def test_unknown_preset() -> None:
    assert OrthogonalDictionaryLearning.preset("paper").schedule == "paper"
    with pytest.raises(ValueError, match="preset must be one of"):
        OrthogonalDictionaryLearning.preset("best")


@pytest.mark.parametrize("rows", [np.zeros((0, 6)), np.zeros(6), np.zeros((2, 5)), [["a"] * 6], np.zeros((2, 6)) * 1j])
def test_bad_rows(rows: Any) -> None:
    learner = OrthogonalDictionaryLearning(random_state=0)
    for _ in range(20):
        learner.partial_fit(NORMAL)
    before = learner.components_
    with pytest.raises(ValueError):  # noqa: PT011  (scikit-learn words each of them)
        learner.partial_fit(rows)
    np.testing.assert_array_equal(learner.components_, before)


def test_components_before_fit() -> None:
    learner = OrthogonalDictionaryLearning()
    assert not hasattr(learner, "components_")
    assert not hasattr(learner, "n_steps_")
    assert not hasattr(StreamingSparsePCA(), "components_")


def test_inverse_transform_of_all_coefficients_is_the_sample() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).fit(NORMAL)
    np.testing.assert_allclose(learner.inverse_transform(learner.transform(NORMAL)), NORMAL, atol=1e-10)
    with pytest.raises(ValueError, match="codes must have shape"):
        learner.inverse_transform(NORMAL[:, :3])


def test_transform_keeps_what_it_is_told_to() -> None:
    learner = OrthogonalDictionaryLearning(random_state=0).fit(NORMAL)
    everything = learner.transform(NORMAL)
    largest = learner.set_params(n_nonzero=2).transform(NORMAL)
    assert (np.count_nonzero(largest, axis=1) == 2).all()
    assert (np.abs(largest).max(axis=1) == np.abs(everything).max(axis=1)).all()
    above = learner.set_params(n_nonzero=None, threshold=1.0).transform(NORMAL)
    np.testing.assert_array_equal(above, np.where(np.abs(everything) > 1.0, everything, 0.0))


def test_score_prefers_the_true_dictionary() -> None:
    codes = RNG.standard_normal((500, 6)) * (RNG.random((500, 6)) < 0.2)
    truth = np.linalg.qr(RNG.standard_normal((6, 6)))[0]
    near, far = (OrthogonalDictionaryLearning(init=init).partial_fit(1e-9 * NORMAL) for init in (truth, np.eye(6)))
    near.state_ = near.state_._replace(x=truth.T)
    assert near.score(codes @ truth) > far.score(codes @ truth)


def test_callbacks_see_every_step_and_stop_fit() -> None:
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return progress.t >= 5

    learner = OrthogonalDictionaryLearning(batch_size=10, random_state=0, callbacks=[watch]).fit(NORMAL)
    assert [progress.t for progress in seen] == [1, 2, 3, 4, 5]
    assert learner.status_ is Status.STOPPED
    assert all(float(progress.gap) >= 0 and float(progress.objective) < 0 for progress in seen)
    learner.partial_fit(NORMAL[:10])
    assert seen[-1].t == 6


def test_half_life_follows_a_change() -> None:
    """After the dictionary changes, a constant floor of the weights finds the new one and the paper's does not."""
    rng = np.random.default_rng(1)
    old, new = (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    errors = {}
    for name, schedule in (("paper", "paper"), ("half-life", CoolThenConstant(half_life=300))):
        learner = OrthogonalDictionaryLearning(schedule=schedule, random_state=0)
        for t in range(2500):
            codes = rng.standard_normal((10, 6)) * (rng.random((10, 6)) < 0.3)
            learner.partial_fit(codes @ (old if t < 2000 else new))
        errors[name] = abs(1 - ((learner.components_ @ new.T) ** 4).sum() / 6)
    assert errors["half-life"] < 0.02
    assert errors["half-life"] < errors["paper"]


@pytest.mark.parametrize("count", ["x", 2.5, 0, 99])
def test_a_wrong_number_of_components_is_named(count: object) -> None:
    with pytest.raises((TypeError, ValueError), match="n_components"):
        OrthogonalDictionaryLearning(n_components=count).fit(np.eye(6))
