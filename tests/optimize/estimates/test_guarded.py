"""What the guard promises: never far behind l3, not fooled by outliers, silence and repeats, the same on every path."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import nullcontext

import numpy as np
import pytest

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize import (
    AdaptiveSchedule,
    Guarded,
    HandOver,
    LpContrast,
    PaperSchedule,
    PolarStep,
    SpectralBall,
    State,
    StochasticFrankWolfe,
    polar,
)
from orthostream.optimize.estimates.guarded import decisions
from orthostream.optimize.estimates.guarded.constants import FEW_LOUD, LONG_SILENCE
from orthostream.optimize.estimates.guarded.layout import (
    ANCHOR,
    CENTRED,
    GUARD_COUNT,
    GUESS,
    LIMIT,
    RESTARTS,
    TRUSTED,
)
from orthostream.optimize.estimates.guarded.rehearsal import Rehearsal

Rng = np.random.Generator


def sparse(rng: Rng, shape: tuple[int, ...]) -> FloatArray:
    return rng.standard_normal(shape) * (rng.random(shape) < 0.3)


def orthogonal(rng: Rng, *shape: int) -> FloatArray:
    return polar(rng.standard_normal(shape))[0]


def rows(rng: Rng, truth: FloatArray, count: int, size: int = 10) -> list[FloatArray]:
    return [sparse(rng, (size, truth.shape[-1])) @ truth.T for _ in range(count)]


def follower(estimate: Guarded | None = None) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(SpectralBall(), estimate or Guarded(), post_step=PolarStep())


def run(solver: StochasticFrankWolfe, state: State, batches: Iterable[FloatArray]) -> State:
    for batch in batches:
        state = solver.step(state, batch)
    return state


def error(x: FloatArray, truth: FloatArray) -> float:
    return abs(1.0 - float(np.sum((x.T @ truth) ** 4)) / truth.shape[1])


def learnt(batches: list[FloatArray], start: FloatArray) -> tuple[StochasticFrankWolfe, State]:
    solver = follower()
    return solver, run(solver, solver.init(start), batches)


def averaged(batches: list[FloatArray], start: FloatArray) -> FloatArray:
    """Return the paper's dictionary, averaged over its iterates."""
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), PaperSchedule(), PolarStep(), average=True)
    state = run(solver, solver.init(start), batches)
    assert state.average is not None
    return polar(state.average)[0]


def test_a_plain_stream_is_exact_and_trusted(rng: Rng) -> None:
    truth = orthogonal(rng, 8, 8)
    solver, state = learnt(rows(rng, truth, 300), orthogonal(rng, 8, 8))
    assert error(solver.answer(state), truth) < 1e-12
    report = solver.estimate.report(state.memory, 10)
    assert report is not None and report.trusted == 1.0 and report.contrast == 1.0


@pytest.mark.parametrize("every", [2, 7])
def test_outliers_and_silence(every: int, rng: Rng) -> None:
    truth = orthogonal(rng, 8, 8)
    batches = rows(rng, truth, 400)
    for t, batch in enumerate(batches):
        if t % every == 1:
            batch[:] = 1e-3 * rng.standard_normal(batch.shape)  # next to silence
        if t % 20 == 3:
            batch[0] = 1e4 * rng.standard_normal(8)
    solver, state = learnt(batches, orthogonal(rng, 8, 8))
    assert error(solver.answer(state), truth) < 1e-12


def test_a_first_mini_batch_of_outliers_is_got_over(rng: Rng) -> None:
    truth = orthogonal(rng, 6, 6)
    batches = rows(rng, truth, 300)
    batches[0] = 1e5 * batches[0]
    solver, state = learnt(batches, orthogonal(rng, 6, 6))
    assert error(solver.answer(state), truth) < 1e-12


def test_one_row_of_1e100_does_not_freeze_it(rng: Rng) -> None:
    truth = orthogonal(rng, 6, 6)
    batches = rows(rng, truth, 300)
    batches[100][0] = 1e100
    solver, state = learnt(batches, orthogonal(rng, 6, 6))
    assert error(solver.answer(state), truth) < 1e-12


