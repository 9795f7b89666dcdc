"""The replay of the last samples: its gradient as written, its start, its memory, and what it is good for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import sparse

from orthostream._typing import FloatArray
from orthostream.optimize import PolarStep, SpectralBall, StochasticFrankWolfe, polar
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.replay import Replay
from orthostream.optimize.objectives.rank_weighted_energy import RankWeightedEnergy

Rng = np.random.Generator


def orthonormal(rng: Rng, features: int, atoms: int, stack: tuple[int, ...] = ()) -> FloatArray:
    return np.linalg.qr(rng.standard_normal((*stack, features, atoms)))[0]


def followed(
    estimate: Replay, x: FloatArray, batches: Sequence[FloatArray], weights: Sequence[FloatArray | None] | None = None
) -> tuple[FloatArray, ArrayBlock]:
    """Return point and memory after mini-batches, with the exact polar factor."""
    memory = estimate.begin(x)
    for i, batch in enumerate(batches):
        gradient, gamma, memory = estimate.update(memory, x, batch, None if weights is None else weights[i])
        if gamma:
            x = polar(-gradient, near=x)[0]
    return x, memory


def gradient_of_held(estimate: Replay, memory: ArrayBlock, x: FloatArray) -> FloatArray:
    """Return the ranked gradient at a point over the samples that are held."""
    held = memory["weights"] > 0.0
    return estimate._ranked(x, memory["rows"][held], memory["weights"][held])[0]


def spelled_out(estimate: Replay, x: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the gradient on rows of weight one, the newest last, atom by atom."""
    objective, count = estimate.objective, x.shape[1]
    z = rows @ x
    by_rank = [(1 - r / count) ** objective.power + objective.head / (1 + r) for r in range(count)]
    own = np.array([[by_rank[sum(abs(other) > abs(one) for other in row)] for one in row] for row in z])
    gradient = np.zeros_like(x)
    for j in range(count):
        mean = own[:, j].mean()
        age = np.arange(len(rows))[::-1]
        share = (1.0 + age) ** -(estimate.forgetting + estimate.spread * mean / by_rank[0])
        share /= share.sum()
        gradient[:, j] = -rows.T @ (share * z[:, j] * ((1 - objective.shrink) * own[:, j] + objective.shrink * mean))
    return gradient


def principal(rows: FloatArray, count: int) -> FloatArray:
    return principal_of(rows.T @ rows, count)


def assert_same_atoms(one: FloatArray, other: FloatArray, atol: float = 1e-9) -> None:
    """Assert that two dictionaries are the same in the same order, up to signs."""
    np.testing.assert_allclose(np.abs((one * other).sum(axis=-2)), 1.0, atol=atol)


@pytest.mark.parametrize("atoms", [6, 4, 1])
@pytest.mark.parametrize(
    "estimate", [Replay(rounds=1), Replay(RankWeightedEnergy(2.0, 0.3, 0.5), forgetting=0.9, spread=0.7, rounds=1)]
)
def test_gradient_is_as_written(atoms: int, estimate: Replay, rng: Rng) -> None:
    x, first, second = orthonormal(rng, 6, atoms), rng.standard_normal((9, 6)), rng.standard_normal((4, 6))
    _, _, memory = estimate.update(estimate.begin(x), x, first, None)
    gradient, gamma, _ = estimate.update(memory, x, second, None)
    assert gamma == 1.0
    wanted = spelled_out(estimate, x, np.concatenate((first, second)))
    np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-12)


def test_a_second_round_goes_on_from_the_first_with_the_same_samples(rng: Rng) -> None:
    one, two, x = Replay(rounds=1), Replay(rounds=2), orthonormal(rng, 5, 5)
    memory = one.update(one.begin(x), x, rng.standard_normal((12, 5)), None)[2]
    batch = rng.standard_normal((6, 5))
    gradient, _, after = one.update(memory, x, batch, None)
    again, _, held = two.update(memory, x, batch, None)
    between = polar(gradient, near=x, sign=-1.0)[0]
    np.testing.assert_allclose(again, gradient_of_held(one, after, between), rtol=1e-9, atol=1e-12)
    for name in ("rows", "weights"):
        np.testing.assert_array_equal(held[name], after[name])


def test_without_forgetting_it_is_the_gradient_of_the_objective(rng: Rng) -> None:
    estimate, x, rows = Replay(forgetting=0.0, spread=0.0), orthonormal(rng, 5, 5), rng.standard_normal((12, 5))
    _, _, memory = estimate.update(estimate.begin(x), x, rows, None)
    wanted = estimate.objective.gradient(x, rows)
    np.testing.assert_allclose(gradient_of_held(estimate, memory, x), wanted, rtol=1e-10)


