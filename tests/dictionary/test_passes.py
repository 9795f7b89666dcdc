"""How often `fit` passes over the data, in which order, and why it stops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from orthostream import OrthogonalDictionaryLearning, StreamingSparsePCA
from orthostream.dictionary.passes import mini_batches, relative_motion
from orthostream.optimize import Progress, Status


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("size", [None, 30])
def test_max_iter_is_the_number_of_passes(passes: int, size: int | None, stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(max_iter=passes, batch_size=size, random_state=0).fit(stream)
    assert learner.n_iter_ == passes
    assert learner.n_steps_ == passes * -(-len(stream) // (size or 64))
    assert learner.status_ is Status.STREAM_ENDED


def test_max_iter_may_ask_for_more_than_a_thousand_steps(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(max_iter=110, batch_size=10, random_state=0).fit(stream[:100])
    assert learner.n_steps_ == 1100


def test_by_default_a_thousand_steps_are_taken(stream: np.ndarray) -> None:
    for learner in (OrthogonalDictionaryLearning(random_state=0), StreamingSparsePCA(method="paper", random_state=0)):
        learner.fit(stream[:640])
        assert learner.n_iter_ == 100
        assert learner.n_steps_ == 1000


def test_max_iter_that_is_never_reached_changes_no_bit(stream: np.ndarray) -> None:
    plain = OrthogonalDictionaryLearning(random_state=0).fit(stream[:640])
    limited = OrthogonalDictionaryLearning(max_iter=100, random_state=0).fit(stream[:640])
    np.testing.assert_array_equal(plain.components_, limited.components_)


def test_tol_stops_when_a_pass_moves_the_dictionary_by_less(stream: np.ndarray) -> None:
    paper = {"contrast": "l3", "schedule": "paper", "random_state": 0}
    learner = OrthogonalDictionaryLearning(max_iter=50, tol=1e-3, **paper).fit(stream)
    assert learner.status_ is Status.CONVERGED
    assert 3 < learner.n_iter_ < 50
    last, before, earlier = (
        OrthogonalDictionaryLearning(max_iter=learner.n_iter_ - k, **paper).fit(stream).components_.T for k in range(3)
    )
    np.testing.assert_array_equal(learner.components_.T, last)
    assert relative_motion(before, last) < 1e-3 <= relative_motion(earlier, before)


def test_no_tolerance_and_a_tolerance_of_zero_never_stop(stream: np.ndarray) -> None:
    for tol in (None, 0, 0.0):
        learner = OrthogonalDictionaryLearning(max_iter=4, tol=tol, random_state=0).fit(stream)
        assert (learner.n_iter_, learner.status_) == (4, Status.STREAM_ENDED)


def test_a_large_tolerance_stops_after_two_passes(stream: np.ndarray) -> None:
    learner = OrthogonalDictionaryLearning(tol=10.0, random_state=0).fit(stream)
    assert (learner.n_iter_, learner.status_) == (2, Status.CONVERGED)


def test_a_callback_stops_within_a_pass(stream: np.ndarray) -> None:
    def third(progress: Progress) -> bool:
        return progress.t == 3

    learner = OrthogonalDictionaryLearning(max_iter=5, random_state=0, callbacks=[third]).fit(stream)
    assert (learner.n_iter_, learner.n_steps_, learner.status_) == (1, 3, Status.STOPPED)


def test_motion_is_relative_and_up_to_sign() -> None:
    turned = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 3)))[0]
    signs = np.array([1.0, -1.0, -1.0])
    assert relative_motion(turned, turned * signs) == 0.0
    c, s = np.cos(1e-3), np.sin(1e-3)
    assert relative_motion(np.eye(2), np.array([[c, -s], [s, c]])) == pytest.approx(1e-3, rel=1e-5)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_shuffling_takes_each_row_with_its_weight_once(kind: type) -> None:
    rows = np.arange(1.0, 24.0).reshape(23, 1)
    rng = np.random.RandomState(0)
    orders = []
    for _ in range(2):
        batches = list(mini_batches(kind(rows), rows[:, 0] ** 2, 5, rng))
        seen = np.concatenate([np.asarray(b.sum(axis=1)).ravel() for b, _ in batches])
        weights = np.concatenate([w for _, w in batches if w is not None])
        assert [b.shape[0] for b, _ in batches] == [5, 5, 5, 5, 3]
        np.testing.assert_array_equal(weights, seen**2)
        np.testing.assert_array_equal(np.sort(seen), rows[:, 0])
        orders.append(seen)
    assert not np.array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], rows[:, 0])


def test_shuffling_is_repeatable_and_differs_from_the_order_given(stream: np.ndarray) -> None:
    def fitted(**words: object) -> np.ndarray:
        return OrthogonalDictionaryLearning(contrast="l3", max_iter=2, **words).fit(stream).components_  # type: ignore[arg-type]

    first = fitted(shuffle=True, random_state=3)
    np.testing.assert_array_equal(first, fitted(shuffle=True, random_state=3))
    assert not np.array_equal(first, fitted(shuffle=False, random_state=3))
