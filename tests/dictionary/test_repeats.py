"""Samples and mini-batches that come again and again: in a stream they are learnt from a few times, in `fit` always."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream._compile import without_numba
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.metrics import recovery_error
from orthostream.optimize.estimates.guarded.layout import SEEN


@pytest.mark.parametrize("each", [50, 7])
def test_a_stream_of_repeats_is_learnt_from_the_samples_that_differ(each: int) -> None:
    data = make_bernoulli_gaussian(400, 10, random_state=0)
    learner = OrthogonalDictionaryLearning(random_state=1)
    rows = np.repeat(data.samples, each, axis=0)
    for start in range(0, len(rows), 10):
        learner.partial_fit(rows[start : start + 10])
    assert recovery_error(learner.components_, data.components) < 1e-9


@pytest.mark.parametrize("atoms", [None, 4])
@pytest.mark.parametrize("compiles", [True, False])
def test_a_row_counts_four_times_in_a_row(atoms: int | None, compiles: bool) -> None:
    learner = OrthogonalDictionaryLearning(atoms, random_state=0)
    for row in make_bernoulli_gaussian(60, 10, random_state=2, sparsity=0.6).samples:
        for _ in range(8):
            with nullcontext() if compiles else without_numba():
                learner.partial_fit(row[None])
    guard = learner.state_.memory["guard" if atoms is None else "door"]
    assert guard[SEEN] == 4 * 60


def test_more_repeats_than_a_few_change_nothing() -> None:
    rows = make_bernoulli_gaussian(30, 10, random_state=3).samples
    learner = OrthogonalDictionaryLearning(random_state=0)
    for _ in range(4):
        learner.partial_fit(rows)
    before = learner.state_
    learner.partial_fit(rows)
    np.testing.assert_array_equal(learner.state_.x, before.x)


def test_whole_numbers_that_differ_are_no_repeats() -> None:
    rows = [[1.0, 0.0, 0.0, 4.0], [0.0, 2.0, 3.0, 0.0], [2.0, 3.0, 0.0, 0.0], [0.0, 0.0, 1.0, 4.0]]
    learner = OrthogonalDictionaryLearning(random_state=0)
    for i in range(40):
        before = None if i == 0 else learner.state_.x
        learner.partial_fit([rows[i % 4]])
    assert not np.array_equal(learner.state_.x, before)


def test_passes_of_fit_are_not_repeats() -> None:
    rows = make_bernoulli_gaussian(40, 6, random_state=4).samples
    short, long = (OrthogonalDictionaryLearning(max_iter=n, random_state=0).fit(rows) for n in (5, 200))
    assert np.abs(short.components_ - long.components_).max() > 1e-6


def test_a_fit_that_is_interrupted_leaves_a_learner_for_streams() -> None:
    rows = make_bernoulli_gaussian(40, 6, random_state=4).samples

    def interrupt(progress: object) -> bool:
        raise KeyboardInterrupt

    learner = OrthogonalDictionaryLearning(random_state=0, callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        learner.fit(rows)
    assert learner.solver_.estimate.skip_repeats
