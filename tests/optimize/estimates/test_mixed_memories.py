"""Mixed memories: the gradient as written, the start, the shares, plain and compiled steps, what they are good for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np
import pytest
from scipy import sparse

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize import (
    MixedMemories,
    PolarStep,
    RankWeightedEnergy,
    Replay,
    SpectralBall,
    State,
    StochasticFrankWolfe,
    polar,
)
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.mixed_memories import arrays, loops
from orthostream.optimize.estimates.mixed_memories.constants import LESS, MEMORIES
from orthostream.optimize.estimates.mixed_memories.decisions import chosen_samples, forgetting_rates

Rng = np.random.Generator

BOTH = [without_numba, pytest.param(nullcontext, marks=pytest.mark.skipif(not can_compile(), reason="needs Numba"))]


def orthonormal(rng: Rng, features: int, atoms: int, stack: tuple[int, ...] = ()) -> FloatArray:
    return np.linalg.qr(rng.standard_normal((*stack, features, atoms)))[0]


def follower(estimate: MixedMemories | None = None) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(SpectralBall(), estimate or MixedMemories(), post_step=PolarStep())


def followed(
    estimate: MixedMemories,
    x: FloatArray,
    batches: Sequence[FloatArray],
    weights: Sequence[FloatArray | None] | None = None,
) -> tuple[FloatArray, ArrayBlock]:
    """Return point and memory after mini-batches, with the exact polar factor."""
    memory = estimate.begin(x)
    for i, batch in enumerate(batches):
        gradient, gamma, memory = estimate.update(memory, x, batch, None if weights is None else weights[i])
        if gamma:
            x = polar(-gradient, near=x)[0]
    return x, memory


def spelled_out(estimate: MixedMemories, x: FloatArray, batches: list[FloatArray], shares: FloatArray) -> FloatArray:
    """Return the gradient after mini-batches of which all samples are looked at, atom by atom."""
    objective, (features, count) = estimate.objective, x.shape
    rows, rates = np.concatenate(batches), forgetting_rates(features)
    z = rows @ x
    by_rank = [(1 - r / count) ** objective.power + objective.head / (1 + r) for r in range(count)]
    own = np.array([[by_rank[sum(abs(other) > abs(one) for other in row)] for one in row] for row in z])
    mean = own.mean(axis=0)
    moments = np.zeros((MEMORIES, features, features))
    weights = np.zeros(MEMORIES)
    for batch in batches:
        keep = np.exp(-rates * len(batch))
        moments = keep[:, None, None] * moments + batch.T @ batch
        weights = keep * weights + len(batch)
    age = np.arange(len(rows))[::-1]
    kernels = shares / weights @ np.exp(-rates[:, None] * age)
    kernels /= kernels.sum(axis=1, keepdims=True)
    gradient = np.zeros_like(x)
    for j in range(count):
        leads = (mean[j] / by_rank[0]) ** 2
        share = leads * shares[0] + (1 - leads) * shares[1]
        kernel = leads * kernels[0] + (1 - leads) * kernels[1]
        moment = np.tensordot(share / weights, moments, 1)
        gradient[:, j] -= (mean[j] - LESS * mean.min()) * moment @ x[:, j]
        gradient[:, j] -= (1 - objective.shrink) * rows.T @ (kernel * (own[:, j] - mean[j]) * z[:, j])
    return gradient


def principal_of(scatter: FloatArray, count: int) -> FloatArray:
    return np.linalg.eigh(scatter)[1][:, ::-1][:, :count]


@pytest.mark.parametrize("atoms", [6, 4, 1])
@pytest.mark.parametrize(
    "objective", [RankWeightedEnergy(), RankWeightedEnergy(2.0, 0.3, 0.5), RankWeightedEnergy(3, 1)]
)
def test_gradient_is_as_written(atoms: int, objective: RankWeightedEnergy, rng: Rng) -> None:
    estimate, x = MixedMemories(objective), orthonormal(rng, 6, atoms)
    batches = [rng.standard_normal((7, 6)), rng.standard_normal((4, 6))]
    _, _, memory = estimate.update(estimate.begin(x), x, batches[0], None)
    gradient, gamma, memory = estimate.update(memory, x, batches[1], None)
    assert gamma == 1.0
    np.testing.assert_allclose(memory["shares"].sum(axis=-1), 1.0)
    wanted = spelled_out(estimate, x, batches, memory["shares"])
    np.testing.assert_allclose(gradient, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("atoms", [6, 4, 1])
@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_the_first_samples_give_principal_components(atoms: int, size: int, rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 6, atoms)
    rows = rng.standard_normal((max(size, 5), 6)) * 2.0 ** -np.arange(6)
    found, _ = followed(estimate, x, [rows[i : i + size] for i in range(0, len(rows), size)])
    np.testing.assert_allclose(found.T @ found, np.eye(atoms), atol=1e-9)
    told = min(atoms, len(rows))  # five samples have five components
    wanted = principal_of(rows.T @ rows, told)
    np.testing.assert_allclose(np.abs((found[:, :told] * wanted).sum(axis=0)), 1.0, atol=1e-9)


def half_life(estimate: MixedMemories, memory: ArrayBlock) -> float:
    return float(estimate.report(memory, 6).half_life)


@pytest.mark.parametrize("path", BOTH)
def test_the_memory_finds_its_length(path: type, rng: Rng) -> None:
    """Long where the samples are drawn alike, short where their distribution turns all the time."""
    scales = 2.0 ** -np.arange(12.0)
    turn = rng.standard_normal((12, 12))
    found = {}
    with path():
        for speed in (0.0, 0.02):
            solver, basis = follower(), orthonormal(rng, 12, 12)
            state = solver.init(np.eye(12))
            for _ in range(300):
                state = solver.step(state, rng.standard_normal((6, 12)) * scales @ basis.T)
                basis = polar(basis + speed * (turn - turn.T) @ basis)[0]
            assert isinstance(solver.estimate, MixedMemories)
            found[speed] = half_life(solver.estimate, state.memory)
    assert found[0.0] > 400.0
    assert found[0.02] < 60.0


def test_report_before_and_during_the_start(rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 5, 5)
    assert half_life(estimate, estimate.begin(x)) == 0.0
    _, memory = followed(estimate, x, [rng.standard_normal((4, 5))])
    assert 0.0 < half_life(estimate, memory) < 2.0
    contrast, _, changes, trusted = estimate.report(memory, 6)
    assert contrast == 0.0 and changes == 0.0 and trusted == 1.0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [2, 5, 170])
def test_memory_and_arguments_are_left_alone(size: int, weighted: bool, rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 5, 5)
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


@pytest.mark.parametrize("path", BOTH)
@pytest.mark.parametrize("atoms", [5, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_stacks_equal_a_loop(atoms: int, weighted: bool, path: type, rng: Rng) -> None:
    """With weights of zero, the problems of the stack leave their starts at different times."""
    solver, x = follower(MixedMemories(rows_per_feature=3)), orthonormal(rng, 5, atoms, (2, 3))
    together, alone = solver.init(x), {at: solver.init(x[at]) for at in np.ndindex(2, 3)}
    with path():
        for _ in range(12):
            batch = rng.standard_normal((2, 3, 3, 5)) * np.arange(1.0, 6.0)
            weights = rng.integers(0, 3, (2, 3, 3)).astype(float) if weighted else None
            together = solver.step(together, batch, weights)
            for at, one in alone.items():
                alone[at] = solver.step(one, batch[at], None if weights is None else weights[at])
    report = solver.estimate.report(together.memory, 3)
    for at, own in alone.items():
        np.testing.assert_allclose(together.x[at], own.x, atol=1e-8)
        one = solver.estimate.report(own.memory, 3)
        assert report is not None and one is not None
        assert report.half_life[at] == pytest.approx(float(one.half_life), rel=1e-6)
        for name in own.memory:
            np.testing.assert_allclose(together.memory[name][at], own.memory[name], atol=1e-7)


def test_a_stack_may_share_a_batch(rng: Rng) -> None:
    estimate, x, batch = MixedMemories(), orthonormal(rng, 5, 5, (3,)), rng.standard_normal((8, 5))
    weights = rng.random(8)
    _, _, repeated = estimate.update(estimate.begin(x), x, np.stack([batch] * 3), np.stack([weights] * 3))
    _, _, shared = estimate.update(estimate.begin(x), x, batch, weights)
    np.testing.assert_array_equal(shared.array, repeated.array)


@pytest.mark.parametrize("path", BOTH)
@pytest.mark.parametrize("nothing", ["no weight", "zeros"])
def test_what_weighs_nothing_is_absent(nothing: str, path: type, rng: Rng) -> None:
    solver, start = follower(MixedMemories(rows_per_feature=2)), orthonormal(rng, 4, 4)
    found, wanted = solver.init(start), solver.init(start)
    with path():
        for i in range(8):
            batch, keep = rng.standard_normal((5, 4)), rng.random(5) < (0.0 if i == 5 else 0.6)
            told = np.where(keep[:, None], batch, 0.0) if nothing == "zeros" else batch
            found = solver.step(found, told, None if nothing == "zeros" else keep.astype(float))
            if keep.any():
                wanted = solver.step(wanted, batch[keep])
    np.testing.assert_allclose(found.x, wanted.x, atol=1e-9)
    for name in ("rows", "weights", "totals", "steps"):
        np.testing.assert_array_equal(found.memory[name], wanted.memory[name])


def test_a_sample_of_weight_two_counts_twice(rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 4, 4)
    rows, counts = rng.standard_normal((8, 4)), np.array([1, 2, 1, 3, 1, 1, 2, 0])
    one, weighted = followed(estimate, x, [rows], [counts.astype(float)])
    other, repeated = followed(estimate, x, [np.repeat(rows, counts, axis=0)])
    np.testing.assert_allclose(one, other, atol=1e-10)
    for name in ("moments", "totals"):
        np.testing.assert_allclose(weighted[name], repeated[name], rtol=1e-12)


@pytest.mark.parametrize("path", BOTH)
def test_nothing_at_all_moves_nothing(path: type, rng: Rng) -> None:
    solver = follower()
    start = solver.init(orthonormal(rng, 4, 4))
    with path():
        np.testing.assert_allclose(solver.step(start, np.zeros((6, 4))).x, start.x, atol=1e-12)
        moved = solver.step(solver.step(start, rng.standard_normal((6, 4))), rng.standard_normal((6, 4)))
        for state in (solver.step(moved, np.zeros((6, 4))), solver.step(moved, np.ones((6, 4)), np.zeros(6))):
            np.testing.assert_allclose(state.x, moved.x, atol=1e-9)
            np.testing.assert_array_equal(state.memory.array, moved.memory.array)


def test_rows_that_are_not_finite_are_refused(rng: Rng) -> None:
    solver = follower()
    state = solver.step(solver.init(np.eye(3)), rng.standard_normal((6, 3)))
    with pytest.raises(ValueError, match="not finite"):
        solver.step(state, np.array([[1.0, np.nan, 0.0]]))


@pytest.mark.parametrize("path", BOTH)
@pytest.mark.parametrize("kind", ["constant", "low rank", "outside", "one feature", "repeated"])
def test_degenerate_streams_keep_the_dictionary_orthonormal(kind: str, path: type, rng: Rng) -> None:
    features = 1 if kind == "one feature" else 6
    solver = follower()
    state = solver.init(np.eye(features)[:, : 3 if kind == "outside" else features])
    rows = rng.standard_normal((300, features))
    if kind == "constant":
        rows[:] = 1.0
    if kind == "low rank":
        rows[:, 2:] = 0.0
    if kind == "outside":  # the first atoms never see anything
        rows[:, 3:] *= 0.0
        rows[:, :3] = 0.0
        rows[:, 5] = 1.0
    if kind == "repeated":
        rows[:, 1] = rows[:, 0]
    with path():
        for i in range(0, 300, 5):
            state = solver.step(state, rows[i : i + 5])
    assert np.isfinite(state.memory.array).all()
    np.testing.assert_allclose(state.x.T @ state.x, np.eye(state.x.shape[1]), atol=1e-9)


@pytest.mark.parametrize("size", [1, 3, 64])
def test_any_size_of_mini_batch_will_do(size: int, rng: Rng) -> None:
    basis = orthonormal(rng, 8, 8)
    rows = rng.standard_normal((1920, 8)) * 2.0 ** -np.arange(8.0) @ basis.T
    solver = follower()
    state = solver.init(np.eye(8))
    for i in range(0, len(rows), size):
        state = solver.step(state, rows[i : i + size])
    kept = np.square(rows @ state.x[:, :2]).sum() / np.square(rows @ basis[:, :2]).sum()
    assert kept > 0.97


@pytest.mark.parametrize("path", BOTH)
def test_a_large_mini_batch_is_cut_into_parts(path: type, rng: Rng) -> None:
    solver, rows = follower(), rng.standard_normal((60, 8)) * 2.0 ** -np.arange(8.0)
    with path():
        start = solver.step(solver.init(orthonormal(rng, 8, 8)), rows[:24])
        cut = start
        for i in range(24, 60, 12):
            cut = solver.step(cut, rows[i : i + 12])
        whole = solver.step(start, rows[24:])
    np.testing.assert_allclose(whole.x, cut.x, atol=1e-9)
    np.testing.assert_allclose(whole.memory.array, cut.memory.array, rtol=1e-6, atol=1e-9)


def test_of_a_batch_longer_than_the_memory_the_last_are_kept(rng: Rng) -> None:
    estimate, x, rows = MixedMemories(rows_per_feature=2), orthonormal(rng, 4, 4), rng.standard_normal((50, 4))
    _, memory = followed(estimate, x, [rows])
    np.testing.assert_array_equal(memory["rows"], rows[-8:])
    _, memory = followed(estimate, x, [rows[:30], rows[30:35]])
    np.testing.assert_array_equal(memory["rows"], rows[27:35])
    assert memory["totals"][-1] == 35.0


def test_sparse_rows_equal_dense_rows(rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 6, 6)
    rows = rng.standard_normal((9, 6)) * (rng.random((9, 6)) < 0.5)
    dense, thin = (estimate.update(estimate.begin(x), x, kind(rows), None)[0] for kind in (np.array, sparse.csr_array))
    np.testing.assert_array_equal(dense, thin)


def test_rescaled_equals_a_rescaled_stream(rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 5, 5)
    batches = [rng.standard_normal((9, 5)) for _ in range(3)]
    _, memory = followed(estimate, x, batches)
    _, larger = followed(estimate, x, [8.0 * batch for batch in batches])
    rescaled = estimate.rescaled(memory, 8.0)
    for name, array in larger.items():
        np.testing.assert_allclose(rescaled[name], array, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(estimate.energy(larger), 64.0 * estimate.energy(memory), rtol=1e-12)
    assert estimate.energy(memory) == pytest.approx(np.square(np.concatenate(batches)).mean())


def test_saved_and_read_again_it_goes_on_as_before(rng: Rng) -> None:
    estimate, x = MixedMemories(), orthonormal(rng, 5, 5)
    _, memory = followed(estimate, x, [rng.standard_normal((7, 5)) for _ in range(3)])
    read = estimate.restored({name: array.copy() for name, array in memory.items()}, x)
    batch = rng.standard_normal((3, 5))
    one, other = (estimate.update(m, x, batch, None)[0] for m in (memory, read))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="MixedMemories remembers rows"):
        MixedMemories(rows_per_feature=3).restored(memory, x)


@pytest.mark.parametrize("stack", [(), (2,)])
def test_it_goes_on_from_the_samples_of_a_replay(stack: tuple[int, ...], rng: Rng) -> None:
    replay, mixed = (StochasticFrankWolfe(SpectralBall(), e(), post_step=PolarStep()) for e in (Replay, MixedMemories))
    state = replay.init(orthonormal(rng, 6, 6, stack))
    rows = rng.standard_normal((*stack, 60, 6)) * 3.0 ** -np.arange(6.0)
    for i in range(0, 30, 5):
        state = replay.step(state, rows[..., i : i + 5, :])
    read = mixed.restore(state.to_arrays())
    np.testing.assert_array_equal(read.x, state.x)
    np.testing.assert_array_equal(read.gradient, state.gradient)
    np.testing.assert_array_equal(read.memory["rows"][..., -30:, :], rows[..., :30, :])
    np.testing.assert_allclose(read.memory["totals"][..., -1], 30.0)
    for i in range(30, 60, 5):
        read = mixed.step(read, rows[..., i : i + 5, :])
    wanted = np.linalg.eigh(rows.mT @ rows)[1][..., ::-1]
    assert np.abs((read.x * wanted).sum(axis=-2)).min() > 0.7


@pytest.mark.skipif(not can_compile(), reason="needs Numba")
@pytest.mark.parametrize("shape", [(6, 6), (40, 40), (9, 4), (1, 1)])
@pytest.mark.parametrize("objective", [RankWeightedEnergy(), RankWeightedEnergy(2.0, 0.3, 0.5)])
def test_the_compiled_step_is_the_plain_one(shape: tuple[int, int], objective: RankWeightedEnergy, rng: Rng) -> None:
    """Each step is taken from the same state, by both."""
    solver, basis = follower(MixedMemories(objective)), orthonormal(rng, shape[0], shape[0])
    state = solver.init(orthonormal(rng, *shape))
    taken = 0
    for i in range(120):
        rows = rng.laplace(size=(1 + i % 9, shape[0])) * 1.03 ** -np.arange(shape[0]) @ basis.T
        rows[rng.random(len(rows)) < 0.1] = 0.0
        weights = rng.integers(0, 3, len(rows)).astype(float) if i % 3 == 0 else None
        plain = solver.plain_step(state, rows, weights)
        compiled = solver.compiled_step(state, rows, weights)
        if compiled is not None:
            taken += 1
            np.testing.assert_allclose(compiled.x, plain.x, atol=1e-9)
            for name, array in plain.memory.items():
                np.testing.assert_allclose(compiled.memory[name], array, rtol=1e-9, atol=1e-10)
        state = plain
    assert taken > 60


@pytest.mark.skipif(not can_compile(), reason="needs Numba")
def test_small_samples_that_only_the_plain_step_takes(rng: Rng) -> None:
    solver = follower()
    state: State = solver.init(np.eye(4))
    for _ in range(12):
        state = solver.step(state, rng.standard_normal((6, 4)) * 2.0**-150)
    assert np.isfinite(state.memory.array).all()
    assert solver.compiled_step(state, rng.standard_normal((6, 4)) * 2.0**-150) is None


def test_loops_equal_arrays(rng: Rng) -> None:
    """The two forms of each operation, both run by Python."""
    z, table = rng.standard_normal((7, 5)), np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    z[2] = [1.0, -1.0, 1e-14, 0.0, -1e-15]
    own = arrays.own_weights(z, table)
    np.testing.assert_array_equal(own, loops.own_weights(z, table))
    np.testing.assert_array_equal(own[2], table)
    products, scale, leads = rng.standard_normal((MEMORIES + 1, 5, 5)), rng.random(5), rng.random(5)
    totals = 1.0 + rng.random(MEMORIES)
    one, other = (kind.agreement(products.copy(), totals, scale, leads) for kind in (arrays, loops))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    mean, shares = rng.random(5), rng.random((2, 7))
    one, other = (kind.deviating(z, own, mean, leads, shares) for kind in (arrays, loops))
    np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize(("held", "look", "reach"), [(3, 10, 50.0), (50, 10, 50.0), (30, 10, 80.0), (9, 2, 9.0)])
def test_chosen_samples_stand_for_all_within_reach(held: int, look: int, reach: float) -> None:
    seen = set()
    for steps in range(200):
        ages, counts = chosen_samples(held, look, reach, float(steps))
        assert len(set(ages.tolist())) == len(ages) <= max(look, 5)
        assert counts.sum() == pytest.approx(min(held, reach))
        seen |= set(ages.tolist())
    assert seen == set(range(int(min(held, reach))))


@pytest.mark.parametrize("atoms", [12, 8])
@pytest.mark.parametrize("first", [6, 60])
def test_keeps_more_than_principal_components(atoms: int, first: int, rng: Rng) -> None:
    """A mixture: each sample has a few large coefficients in a basis that turns slowly, all of equal energy."""
    features, kept, slots = 12, 3, 150
    basis, turn = orthonormal(rng, features, features), orthonormal(rng, features, features)
    solver = follower()
    state = solver.init(np.eye(features)[:, :atoms])
    scatters = {forgetting: np.zeros((features, features)) for forgetting in (0.8, 0.95, 1.0)}
    lost = dict.fromkeys(["mixed", *scatters], 0.0)
    for slot in range(slots):
        codes = rng.standard_normal((6 if slot else first, features))
        codes *= np.where(rng.random(codes.shape) < 0.2, 1.0, 0.05)
        codes[:, atoms:] *= 0.1
        rows = codes @ basis.T
        basis = polar(basis + 0.001 * (turn - turn.T) @ basis)[0]
        for name, x in [("mixed", state.x), *((f, principal_of(s, atoms)) for f, s in scatters.items())]:
            if slot > slots // 3:
                lost[name] += float((rows**2).sum() - np.sort((rows @ x) ** 2, axis=1)[:, -kept:].sum())
        state = solver.step(state, rows)
        scatters = {forgetting: forgetting * scatter + rows.T @ rows for forgetting, scatter in scatters.items()}
    mixed = lost.pop("mixed")
    assert mixed < 0.6 * min(lost.values())


@pytest.mark.parametrize("count", [0, 1.5])
def test_counts_are_whole_and_positive(count: float) -> None:
    with pytest.raises(ValueError, match=f"rows_per_feature must be a positive integer, got {count}"):
        MixedMemories(rows_per_feature=count)  # type: ignore[arg-type]