def test_the_order_of_samples_counts(rng: Rng) -> None:
    estimate, x, rows = Replay(), orthonormal(rng, 4, 4), rng.standard_normal((10, 4))
    rows[-1] *= 100.0
    late, early = (
        gradient_of_held(estimate, estimate.update(estimate.begin(x), x, order, None)[2], x)
        for order in (rows, rows[::-1])
    )
    assert np.linalg.norm(late) > 2.0 * np.linalg.norm(early)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [2, 5, 70])
def test_memory_and_arguments_are_left_alone(size: int, weighted: bool, rng: Rng) -> None:
    estimate, x = Replay(), orthonormal(rng, 5, 5)
    memory = estimate.begin(x)
    for _ in range(20):
        batch = rng.standard_normal((size, 5))
        weights = rng.integers(0, 3, size).astype(float) if weighted else None
        for array in (x, batch, memory.array, *(() if weights is None else (weights,))):
            array.setflags(write=False)
        before = memory.array.copy()
        _, _, new = estimate.update(memory, x, batch, weights)
        assert new.array.shape == memory.array.shape
        np.testing.assert_array_equal(memory.array, before)
        memory = new
        assert not np.shares_memory(memory["rows"], batch)


@pytest.mark.parametrize("atoms", [5, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_stacks_equal_a_loop(atoms: int, weighted: bool, rng: Rng) -> None:
    """With weights of zero, the problems of the stack leave their starts at different times."""
    estimate, x = Replay(rows_per_feature=2), orthonormal(rng, 5, atoms, (2, 3))
    batches = [rng.standard_normal((2, 3, 3, 5)) * np.arange(1.0, 6.0) for _ in range(8)]
    weights = [rng.integers(0, 3, (2, 3, 3)).astype(float) if weighted else None for _ in batches]
    together, memory = followed(estimate, x, batches, weights)
    report = estimate.report(memory, 3)
    for at in np.ndindex(2, 3):
        alone, own = followed(
            estimate, x[at], [batch[at] for batch in batches], [None if w is None else w[at] for w in weights]
        )
        np.testing.assert_allclose(together[at], alone, atol=1e-9)
        assert report.half_life[at] == estimate.report(own, 3).half_life
        for name in own.keys() - {"guess"}:  # a stack has the least guess of all its problems
            np.testing.assert_allclose(memory[name][at], own[name], atol=1e-12)


def test_a_stack_may_share_a_batch(rng: Rng) -> None:
    estimate, x, batch = Replay(), orthonormal(rng, 5, 5, (3,)), rng.standard_normal((8, 5))
    weights = rng.random(8)
    _, _, repeated = estimate.update(estimate.begin(x), x, np.stack([batch] * 3), np.stack([weights] * 3))
    _, _, shared = estimate.update(estimate.begin(x), x, batch, weights)
    np.testing.assert_array_equal(shared.array, repeated.array)


@pytest.mark.parametrize("nothing", ["no weight", "zeros"])
def test_what_weighs_nothing_is_absent(nothing: str, rng: Rng) -> None:
    estimate, x = Replay(rows_per_feature=2), orthonormal(rng, 4, 4)
    batches = [rng.standard_normal((5, 4)) for _ in range(6)]
    keep = [rng.random(5) < 0.6 for _ in batches]
    keep[3][:] = False
    if nothing == "zeros":
        found = followed(estimate, x, [np.where(k[:, None], b, 0.0) for b, k in zip(batches, keep, strict=True)])
    else:
        found = followed(estimate, x, batches, [k.astype(float) for k in keep])
    wanted = followed(estimate, x, [b[k] for b, k in zip(batches, keep, strict=True) if k.any()])
    np.testing.assert_allclose(found[0], wanted[0], atol=1e-12)
    for name in ("rows", "weights", "ranking"):
        np.testing.assert_array_equal(found[1][name], wanted[1][name])


def test_only_ratios_of_weights_count(rng: Rng) -> None:
    estimate, x = Replay(), orthonormal(rng, 4, 4)
    batches, weights = [rng.standard_normal((5, 4)) for _ in range(4)], [rng.random(5) for _ in range(4)]
    one, _ = followed(estimate, x, batches, weights)
    other, _ = followed(estimate, x, batches, [0.01 * w for w in weights])
    np.testing.assert_allclose(one, other, atol=1e-10)


def test_weights_equal_repetition_where_nothing_is_forgotten(rng: Rng) -> None:
    estimate, x = Replay(forgetting=0.0, spread=0.0), orthonormal(rng, 4, 4)
    rows, counts = rng.standard_normal((8, 4)), np.array([1, 2, 1, 3, 1, 1, 2, 0])
    one, _ = followed(estimate, x, [rows], [counts.astype(float)])
    other, _ = followed(estimate, x, [np.repeat(rows, counts, axis=0)])
    np.testing.assert_allclose(one, other, atol=1e-10)


def test_nothing_at_all_moves_nothing(rng: Rng) -> None:
    solver = StochasticFrankWolfe(SpectralBall(), Replay(), post_step=PolarStep())
    start = solver.init(orthonormal(rng, 4, 4))
    still = solver.step(start, np.zeros((6, 4)))
    np.testing.assert_allclose(still.x, start.x, atol=1e-12)
    moved = solver.step(start, rng.standard_normal((6, 4)))
    for state in (solver.step(moved, np.zeros((6, 4))), solver.step(moved, np.ones((6, 4)), np.zeros(6))):
        np.testing.assert_allclose(state.x, moved.x, atol=1e-9)


@pytest.mark.parametrize("atoms", [6, 4, 1])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_small_first_batches_give_principal_components(atoms: int, size: int, rng: Rng) -> None:
    estimate, x = Replay(), orthonormal(rng, 6, atoms)
    rows = rng.standard_normal((5, 6)) * 2.0 ** -np.arange(6)
    found, _ = followed(estimate, x, [rows[i : i + size] for i in range(0, 5, size)])
    np.testing.assert_allclose(found.T @ found, np.eye(atoms), atol=1e-9)
    told = min(atoms, 5)  # five samples have five components
    assert_same_atoms(found[:, :told], principal(rows, told))


def test_ranks_count_once_there_are_samples_enough(rng: Rng) -> None:
    """One large first mini-batch is principal components in its first round, so that no ranks of the start count."""
    estimate, rows = Replay(rounds=1), rng.standard_normal((8, 6)) * 2.0 ** -np.arange(6)
    found, memory = followed(estimate, orthonormal(rng, 6, 6), [rows])
    assert_same_atoms(found, principal(rows, 6))
    again = gradient_of_held(estimate, memory, found)
    np.testing.assert_allclose(again, spelled_out(estimate, found, rows), rtol=1e-9, atol=1e-12)


def test_small_atoms_are_learnt_from_rows_of_single_precision(rng: Rng) -> None:
    """The gradient has singular values so far apart that single precision would take the small ones for zero."""
    basis = orthonormal(rng, 8, 8)
    codes = rng.standard_normal((600, 8)) * (rng.random((600, 8)) < 0.25)
    codes[:, 0] = 3000.0 * (1.0 + 0.1 * rng.standard_normal(600))
    rows = codes @ basis.T
    lost = []
    for dtype in (np.float64, np.float32):
        solver = StochasticFrankWolfe(SpectralBall(), Replay(rows_per_feature=40), post_step=PolarStep())
        state = solver.init(np.eye(8))
        for i in range(0, 600, 6):
            state = solver.step(state, rows[i : i + 6].astype(dtype))
        assert state.x.dtype == np.float64
        lost.append(float(np.sort((rows[-300:] @ state.x) ** 2, axis=1)[:, :-3].sum()))
    assert lost[1] == pytest.approx(lost[0], rel=0.05)


def test_of_a_batch_longer_than_the_memory_the_last_are_kept(rng: Rng) -> None:
    estimate, x, rows = Replay(rows_per_feature=2), orthonormal(rng, 4, 4), rng.standard_normal((50, 4))
    _, memory = followed(estimate, x, [rows])
    np.testing.assert_array_equal(memory["rows"], rows[-8:])
    _, memory = followed(estimate, x, [rows], [np.arange(50.0)])
    np.testing.assert_array_equal(memory["rows"], rows[-8:])
    np.testing.assert_array_equal(memory["weights"], np.arange(42.0, 50.0))
    _, memory = followed(estimate, x, [rows[:30], rows[30:35]])
    np.testing.assert_array_equal(memory["rows"], rows[27:35])


def test_sparse_rows_equal_dense_rows(rng: Rng) -> None:
    estimate, x = Replay(), orthonormal(rng, 6, 6)
    rows = rng.standard_normal((9, 6)) * (rng.random((9, 6)) < 0.5)
    dense, thin = (estimate.update(estimate.begin(x), x, kind(rows), None)[0] for kind in (np.array, sparse.csr_array))
    np.testing.assert_array_equal(dense, thin)


def test_rescaled_equals_a_rescaled_stream(rng: Rng) -> None:
    estimate, x, rows = Replay(), orthonormal(rng, 5, 5), rng.standard_normal((9, 5))
    _, memory = followed(estimate, x, [rows])
    _, larger = followed(estimate, x, [8.0 * rows])
    rescaled = estimate.rescaled(memory, 8.0)
    for name, array in larger.items():
        np.testing.assert_allclose(rescaled[name], array, rtol=1e-12)
    small, large = (estimate.update(m, x, f * rows, None)[0] for m, f in ((memory, 1.0), (rescaled, 8.0)))
    np.testing.assert_allclose(large, 8.0**estimate.power * small, rtol=1e-10)


def test_report_tells_where_half_of_the_weight_is(rng: Rng) -> None:
    estimate, x = Replay(RankWeightedEnergy(), rows_per_feature=20), orthonormal(rng, 5, 5)
    assert estimate.report(estimate.begin(x), 6).half_life == 0.0
    _, memory = followed(estimate, x, [rng.standard_normal((4, 5))])
    assert estimate.report(memory, 6).half_life == 2.0  # in the start, all weigh the same
    _, memory = followed(estimate, x, [rng.standard_normal((100, 5))] * 3)
    ranked = estimate.objective.rank_weights(5)
    share = np.arange(1.0, 101.0) ** -(0.5 + 0.35 * ranked.mean() / ranked[0])
    contrast, half_life, changes, trusted = estimate.report(memory, 6)
    assert contrast == 0.0 and changes == 0.0 and trusted == 1.0
    count = int(half_life)
    assert share[:count].sum() >= share.sum() / 2 > share[: count - 1].sum()


def test_saved_and_read_again_it_goes_on_as_before(rng: Rng) -> None:
    estimate, x = Replay(), orthonormal(rng, 5, 5)
    _, memory = followed(estimate, x, [rng.standard_normal((7, 5))])
    read = estimate.restored({name: array.copy() for name, array in memory.items()}, x)
    batch = rng.standard_normal((3, 5))
    one, other = (estimate.update(m, x, batch, None)[0] for m in (memory, read))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="Replay remembers rows"):
        Replay(rows_per_feature=3).restored(memory, x)


@pytest.mark.parametrize("atoms", [12, 8])
@pytest.mark.parametrize("first", [6, 60])
def test_keeps_more_than_principal_components(atoms: int, first: int, rng: Rng) -> None:
    """A mixture: each sample has a few large coefficients in a basis that turns slowly, all of equal energy."""
    features, kept, slots = 12, 3, 150
    basis, turn = orthonormal(rng, features, features), orthonormal(rng, features, features)
    solver = StochasticFrankWolfe(SpectralBall(), Replay(), post_step=PolarStep())
    state = solver.init(np.eye(features)[:, :atoms])
    scatters = {forgetting: np.zeros((features, features)) for forgetting in (0.8, 0.95, 1.0)}
    lost = dict.fromkeys(["replay", *scatters], 0.0)
    for slot in range(slots):
        codes = rng.standard_normal((6 if slot else first, features))
        codes *= np.where(rng.random(codes.shape) < 0.2, 1.0, 0.05)
        codes[:, atoms:] *= 0.1
        rows = codes @ basis.T
        basis = polar(basis + 0.001 * (turn - turn.T) @ basis)[0]
        for name, x in [("replay", state.x), *((f, principal_of(s, atoms)) for f, s in scatters.items())]:
            if slot > slots // 3:
                lost[name] += float((rows**2).sum() - np.sort((rows @ x) ** 2, axis=1)[:, -kept:].sum())
        state = solver.step(state, rows)
        scatters = {forgetting: forgetting * scatter + rows.T @ rows for forgetting, scatter in scatters.items()}
    replay = lost.pop("replay")
    assert replay < 0.5 * min(lost.values())


def principal_of(scatter: FloatArray, count: int) -> FloatArray:
    return np.linalg.eigh(scatter)[1][:, ::-1][:, :count]


@pytest.mark.parametrize("name", ["rows_per_feature", "rounds"])
@pytest.mark.parametrize("count", [0, 1.5])
def test_counts_are_whole_and_positive(name: str, count: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a positive integer, got {count}"):
        Replay(**{name: count})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["forgetting", "spread"])
@pytest.mark.parametrize("number", [-0.1, np.inf, np.nan])
def test_exponents_are_finite_and_not_negative(name: str, number: float) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a finite number of at least 0, got {number}"):
        Replay(**{name: number})  # type: ignore[arg-type]
