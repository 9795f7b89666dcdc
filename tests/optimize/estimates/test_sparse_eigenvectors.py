"""Sparse eigenvectors: what is noise, the best support, orthogonal components, both forms of the second moment."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from orthostream._typing import FloatArray
from orthostream.optimize import L2Ball, SparseEigenvectors, State, StochasticFrankWolfe
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.sparse_eigenvectors.components import Tolerance, sparse_components
from orthostream.optimize.estimates.sparse_eigenvectors.moment import Moment
from orthostream.optimize.estimates.sparse_eigenvectors.sketched_moment import SketchedMoment
from orthostream.optimize.estimates.sparse_eigenvectors.support import (
    kept_shares,
    most_certain_first,
    standard_errors,
)
from orthostream.optimize.estimates.sparse_eigenvectors.whole_moment import WholeMoment

Rng = np.random.Generator
WHOLE, SKETCHED = SparseEigenvectors(), SparseEigenvectors(largest_matrix=0, rank=3)


def spiked(rng: Rng, shape: tuple[int, ...], *, nonzero: int = 4, size: float = 3.0) -> FloatArray:
    """Return white noise with one more source, the same in the first features."""
    rows = rng.standard_normal(shape)
    rows[..., :nonzero] += size / nonzero**0.5 * rng.standard_normal((*shape[:-1], 1))
    return rows


def followed(estimate: SparseEigenvectors, x: FloatArray, batches: Any, weights: Any = None) -> State:
    solver = StochasticFrankWolfe(L2Ball(), estimate)
    state = solver.init(x)
    for i, batch in enumerate(batches):
        state = solver.step(state, batch, None if weights is None else weights[i])
    return state


# -- noise and support ---------------------------------------------------------------------------------------------


def test_standard_errors_are_those_of_repeated_draws(rng: Rng) -> None:
    """For the entries of an eigenvector outside of the support, and for covariances with a given component."""
    samples, features = 500, 12
    draws = spiked(rng, (400, samples, features), nonzero=3, size=2.0)
    moments = draws.mT @ draws / samples
    variance, given_component = 5.0, np.r_[np.full(3, 3**-0.5), np.zeros(features - 3)]
    vectors = np.linalg.eigh(moments)[1][..., -1]
    vectors *= np.sign(vectors[:, :1])
    rest, outside = np.ones(features), np.ones(features, dtype=bool)
    wanted = standard_errors(variance, rest, samples)[3:]
    np.testing.assert_allclose(vectors[:, 3:].std(axis=0), wanted, rtol=0.15)
    covariances = (moments @ given_component)[:, 3:] / variance
    np.testing.assert_allclose(
        covariances.std(axis=0), standard_errors(variance, rest, samples, outside)[3:], rtol=0.15
    )


def test_shares_are_small_for_noise_and_large_where_much_is_large(rng: Rng) -> None:
    noise = rng.standard_normal(1000)
    assert kept_shares(noise).max() < 0.3
    few = kept_shares(np.r_[noise, 3.0])[-1]
    many = kept_shares(np.r_[noise, np.full(1000, 3.0)])[-1]
    assert few < 0.5 < many


def test_the_kept_entries_have_the_largest_cosine_in_the_mean(rng: Rng) -> None:
    """Fewer or more entries of the same order are farther from the truth."""
    cosines: dict[int, list[float]] = {}
    for _ in range(300):
        truth = rng.standard_normal(60) * (rng.random(60) < 0.3)
        entries = truth + 0.3 * rng.standard_normal(60)
        order, size = most_certain_first(entries, np.full(60, 0.3))
        for change in (-8, -4, 0, 6, 15):
            kept = np.zeros(60)
            kept[order[: max(size + change, 1)]] = entries[order[: max(size + change, 1)]]
            cosines.setdefault(change, []).append(kept @ truth / np.linalg.norm(kept) / np.linalg.norm(truth))
    means = {change: np.mean(found) for change, found in cosines.items()}
    assert max(means, key=lambda change: means[change]) == 0


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=8), st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_some_entries_are_always_kept_and_no_zero_beside_them(entries: list[float], error: float) -> None:
    values = np.array(entries)
    order, size = most_certain_first(values, np.full(len(values), error))
    assert sorted(order) == list(range(len(values)))
    assert 1 <= size <= max(np.count_nonzero(values), 1)


# -- components ------------------------------------------------------------------------------------------------------


def moments_of(rows: FloatArray) -> list[Moment]:
    scaled = rows / len(rows) ** 0.5
    return [WholeMoment(scaled.T @ scaled), SketchedMoment(scaled, np.square(scaled).sum(axis=0))]


@pytest.mark.parametrize("shape", [(30, 8), (6, 8), (8, 8)])
def test_both_forms_of_a_moment_agree(shape: tuple[int, int], rng: Rng) -> None:
    whole, sketch = moments_of(rng.standard_normal(shape))
    vector = rng.standard_normal(8)
    np.testing.assert_allclose(sketch.times(vector), whole.times(vector), atol=1e-12)
    assert sketch.trace_of_square() == pytest.approx(whole.trace_of_square())
    before = np.linalg.qr(rng.standard_normal((8, 2)))[0].T
    for support in (np.arange(8), np.array([0, 3, 5, 6]), np.array([1, 2, 7])):
        one, other = (moment.leading(support, before) for moment in (whole, sketch))
        assert one[0] == pytest.approx(other[0])
        np.testing.assert_allclose(np.abs(one[1]), np.abs(other[1]), atol=1e-6)
        np.testing.assert_allclose(before @ one[1], 0.0, atol=1e-12)
        assert set(one[1].nonzero()[0]) <= set(support)


def test_leading_has_the_largest_variance_of_all_allowed(rng: Rng) -> None:
    moment = moments_of(rng.standard_normal((40, 9)))[0]
    before, support = np.linalg.qr(rng.standard_normal((9, 2)))[0].T, np.array([0, 2, 3, 7, 8])
    variance, _ = moment.leading(support, before)
    for _ in range(500):
        trial = np.zeros(9)
        free = rng.standard_normal(5)
        basis = np.linalg.qr(before[:, support].T)[0]
        trial[support] = free - basis @ (basis.T @ free)
        trial /= np.linalg.norm(trial)
        assert trial @ moment.times(trial) <= variance * (1.0 + 1e-12)


@given(
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(1, 30),
    st.floats(0, 1),
    st.sampled_from([0.1, 5.0, np.inf]),
    st.integers(0, 10**6),
)
@example(features=3, count=3, samples=1, loss=0.0, certain=5.0, seed=2)
@settings(max_examples=60, deadline=None)
def test_components_are_orthonormal_whatever_the_samples(
    features: int, count: int, samples: int, loss: float, certain: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    count = min(count, features)
    rows = rng.standard_normal((samples, features)) * rng.choice([0.0, 1.0, 100.0], features)
    rows[:, 0] += 1.0
    for moment in moments_of(rows):
        found, variances = sparse_components(moment, samples, count, Tolerance(loss, certain))
        np.testing.assert_allclose(found @ found.T, np.eye(count), atol=1e-9)
        np.testing.assert_allclose(variances, [z @ moment.times(z) for z in found], atol=1e-9 * variances[0])


def test_without_noise_and_loss_components_are_the_eigenvectors(rng: Rng) -> None:
    axes = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    moment = WholeMoment((axes * np.array([9.0, 5.0, 4.0, 2.0, 1.0, 0.5])) @ axes.T)
    found, variances = sparse_components(moment, 1e12, 6, Tolerance())
    np.testing.assert_allclose(np.abs(np.diagonal(found @ axes)), 1.0, atol=1e-9)
    np.testing.assert_allclose(variances, [9.0, 5.0, 4.0, 2.0, 1.0, 0.5], rtol=1e-9)


def test_stray_entries_of_a_component_do_not_spoil_a_later_one() -> None:
    """The first component of this stream has small entries on the support of the third, nearly parallel to it."""
    rng = np.random.default_rng([777, 7])
    true = np.zeros((3, 60))
    for vector, support in zip(true, (range(5), range(10, 18), range(30, 40)), strict=True):
        vector[support] = rng.choice([-1.0, 1.0], len(support)) / len(support) ** 0.5
    rows = rng.standard_normal((30_000, 60))
    for vector, variance in zip(true, (3.0, 2.5, 2.0), strict=True):
        rows += np.outer((variance - 1.0) ** 0.5 * rng.standard_normal(30_000), vector)
    found, _ = sparse_components(moments_of(rows)[0], 30_000, 3, Tolerance())
    assert found[0, 30:40].any()
    assert (1.0 - np.abs((found * true).sum(axis=1)) < 0.005).all()
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-12)


# -- the estimate ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimate", [WHOLE, SKETCHED])
def test_a_stack_is_a_loop(estimate: SparseEigenvectors, rng: Rng) -> None:
    batches = spiked(rng, (30, 3, 5, 20))
    x = np.broadcast_to(np.eye(2, 20), (3, 2, 20))
    together = followed(estimate, x, batches)
    for i in range(3):
        alone = followed(estimate, x[i], batches[:, i])
        np.testing.assert_allclose(together.x[i], alone.x, atol=1e-12)
        np.testing.assert_allclose(together.memory.array[i], alone.memory.array, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("estimate", [WHOLE, SKETCHED])
def test_the_gradient_points_away_from_the_components(estimate: SparseEigenvectors, rng: Rng) -> None:
    state = followed(estimate, np.eye(2, 20), spiked(rng, (1, 50, 20)))
    found, variances = estimate.sought(state.memory, state.x)
    np.testing.assert_allclose(state.gradient, -2.0 * variances[:, None] * found, atol=1e-12)
    np.testing.assert_allclose(state.x, found, atol=1e-12)


def test_the_point_is_a_tenth_behind_at_most_and_components_are_not(rng: Rng) -> None:
    solver = StochasticFrankWolfe(L2Ball(), WHOLE)
    state = solver.init(np.eye(1, 10))
    same = 0
    for t in range(1, 101):
        before, state = state, solver.step(state, spiked(rng, (4, 10)))
        same += np.array_equal(before.x, state.x)
        assert state.memory["fresh"] <= 0.1 * state.memory["weight"]
        assert state.memory["weight"] == 4.0 * t
        np.testing.assert_allclose(WHOLE.components(state.memory, state.x), WHOLE.sought(state.memory, state.x)[0])
    assert same > 50


def test_a_sketch_with_room_for_all_rows_is_exact(rng: Rng) -> None:
    rows = spiked(rng, (90, 300))
    roomy = followed(SparseEigenvectors(largest_matrix=0), np.eye(2, 300), [rows])
    whole = followed(SparseEigenvectors(), np.eye(2, 300), [rows])
    assert "rows" in roomy.memory and "moment" in whole.memory
    np.testing.assert_allclose(roomy.x, whole.x, atol=1e-9)


@pytest.mark.parametrize("size", [1, 7, 40])
def test_a_sketch_does_not_depend_on_the_cut(size: int, rng: Rng) -> None:
    rows = spiked(rng, (120, 20))
    whole = followed(SKETCHED, np.eye(1, 20), [rows])
    pieces = followed(SKETCHED, np.eye(1, 20), [rows[i : i + size] for i in range(0, 120, size)])
    np.testing.assert_array_equal(pieces.memory["rows"], whole.memory["rows"])
    np.testing.assert_allclose(pieces.memory["diagonal"], whole.memory["diagonal"])
    np.testing.assert_allclose(np.abs(SKETCHED.components(pieces.memory, pieces.x)), np.abs(whole.x), atol=1e-9)


def test_a_sketch_stays_close_to_the_whole_moment(rng: Rng) -> None:
    batches = spiked(rng, (400, 10, 60), size=2.0)
    truth = np.r_[np.full(4, 0.5), np.zeros(56)]
    errors = {}
    for name, estimate in {
        "whole": SparseEigenvectors(),
        "sketch": SparseEigenvectors(largest_matrix=0, rank=20),
    }.items():
        state = followed(estimate, np.eye(1, 60), batches)
        errors[name] = 1.0 - abs(estimate.components(state.memory, state.x)[0] @ truth)
        assert ("rows" in state.memory) == (name == "sketch")
    assert errors["sketch"] < 2.0 * errors["whole"] + 1e-4


@pytest.mark.parametrize("estimate", [WHOLE, SKETCHED, SparseEigenvectors(half_life=20.0)])
def test_weights_are_repetitions_and_sparse_rows_are_rows(estimate: SparseEigenvectors, rng: Rng) -> None:
    rows = spiked(rng, (40, 20)) * (rng.random((40, 20)) < 0.5)
    counts = rng.integers(0, 3, 40).astype(float)
    repeated = followed(estimate, np.eye(1, 20), [np.repeat(rows, counts.astype(int), axis=0)])
    for batch in (rows, sparse.csr_array(rows), sparse.csr_matrix(rows)):
        weighted = followed(estimate, np.eye(1, 20), [batch], [counts])
        for name in ("weight", "squares", "fourth"):
            np.testing.assert_allclose(weighted.memory[name], repeated.memory[name])
        if estimate is not SKETCHED:  # repeated rows fill a sketch sooner
            np.testing.assert_allclose(weighted.x, repeated.x, atol=1e-9)


def test_samples_before_a_half_life_count_half(rng: Rng) -> None:
    estimate = SparseEigenvectors(half_life=10.0)
    first, second = rng.standard_normal((2, 10, 6))
    memory = followed(estimate, np.eye(1, 6), [first, second]).memory
    np.testing.assert_allclose(memory["moment"], 0.5 * first.T @ first + second.T @ second)
    assert (memory["weight"], memory["squares"]) == (15.0, 12.5)
    lengths = [np.sum(np.square(rows).sum(axis=1) ** 2) for rows in (first, second)]
    assert float(memory["fourth"]) == pytest.approx(0.5 * lengths[0] + lengths[1])
    sketch = followed(
        SparseEigenvectors(half_life=10.0, largest_matrix=0, rank=30),
        np.eye(1, 100),
        [np.pad(r, ((0, 0), (0, 94))) for r in (first, second)],
    )
    held = sketch.memory["rows"][:, :6]
    np.testing.assert_allclose(held.T @ held, memory["moment"], atol=1e-12)


def test_heavy_tails_count_as_fewer_samples(rng: Rng) -> None:
    """Samples of very uneven length have noisier components, which must not be taken for signal."""
    wrong = {"normal": 0, "uneven": 0}
    for _ in range(20):
        rows = spiked(rng, (2000, 30), size=2.0) * (3.0 / rng.chisquare(5, (2000, 1))) ** 0.5
        state = followed(WHOLE, np.eye(1, 30), [rows])
        wrong["uneven"] += np.count_nonzero(state.x[0, 4:])
        assert state.x[0, :4].all()
        as_if_normal = ArrayBlock(state.memory.layout, state.memory.array.copy())
        as_if_normal["fourth"][...] = 0.0
        wrong["normal"] += np.count_nonzero(WHOLE.sought(as_if_normal, state.x)[0][0, 4:])
    assert wrong["uneven"] < 0.4 * wrong["normal"]


def test_all_of_it_grows_with_the_data(rng: Rng) -> None:
    rows = spiked(rng, (50, 20))
    for estimate in (WHOLE, SKETCHED):
        state = followed(estimate, np.eye(2, 20), [rows])
        larger = followed(estimate, np.eye(2, 20), [rows * 8.0])
        rescaled = estimate.rescaled(state.memory, 8.0)
        np.testing.assert_allclose(rescaled.array, larger.memory.array, rtol=1e-9, atol=1e-9)


def test_nothing_learnt_nothing_changed() -> None:
    for rows in (np.zeros((5, 4)), np.ones((5, 4))):
        state = followed(WHOLE, np.eye(2, 4), [rows], [np.zeros(5)] if rows.any() else None)
        np.testing.assert_array_equal(state.x, np.eye(2, 4))


def test_values_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ValueError, match="not finite"):
        followed(WHOLE, np.eye(1, 3), [np.full((2, 3), np.nan)])
    with pytest.raises(ValueError, match="components as rows"):
        StochasticFrankWolfe(L2Ball(), WHOLE).init(np.zeros(3))


def test_the_last_answer_is_kept_but_not_pickled(rng: Rng) -> None:
    estimate = SparseEigenvectors()
    state = followed(estimate, np.eye(1, 5), [spiked(rng, (50, 5)), spiked(rng, (2, 5))])
    assert state.memory["fresh"] == 2.0
    found = estimate.components(state.memory, state.x)
    assert estimate.components(state.memory, state.x) is found
    again = pickle.loads(pickle.dumps(estimate))
    assert again._last is None
    np.testing.assert_array_equal(again.components(state.memory, state.x), found)


@pytest.mark.parametrize("words", [{"variance_loss": 1.5}, {"half_life": -1.0}, {"rank": 0}, {"largest_matrix": -1}])
def test_bad_words(words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        SparseEigenvectors(**words)
