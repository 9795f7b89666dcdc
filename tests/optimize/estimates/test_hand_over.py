"""What a hand-over promises: exact where codes are sparse, not lost where they are not, awake when something moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext

import numpy as np
import pytest

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize import (
    AdaptiveSchedule,
    CoolThenConstant,
    HandOver,
    LpContrast,
    PaperSchedule,
    PolarStep,
    Progress,
    SpectralBall,
    SpikeAndSlab,
    State,
    StochasticFrankWolfe,
    polar,
)
from orthostream.optimize.estimates.hand_over.layout import AGE, PHASE
from orthostream.optimize.polar_decomposition import by_singular_values

Rng = np.random.Generator
Codes = Callable[[Rng, tuple[int, ...]], FloatArray]


def sparse(rng: Rng, shape: tuple[int, ...], sparsity: float = 0.3) -> FloatArray:
    return rng.standard_normal(shape) * (rng.random(shape) < sparsity)


def signs(rng: Rng, shape: tuple[int, ...]) -> FloatArray:
    return rng.choice([-1.0, 1.0], shape) * (rng.random(shape) < 0.3)


def laplacian(rng: Rng, shape: tuple[int, ...]) -> FloatArray:
    return rng.laplace(size=shape)


def orthogonal(rng: Rng, *shape: int) -> FloatArray:
    return polar(rng.standard_normal(shape))[0]


def follower(estimate: HandOver | None = None) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(SpectralBall(), estimate or HandOver(), post_step=PolarStep())


def _half_life(solver: StochasticFrankWolfe, state: State) -> float:
    report = solver.estimate.report(state.memory, 10)
    assert report is not None
    return float(report.half_life)


def errors(x: FloatArray, truth: FloatArray) -> FloatArray:
    return np.abs(1.0 - ((x.mT @ truth) ** 4).sum(axis=(-2, -1)) / x.shape[-1])


def stream(rng: Rng, truth: FloatArray, steps: int, size: int = 10, codes: Codes = sparse) -> Iterator[FloatArray]:
    for _ in range(steps):
        yield codes(rng, (*truth.shape[:-2], size, truth.shape[-1])) @ truth.mT


def run(solver: StochasticFrankWolfe, state: State, batches: Iterator[FloatArray]) -> State:
    for batch in batches:
        state = solver.step(state, batch)
    return state


@pytest.mark.parametrize("codes", [sparse, signs], ids=["gaussian slab", "plus or minus one"])
def test_exactly_sparse_codes_are_recovered_exactly(codes: Codes, rng: Rng) -> None:
    truth, start = orthogonal(rng, 12, 8, 8), orthogonal(rng, 12, 8, 8)
    solver = follower()
    state = run(solver, solver.init(start), stream(rng, truth, 400, codes=codes))
    assert errors(state.x, truth).max() < 1e-12


def test_fewer_atoms_than_features(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 12, 5), orthogonal(rng, 6, 12, 5)
    solver = follower()
    state = run(solver, solver.init(start), stream(rng, truth, 400))
    assert errors(state.x, truth).max() < 1e-12


def test_atoms_that_always_occur_together_do_not_spoil_the_others(rng: Rng) -> None:
    def paired(draw: Rng, shape: tuple[int, ...]) -> FloatArray:
        codes = sparse(draw, shape)
        codes[..., 1] = (codes[..., 0] != 0.0) * draw.standard_normal(shape[:-1])
        return codes

    truth, start = orthogonal(rng, 6, 8, 8), orthogonal(rng, 6, 8, 8)
    solver = follower()
    state = run(solver, solver.init(start), stream(rng, truth, 1500, codes=paired))
    likeness = np.abs(state.x.mT @ truth).max(axis=-2)
    assert np.median(1.0 - likeness[:, 2:].min(axis=-1)) < 1e-12


@pytest.mark.parametrize("noise", [0.02, 0.1])
def test_fewer_atoms_than_features_with_noise(noise: float, rng: Rng) -> None:
    truth, start = orthogonal(rng, 8, 10, 8), orthogonal(rng, 8, 10, 8)
    batches = [batch + noise * rng.standard_normal(batch.shape) for batch in stream(rng, truth, 800)]
    ours, theirs = (
        run(solver, solver.init(start), iter(batches)).x
        for solver in (follower(), StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep()))
    )
    assert errors(ours, truth).max() < np.median(errors(theirs, truth))


@pytest.mark.parametrize("atoms", [1, 3])
def test_a_stream_with_more_than_the_atoms_hold_is_left_to_the_first_contrast(atoms: int, rng: Rng) -> None:
    truth, start = orthogonal(rng, 20, 5, 5), orthogonal(rng, 20, 5, atoms)
    batches = [batch + 0.05 * rng.standard_normal(batch.shape) for batch in stream(rng, truth, 800)]
    ours, theirs = (
        run(solver, solver.init(start), iter(batches))
        for solver in (follower(), StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep()))
    )
    assert not ours.memory["numbers"][:, PHASE].any()
    found, paper = (np.median(np.abs(1.0 - ((s.x.mT @ truth) ** 4).sum(axis=(-2, -1)) / atoms)) for s in (ours, theirs))
    assert found < 5.0 * paper  # the first contrast with one polar factor a step is not as smooth as the paper's two


def test_slabs_of_unequal_size_are_no_worse_than_the_paper(rng: Rng) -> None:
    scales = np.geomspace(0.3, 3.0, 8)
    truth, start = orthogonal(rng, 12, 8, 8), orthogonal(rng, 12, 8, 8)
    batches = list(stream(rng, truth, 800, codes=lambda g, s: sparse(g, s) * scales))
    ours, theirs = (
        run(solver, solver.init(start), iter(batches)).x
        for solver in (follower(), StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep()))
    )
    assert np.median(errors(ours, truth)) < 1.1 * np.median(errors(theirs, truth))


@pytest.mark.parametrize(("noise", "most"), [(0.01, 1e-5), (0.1, 1e-3)])
def test_noise_is_averaged_out(noise: float, most: float, rng: Rng) -> None:
    truth, start = orthogonal(rng, 12, 8, 8), orthogonal(rng, 12, 8, 8)
    solver = follower()
    state = solver.init(start)
    for batch in stream(rng, truth, 600):
        state = solver.step(state, batch + noise * rng.standard_normal(batch.shape))
    assert errors(state.x, truth).max() < most


def test_codes_that_are_not_sparse_beat_the_averaged_paper(rng: Rng) -> None:
    truth, start = orthogonal(rng, 30, 8, 8), orthogonal(rng, 30, 8, 8)
    batches = list(stream(rng, truth, 1500, codes=laplacian))
    averaging = StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep(), average=True)
    theirs = run(averaging, averaging.init(start), iter(batches)).average
    assert theirs is not None
    solver = follower()
    ours = run(solver, solver.init(start), iter(batches)).x
    assert np.median(errors(ours, truth)) < np.median(errors(polar(theirs)[0], truth))


@pytest.mark.parametrize("angle", [np.pi / 4, np.pi / 6])
def test_a_mixed_pair_is_parted(angle: float, rng: Rng) -> None:
    truth = orthogonal(rng, 6, 8, 8)
    turn = np.eye(8)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    solver = follower()
    state = run(solver, solver.init(truth @ turn), stream(rng, truth, 300))
    assert errors(state.x, truth).max() < 1e-12


def test_an_abrupt_change_is_seen_by_callbacks_and_overcome(rng: Rng) -> None:
    before, after = orthogonal(rng, 8, 8), orthogonal(rng, 8, 8)
    seen: list[tuple[int, float, float]] = []

    def watch(progress: Progress) -> None:
        report = progress.report
        assert report is not None
        seen.append((progress.t, float(report.changes), float(report.half_life)))

    def noisy(batches: Iterator[FloatArray]) -> Iterator[FloatArray]:
        return (batch + 0.05 * rng.standard_normal(batch.shape) for batch in batches)

    solver = follower()
    state = solver.run(solver.init(orthogonal(rng, 8, 8)), noisy(stream(rng, before, 400)), callbacks=[watch]).state
    assert seen[-1][1] == 0.0
    calm = seen[-1][2]
    state = solver.run(state, noisy(stream(rng, after, 400)), callbacks=[watch]).state
    assert errors(state.x, after) < 1e-3
    first = next(t for t, changes, _ in seen if changes == 1.0)
    assert 400 < first <= 405
    assert seen[first][2] < 0.1 * calm  # it forgets faster for a while,
    assert seen[-1][2] > 10 * seen[first][2]  # and then cools again


def test_drift_is_followed_and_shortens_the_memory(rng: Rng) -> None:
    def follow(angle: float) -> tuple[float, float]:
        truth, axes = orthogonal(rng, 8, 8), orthogonal(rng, 8, 8)
        quarter = np.kron(np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(4))
        turn = axes @ (np.cos(angle) * np.eye(8) + np.sin(angle) * quarter) @ axes.T
        solver = follower()
        state = solver.init(orthogonal(rng, 8, 8))
        late = []
        for t in range(600):
            truth = turn @ truth
            rows = sparse(rng, (10, 8)) @ truth.T + 0.05 * rng.standard_normal((10, 8))
            state = solver.step(state, rows)
            if t >= 400:
                late.append(float(errors(state.x, truth)))
        return float(np.mean(late)), _half_life(solver, state)

    found = [follow(angle) for angle in (0.0, 1e-3, 1e-2)]
    assert [error < most for (error, _), most in zip(found, (1e-4, 2e-3, 1e-2), strict=True)] == [True] * 3
    assert found[0][1] > 3 * found[1][1] > 6 * found[2][1]


@pytest.mark.parametrize("schedule", [AdaptiveSchedule(half_life=100), AdaptiveSchedule(half_life_per_atom=12.5)])
def test_memory_is_bounded(schedule: AdaptiveSchedule, rng: Rng) -> None:
    estimate = HandOver(schedule=schedule)
    solver = follower(estimate)
    truth = orthogonal(rng, 8, 8)
    state = run(solver, solver.init(orthogonal(rng, 8, 8)), stream(rng, truth, 300))
    assert estimate.report(state.memory, 10).half_life == pytest.approx(100.0)


def test_a_fixed_memory_stays(rng: Rng) -> None:
    estimate = HandOver(schedule=CoolThenConstant(60))
    solver = follower(estimate)
    state = run(solver, solver.init(orthogonal(rng, 8, 8)), stream(rng, orthogonal(rng, 8, 8), 100))
    state = run(solver, state, stream(rng, orthogonal(rng, 8, 8), 40))
    assert estimate.report(state.memory, 10).half_life == pytest.approx(60.0)


def test_without_the_second_contrast_it_stays_with_the_first(rng: Rng) -> None:
    estimate = HandOver(4, sparse=False)
    solver = follower(estimate)
    truth = orthogonal(rng, 8, 8)
    state = run(solver, solver.init(orthogonal(rng, 8, 8)), stream(rng, truth, 300))
    assert estimate.report(state.memory, 10).contrast == 0.0
    assert errors(state.x, truth) < 2e-2
    assert isinstance(estimate.current(state.memory), LpContrast)


def test_the_mixture_is_learnt(rng: Rng) -> None:
    estimate = HandOver()
    solver = follower(estimate)
    state = run(solver, solver.init(np.eye(20)), stream(rng, np.eye(20), 60, size=100))
    contrast = estimate.current(state.memory)
    assert isinstance(contrast, SpikeAndSlab)
    assert float(contrast.sparsity) == pytest.approx(0.3, abs=0.03)
    assert float(contrast.slab) == pytest.approx(1.0, abs=0.1)


def test_a_stack_is_as_good_as_a_loop(rng: Rng) -> None:
    truth, start = orthogonal(rng, 3, 6, 6), orthogonal(rng, 3, 6, 6)
    batches = list(stream(rng, truth, 60))
    with by_singular_values():
        solver = follower()
        together = run(solver, solver.init(start), iter(batches))
        for i in range(3):
            alone = run(solver, solver.init(start[i]), (batch[i] for batch in batches))
            np.testing.assert_allclose(alone.x, together.x[i], atol=1e-9)
            np.testing.assert_allclose(alone.memory["numbers"], together.memory["numbers"][i], rtol=1e-6, atol=1e-9)


@pytest.mark.skipif(not can_compile(), reason="Numba is not installed, or turned off")
@pytest.mark.parametrize("shape", [(6, 6), (24, 24), (9, 4)])
@pytest.mark.parametrize("codes", [sparse, laplacian], ids=["sparse", "laplacian"])
@pytest.mark.parametrize(
    "estimate",
    [
        HandOver(),
        HandOver(3.5),
        HandOver(schedule=CoolThenConstant(200)),
        HandOver(schedule=AdaptiveSchedule(half_life_per_atom=20)),
    ],
)
def test_the_compiled_step_is_the_plain_one(shape: tuple[int, int], codes: Codes, estimate: HandOver, rng: Rng) -> None:
    truth, start = orthogonal(rng, *shape), orthogonal(rng, *shape)
    batches = list(stream(rng, truth, 40, size=2 * shape[1], codes=codes))
    batches += [batch * (rng.random((len(batch), 1)) < 0.7) for batch in stream(rng, truth, 20, size=12, codes=codes)]
    batches += [batch + 0.1 * rng.standard_normal(batch.shape) for batch in stream(rng, truth[::-1], 20, size=12)]
    found = []
    for path in (without_numba, nullcontext):
        with path():
            solver = follower(estimate)
            found.append(run(solver, solver.init(start), iter(batches)))
    plain, compiled = found
    np.testing.assert_allclose(compiled.x, plain.x, atol=1e-8)
    for name, array in plain.memory.items():
        np.testing.assert_allclose(compiled.memory[name], array, rtol=1e-6, atol=1e-8)


def test_units_do_not_matter(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 6), orthogonal(rng, 6, 6)
    batches = list(stream(rng, truth, 60))
    solver = follower()
    small, large = (run(solver, solver.init(start), (f * batch for batch in batches)) for f in (1.0, 2.0**20))
    np.testing.assert_allclose(large.x, small.x, atol=1e-9)
    scaled = HandOver().rescaled(small.memory, 2.0**20)
    for name, array in large.memory.items():
        np.testing.assert_allclose(scaled[name], array, rtol=1e-6, atol=1e-9)


def test_weights_count_samples(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 6), orthogonal(rng, 6, 6)
    solver = follower()
    weighted = repeated = solver.init(start)
    for batch in stream(rng, truth, 15):
        counts = rng.integers(0, 3, len(batch))
        counts[0] = 1
        weighted = solver.step(weighted, batch, counts.astype(float))
        repeated = solver.step(repeated, np.repeat(batch, counts, axis=0))
    np.testing.assert_allclose(weighted.x, repeated.x, atol=1e-9)


def test_nothing_is_learnt_from_nothing(rng: Rng) -> None:
    solver = follower()
    start = orthogonal(rng, 5, 5)
    state = solver.step(solver.init(start), np.zeros((4, 5)))
    np.testing.assert_allclose(state.x, start, atol=1e-12)
    state = run(solver, state, stream(rng, np.eye(5), 50))
    still = solver.step(state, np.zeros((4, 5)))
    np.testing.assert_allclose(still.x, state.x, atol=1e-9)
    for name, array in state.memory.items():
        np.testing.assert_array_equal(still.memory[name], array)


@pytest.mark.parametrize("features", [1, 2, 3])
def test_few_atoms(features: int, rng: Rng) -> None:
    truth = orthogonal(rng, features, features)
    solver = follower()
    state = run(solver, solver.init(orthogonal(rng, features, features)), stream(rng, truth, 300))
    assert errors(state.x, truth) < 1e-12
    assert state.memory["numbers"][AGE] > 100.0  # settled, not going to and fro


def test_rows_of_single_precision_are_learnt_in_double(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 8, 8), orthogonal(rng, 6, 8, 8)
    solver = follower()
    state = solver.init(start)
    for batch in stream(rng, truth, 300):
        state = solver.step(state, batch.astype(np.float32))
    assert state.x.dtype == np.float64
    assert errors(state.x, truth).max() < 1e-12


def test_the_memory_is_never_written_to(rng: Rng) -> None:
    for path in (without_numba, nullcontext):
        with path():
            solver = follower()
            state = run(solver, solver.init(orthogonal(rng, 6, 6)), stream(rng, np.eye(6), 30))
            before = {name: array.copy() for name, array in state.memory.items()}
            run(solver, state, stream(rng, np.eye(6), 3))
            for name, array in before.items():
                np.testing.assert_array_equal(state.memory[name], array)


def test_bad_words_are_refused(rng: Rng) -> None:
    with pytest.raises(ValueError, match="p must be larger than 2"):
        HandOver(2)
    with pytest.raises(TypeError, match="AdaptiveSchedule or CoolThenConstant"):
        HandOver(schedule=PaperSchedule())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="half_life"):
        AdaptiveSchedule(half_life=0)
    solver = follower()
    with pytest.raises(ValueError, match="decides on its own weights"):
        StochasticFrankWolfe(SpectralBall(), HandOver(), PaperSchedule(), PolarStep())
    stack = solver.init(np.stack([np.eye(3)] * 2))
    with pytest.raises(ValueError, match="different phases"):
        HandOver().current(stack.memory)


def test_the_clock_never_stands_below_one(rng: Rng) -> None:
    solver = follower()
    state = solver.init(orthogonal(rng, 6, 6))
    for _ in range(80):
        state = solver.step(state, sparse(rng, (3, 6)) @ orthogonal(rng, 6, 6))  # never the same dictionary twice
        assert state.memory["numbers"][AGE] >= 1.0
        np.testing.assert_allclose(state.x.T @ state.x, np.eye(6), atol=1e-12)