def test_supports_that_stay_end_near_averaged_l3(rng: Rng) -> None:
    truth, start = orthogonal(rng, 10, 10), orthogonal(rng, 10, 10)
    gates = np.repeat(rng.random((150, 10)) < 0.3, 100, axis=0)
    samples = (gates * rng.standard_normal(gates.shape)) @ truth.T
    batches = list(samples.reshape(-1, 10, 10))
    solver, state = learnt(batches, start)
    reference = error(averaged(batches, start), truth)
    assert error(solver.answer(state), truth) < 2.0 * reference


def test_an_offset_is_found_and_subtracted(rng: Rng) -> None:
    truth = orthogonal(rng, 8, 8)
    offset = 0.4 * 0.3**0.5 * rng.standard_normal(8)
    batches = [batch + offset for batch in rows(rng, truth, 1500)]
    solver, state = learnt(batches, orthogonal(rng, 8, 8))
    np.testing.assert_allclose(state.memory["mean"], offset, atol=0.1)
    if state.memory["guard"][RESTARTS]:
        assert state.memory["guard"][CENTRED] in (0.0, 1.0)
    assert error(solver.answer(state), truth) < 5e-3


def test_where_the_anchor_is_trusted_it_is_the_answer(rng: Rng) -> None:
    solver, state = learnt(rows(rng, orthogonal(rng, 6, 6), 60), orthogonal(rng, 6, 6))
    state.memory["guard"][TRUSTED] = 0.0
    np.testing.assert_array_equal(solver.answer(state), state.memory["matrices"][ANCHOR])
    state.memory["guard"][TRUSTED] = 1.0
    np.testing.assert_array_equal(solver.answer(state), state.x)


def test_an_abrupt_change_is_followed(rng: Rng) -> None:
    before, after = orthogonal(rng, 8, 8), orthogonal(rng, 8, 8)
    solver, state = learnt(rows(rng, before, 300) + rows(rng, after, 400), orthogonal(rng, 8, 8))
    assert error(solver.answer(state), after) < 1e-12


