"""The compiled step of Algorithm 2 does what the plain step does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize import (
    ConstantSchedule,
    LpContrast,
    PaperSchedule,
    PolarStep,
    Schedule,
    SpectralBall,
    State,
    StochasticFrankWolfe,
)
from orthostream.optimize.array_block import ArrayBlock

pytestmark = pytest.mark.skipif(not can_compile(), reason="Numba is not installed, or turned off")

Make = Callable[..., FloatArray]


def rows_for(rng: Any, size: int, samples: int = 60, stack: tuple[int, ...] = ()) -> FloatArray:
    shape = (*stack, samples, size)
    rows: FloatArray = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    return rows


def algorithm_2(p: float = 3.0, schedule: Schedule | None = None, average: bool = False) -> StochasticFrankWolfe:
    weights = ConstantSchedule(0.2, 0.1) if schedule is None else schedule
    return StochasticFrankWolfe(SpectralBall(), LpContrast(p), weights, PolarStep(), average=average)


def plain_step(solver: StochasticFrankWolfe, state: State, batch: Any, weights: FloatArray | None = None) -> State:
    with without_numba():
        return solver.step(state, batch, weights)


def started(solver: StochasticFrankWolfe, x: FloatArray, rng: Any) -> State:
    """Return a state after some plain steps, from which the compiled step can go on."""
    state = solver.init(x)
    for _ in range(4):
        state = plain_step(solver, state, rows_for(rng, x.shape[-2], stack=x.shape[:-2]))
    return state


def assert_equal_states(got: State | None, expected: State) -> None:
    assert got is not None
    assert got.t == expected.t
    # The vertex of the compiled step is orthogonal to 1e-12 only, before the post-step.
    np.testing.assert_allclose(got.x, expected.x, rtol=0.0, atol=1e-10)
    scale = float(np.abs(expected.gradient).max())
    np.testing.assert_allclose(got.gradient, expected.gradient, rtol=0.0, atol=1e-12 * scale)
    np.testing.assert_array_equal(got.memory["steps"], expected.memory["steps"])
    assert np.shape(got.oracle) == np.shape(expected.oracle)
    assert (got.average is None) == (expected.average is None)
    if expected.average is not None:
        np.testing.assert_allclose(got.average, expected.average, rtol=0.0, atol=1e-10)
    assert np.abs(got.x.mT @ got.x - np.eye(got.x.shape[-1])).max() < 1e-13


@pytest.mark.parametrize("p", [2.5, 3, 3.7, 4, 6])
@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (8, 3), (20, 20), (24, 24)])
def test_step_equals_the_plain_step(p: float, rows: int, columns: int, rng: Any, orthonormal: Make) -> None:
    for schedule in (PaperSchedule(), ConstantSchedule(0.2, 0.1), ConstantSchedule(0.3, 0.7), ConstantSchedule(0.5, 1)):
        solver = algorithm_2(p, schedule)
        state = solver.init(orthonormal(rows, columns))
        taken = 0
        for _ in range(12):
            batch = rows_for(rng, rows)
            expected = plain_step(solver, state, batch)
            taken += solver.compiled_step(state, batch) is not None
            state = solver.step(state, batch)
            assert_equal_states(state, expected)
        assert taken >= 8  # or else this test would compare the plain step with itself


def test_step_with_weights_and_average(rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2(average=True)
    state = started(solver, orthonormal(6, 4), rng)
    batch, weights = rows_for(rng, 6), rng.integers(0, 4, 60).astype(float)
    got = solver.compiled_step(state, batch, weights)
    assert_equal_states(got, plain_step(solver, state, batch, weights))
    assert got is not None
    repeated = solver.compiled_step(state, np.repeat(batch, weights.astype(int), axis=0))
    assert_equal_states(repeated, got)


def frozen(a: FloatArray) -> FloatArray:
    a = a.copy()
    a.setflags(write=False)
    return a


LAYOUTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "single precision": lambda a: a.astype(np.float32),
    "columns first": np.asfortranarray,
    "every other feature": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "every other row": lambda a: np.repeat(a, 2, axis=-2)[..., ::2, :],
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1],
    "read-only": frozen,
    "whole numbers": lambda a: (10.0 * a).astype(np.int64),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("stack", [(), (3,)], ids=["one", "stack"])
def test_rows_may_have_any_layout_and_type(layout: str, stack: tuple[int, ...], rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(6, 4, stack), rng)
    batch = LAYOUTS[layout](rows_for(rng, 6, stack=stack))
    kept = batch.copy()
    expected = plain_step(solver, state, np.array(batch, dtype=float, order="C"))
    assert_equal_states(solver.compiled_step(state, batch), expected)
    np.testing.assert_array_equal(batch, kept)


@pytest.mark.parametrize("part", ["x", "memory"])
@pytest.mark.parametrize("layout", ["columns first", "read-only"])
def test_state_may_have_any_layout(part: str, layout: str, rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(6, 4), rng)
    batch = rows_for(rng, 6)
    expected = plain_step(solver, state, batch)
    if part == "x":
        changed = state._replace(x=LAYOUTS[layout](state.x))
    else:
        changed = state._replace(memory=ArrayBlock(state.memory.layout, LAYOUTS[layout](state.memory.array)))
    assert_equal_states(solver.step(changed, batch), expected)


@pytest.mark.parametrize("stack", [(1,), (3,), (2, 2)])
@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (8, 3)])
def test_stack_equals_the_plain_step(
    stack: tuple[int, ...], rows: int, columns: int, rng: Any, orthonormal: Make
) -> None:
    solver = algorithm_2(average=True)
    state = started(solver, orthonormal(rows, columns, stack), rng)
    for _ in range(4):
        batch = rows_for(rng, rows, stack=stack)
        expected = plain_step(solver, state, batch)
        got = solver.compiled_step(state, batch)
        assert_equal_states(got, expected)
        assert got is not None
        state = got


def test_stack_equals_its_problems_one_by_one(rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(5, 5, (3,)), rng)
    batch = rows_for(rng, 5, stack=(3,))
    together = solver.compiled_step(state, batch)
    assert together is not None
    lows = np.asarray(state.oracle)
    for i in range(3):
        memory = ArrayBlock(state.memory.layout, state.memory.array[i].copy())
        alone = solver.compiled_step(State(state.t, state.x[i].copy(), memory, float(lows[i])), batch[i])
        assert alone is not None
        np.testing.assert_allclose(together.x[i], alone.x, atol=1e-13)


@pytest.mark.parametrize("shared", [(60, 5), (1, 60, 5)])
def test_stack_may_share_its_rows(shared: tuple[int, ...], rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(5, 5, (3,)), rng)
    batch = rows_for(rng, 5).reshape(shared)
    assert_equal_states(solver.step(state, batch), plain_step(solver, state, batch))


@pytest.mark.parametrize("wrong", [(2, 60, 5), (4, 60, 5), (3, 60, 6)])
def test_stack_of_other_length_or_features_is_an_error(wrong: tuple[int, ...], rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(5, 5, (3,)), rng)
    with pytest.raises(ValueError, match=r"(?i)size|shape|dimension|mismatch"):
        solver.step(state, rng.standard_normal(wrong))


def test_step_leaves_its_state_alone(rng: Any, orthonormal: Make) -> None:
    for stack in ((), (2,)):
        solver = algorithm_2()
        state, batch = started(solver, orthonormal(6, 4, stack), rng), rows_for(rng, 6, stack=stack)
        kept = (state.x.copy(), state.memory.array.copy(), np.copy(state.oracle), batch.copy())
        following = solver.compiled_step(state, batch)
        assert following is not None
        following.x[...], following.memory.array[...] = 7.0, 7.0
        for before, now in zip(kept, (state.x, state.memory.array, state.oracle, batch), strict=True):
            np.testing.assert_array_equal(before, now)


@pytest.mark.parametrize("p", [3, 4, 2.5])
def test_extreme_batches_give_the_same(p: float, rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2(p)
    state = started(solver, orthonormal(5, 5), rng)
    for batch in (np.zeros((3, 5)), 1e-60 * rows_for(rng, 5), 1e40 * rows_for(rng, 5), rows_for(rng, 5, 1)):
        assert_equal_states(solver.step(state, batch), plain_step(solver, state, batch))


def test_batch_of_other_features_is_an_error(rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(5, 5), rng)
    with pytest.raises(ValueError, match=r"(?i)size|shape|dimension|mismatch"):
        solver.step(state, rows_for(rng, 6))


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("stack", [(), (2,)], ids=["one", "stack"])
def test_rows_that_are_not_finite_are_an_error(
    value: float, stack: tuple[int, ...], rng: Any, orthonormal: Make
) -> None:
    solver = algorithm_2()
    state, batch = started(solver, orthonormal(5, 5, stack), rng), rows_for(rng, 5, stack=stack)
    batch[..., 3, 2] = value
    with pytest.raises(ValueError, match="finite"), np.errstate(invalid="ignore"):
        solver.step(state, batch)


def test_empty_batch_is_an_error(rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    state = started(solver, orthonormal(5, 5), rng)
    for step in (solver.step, lambda *given: plain_step(solver, *given)):
        with pytest.raises(ValueError, match="no samples"):
            step(state, np.zeros((0, 5)))


class Halved(LpContrast):
    def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
        return 0.5 * super().gradient(x, batch, weights)


class Lazy(PolarStep):
    def __call__(self, x: FloatArray, vertex: FloatArray, gamma: float) -> FloatArray:
        return x


@pytest.mark.parametrize(
    "solver",
    [
        StochasticFrankWolfe(SpectralBall(2.0), LpContrast(3.0)),
        StochasticFrankWolfe(SpectralBall(), LpContrast(3.0)),
        StochasticFrankWolfe(SpectralBall(), Halved(3.0), None, PolarStep()),
        StochasticFrankWolfe(SpectralBall(), LpContrast(3.0), None, Lazy()),
    ],
    ids=["another radius", "no post-step", "a subclass of the objective", "a subclass of the post-step"],
)
def test_parts_without_a_kernel_take_the_plain_step(solver: StochasticFrankWolfe, rng: Any) -> None:
    state = started(solver, np.eye(5), rng)
    batch = rows_for(rng, 5)
    assert solver.compiled_step(state, batch) is None
    np.testing.assert_allclose(solver.step(state, batch).x, plain_step(solver, state, batch).x, atol=1e-12)


def test_compiled_step_declines_what_it_does_not_know(rng: Any, orthonormal: Make) -> None:
    solver = algorithm_2()
    batch = rows_for(rng, 5)
    assert solver.compiled_step(solver.init(orthonormal(5, 5)), batch) is None  # without a guess: singular values
    state = started(solver, orthonormal(5, 5), rng)
    assert solver.compiled_step(state, batch) is not None
    assert solver.compiled_step(state, np.ascontiguousarray(batch[:, :4])) is None
    assert solver.compiled_step(state, batch[None]) is None
    assert solver.compiled_step(state, batch.tolist()) is None
    assert solver.compiled_step(state, np.zeros((0, 5))) is None
    with without_numba():
        assert solver.compiled_step(state, batch) is None
    half = algorithm_2(3.0, ConstantSchedule(0.2, 0.5))
    assert half.compiled_step(state, batch) is None  # the mixture of point and vertex may be singular