@pytest.mark.skipif(not can_compile(), reason="Numba is not installed, or turned off")
@pytest.mark.parametrize("shape", [(6, 6), (24, 24), (9, 4)])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_the_compiled_step_is_the_plain_one(shape: tuple[int, int], offset: float, rng: Rng) -> None:
    truth, start = orthogonal(rng, *shape), orthogonal(rng, *shape)
    batches = [batch + offset for batch in rows(rng, truth, 60, size=2 * shape[1])]
    batches += [batch * (rng.random((len(batch), 1)) < 0.7) for batch in rows(rng, truth, 20, size=12)]
    found = []
    for path in (without_numba, nullcontext):
        with path():
            solver = follower()
            found.append(run(solver, solver.init(start), batches))
    plain, compiled = found
    np.testing.assert_allclose(compiled.x, plain.x, atol=1e-8)
    numbers = np.delete(np.arange(GUARD_COUNT), GUESS)  # the two paths guess differently at the conditioning
    np.testing.assert_allclose(compiled.memory["guard"][numbers], plain.memory["guard"][numbers], rtol=1e-5, atol=1e-6)
    for name in ("gradient", "matrices", "moments", "mean"):
        np.testing.assert_allclose(compiled.memory[name], plain.memory[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("path", [nullcontext, without_numba])
def test_a_stack_is_its_problems(path: type, rng: Rng) -> None:
    truth, start = orthogonal(rng, 3, 6, 6), orthogonal(rng, 3, 6, 6)
    batches = [sparse(rng, (3, 10, 6)) @ truth.mT for _ in range(60)]
    batches[7][1] = 0.0  # one of them hears nothing
    with path():
        solver = follower()
        together = run(solver, solver.init(start), batches)
        for i in range(3):
            alone = run(solver, solver.init(start[i]), [batch[i] for batch in batches])
            np.testing.assert_allclose(alone.x, together.x[i], atol=1e-8)
            np.testing.assert_allclose(alone.memory["matrices"], together.memory["matrices"][i], atol=1e-6)
            assert alone.memory["guard"][LIMIT] == pytest.approx(together.memory["guard"][i, LIMIT])


def test_units_do_not_matter(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 6), orthogonal(rng, 6, 6)
    batches = rows(rng, truth, 60)
    small, large = (learnt([f * batch for batch in batches], start)[1] for f in (1.0, 2.0**20))
    np.testing.assert_allclose(large.x, small.x, atol=1e-9)
    scaled = Guarded().rescaled(small.memory, 2.0**20)
    for name, array in large.memory.items():
        np.testing.assert_allclose(scaled[name], array, rtol=1e-6, atol=1e-9)


def test_sparse_rows_are_dense_rows(rng: Rng) -> None:
    from scipy import sparse as matrices

    truth, start = orthogonal(rng, 6, 6), orthogonal(rng, 6, 6)
    batches = rows(rng, truth, 30)
    dense = learnt(batches, start)[1]
    solver = follower()
    state = solver.init(start)
    for batch in batches:
        state = solver.step(state, matrices.csr_matrix(batch))
    np.testing.assert_allclose(state.x, dense.x, atol=1e-8)


def test_memory_of_a_hand_over_without_a_guard_is_taken_over(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 6), orthogonal(rng, 6, 6)
    alone = StochasticFrankWolfe(SpectralBall(), HandOver(), post_step=PolarStep())
    state = run(alone, alone.init(start), rows(rng, truth, 150))
    solver = follower()
    adopted = solver.adopted(state, alone)
    np.testing.assert_array_equal(adopted.memory["pairs"], state.memory["pairs"])
    assert error(solver.answer(run(solver, adopted, rows(rng, truth, 20))), truth) < 1e-12


def test_rehearsed_samples_are_no_evidence(rng: Rng) -> None:
    truth, start = orthogonal(rng, 6, 6), orthogonal(rng, 6, 6)
    solver, state = learnt(rows(rng, truth, 20), start)
    assert isinstance(solver.estimate, Guarded)
    again = StochasticFrankWolfe(SpectralBall(), Rehearsal(solver.estimate), post_step=PolarStep())
    for path in (nullcontext, without_numba):
        with path():
            after = again.step(state, rows(rng, truth, 1)[0])
        assert not np.array_equal(after.x, state.x)
        for name in ("guard", "matrices", "moments", "mean"):
            np.testing.assert_array_equal(after.memory[name], state.memory[name])


def test_what_is_not_finite_is_refused(rng: Rng) -> None:
    solver, state = learnt(rows(rng, orthogonal(rng, 5, 5), 5), orthogonal(rng, 5, 5))
    for bad in (np.nan, np.inf):
        batch = np.ones((4, 5))
        batch[1, 2] = bad
        with pytest.raises(ValueError, match="not finite"):
            solver.step(state, batch)
    with pytest.raises(TypeError, match="takes a HandOver"):
        Guarded(AdaptiveSchedule())  # type: ignore[arg-type]


def numbers() -> list[float]:
    g = [0.0] * GUARD_COUNT
    decisions.start_guard(g, 0.0, 0.0)
    return g


def test_the_limit_settles_at_the_quantile(rng: Rng) -> None:
    g = numbers()
    for _ in range(3000):
        squares = rng.chisquare(5, 10)
        longer = float(np.sum(squares > np.exp(g[LIMIT])))
        decisions.move_limit(g, longer, 10.0 - longer, 0.0, 1.0, 5)
    assert 0.85 < np.mean(rng.chisquare(5, 10_000) < np.exp(g[LIMIT])) < 0.95


def test_a_long_silence_becomes_the_signal() -> None:
    g = numbers()
    decisions.move_limit(g, 0.0, 10.0 * FEW_LOUD, 0.0, 0.0, 1)
    for _ in range(int(LONG_SILENCE / 10.0)):
        decisions.move_limit(g, 0.0, 0.0, 10.0, -30.0, 1)
        assert g[LIMIT] > -15.0
    decisions.move_limit(g, 0.0, 0.0, 10.0, -30.0, 1)
    assert g[LIMIT] == -30.0
