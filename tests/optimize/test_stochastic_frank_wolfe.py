"""The solver: pure steps, helpful errors, and the textbook optima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream._typing import FloatArray
from orthostream.optimize import (
    Box,
    ConstantSchedule,
    ConvexSet,
    L1Ball,
    L2Ball,
    LeastSquares,
    LInfBall,
    LpContrast,
    MokhtariSchedule,
    NuclearBall,
    PaperSchedule,
    PolarStep,
    PostStep,
    Progress,
    Schedule,
    Simplex,
    SparsePCAObjective,
    SpectralBall,
    State,
    Status,
    StochasticFrankWolfe,
    stochastic_frank_wolfe,
)

Make = Callable[..., FloatArray]


class Classic(Schedule):
    """Frank and Wolfe's own weights: the newest gradient, and 2 / (t + 2) of the vertex."""

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        return 1.0, 2.0 / (t + 1)  # their first step is t = 0


def half_square(x: FloatArray, batch: Any) -> Any:
    return 0.5 * ((x - batch) ** 2).sum()


def difference(x: FloatArray, batch: Any) -> Any:
    return x - batch


def regression(rng: np.random.Generator, stack: tuple[int, ...] = ()) -> tuple[FloatArray, FloatArray]:
    return rng.standard_normal((*stack, 12, 5)), rng.standard_normal((*stack, 12))


# Purity.


SOLVERS = {
    "vectors": (lambda: StochasticFrankWolfe(L1Ball(), LeastSquares(), ConstantSchedule(0.5, 0.3)), (5,)),
    "average": (lambda: StochasticFrankWolfe(Box(-1, 1), LeastSquares(), MokhtariSchedule(), average=True), (5,)),
    "matrices": (lambda: StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.5, 0.3)), (5, 3)),
    "orthogonal matrices": (
        lambda: StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.5, 0.3), PolarStep()),
        (5, 5),
    ),
}
each_solver = pytest.mark.parametrize(("make", "shape"), SOLVERS.values(), ids=SOLVERS)


def start_at(solver: StochasticFrankWolfe, shape: tuple[int, ...], rng: Any, stack: tuple[int, ...] = ()) -> FloatArray:
    """Return a vertex, or a stack of them: orthonormal where points are matrices."""
    return solver.feasible.lmo(rng.standard_normal((*stack, *shape)))


def batch_for(solver: StochasticFrankWolfe, rng: Any, stack: tuple[int, ...] = ()) -> Any:
    rows, targets = regression(rng, stack)
    return (rows, targets) if isinstance(solver.objective, LeastSquares) else rows * (rng.random(rows.shape) < 0.5)


def copied(value: Any) -> Any:
    return tuple(copied(part) for part in value) if isinstance(value, tuple) else np.array(value)


def assert_same(now: Any, before: Any) -> None:
    if isinstance(now, tuple):
        for one, other in zip(now, before, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(now, before)


@each_solver
def test_steps_are_pure(make: Any, shape: tuple[int, ...], path: str, rng: Any) -> None:
    solver = make()
    x = start_at(solver, shape, rng)
    state = solver.init(x)
    x[...] = 9.0  # the state has its own copy
    for _ in range(6):
        batch = batch_for(solver, rng)
        before = copied(tuple(part for part in state if part is not None))
        rows = copied(batch)
        first, second = solver.step(state, batch), solver.step(state, batch)
        assert_same(tuple(part for part in state if part is not None), before)
        assert_same(batch, rows)
        assert_same(first[:4], second[:4])  # the solver itself remembers nothing
        assert first.t == state.t + 1
        assert solver.feasible.contains(first.x)
        for part in (second.x, second.gradient):  # nor do two states share what one of them might write to
            part[...] = 7.0
        assert not (first.x == 7.0).any()
        assert_same(tuple(part for part in state if part is not None), before)
        state = first


@each_solver
def test_states_may_be_read_only(make: Any, shape: tuple[int, ...], rng: Any) -> None:
    solver = make()
    state = solver.init(start_at(solver, shape, rng))
    for _ in range(4):
        batch = batch_for(solver, rng)
        for part in (state.x, state.gradient, *(batch if isinstance(batch, tuple) else (batch,))):
            part.setflags(write=False)
        state = solver.step(state, batch)
    assert state.t == 4


ALIASES: dict[str, Callable[[FloatArray, FloatArray], Any]] = {
    "the point": lambda x, _: x,
    "the batch": lambda _, batch: batch,
    "whole numbers": lambda *_: np.array([3, -1, 2]),
    "a broadcast number": lambda *_: np.broadcast_to(0.5, 3),
    "a list": lambda *_: [0.5, 1.0, -2.0],
}


@pytest.mark.parametrize("alias", ALIASES)
def test_gradient_function_may_return_what_it_was_given(alias: str) -> None:
    solver = StochasticFrankWolfe(L2Ball(), (half_square, ALIASES[alias]), ConstantSchedule(0.5, 0.5))
    state, batch = solver.init(np.array([0.6, 0.0, -0.2])), np.array([1.0, 2.0, -2.0])
    kept, rows = state.x.copy(), batch.copy()
    following = solver.step(state, batch)
    np.testing.assert_array_equal(state.x, kept)
    np.testing.assert_array_equal(batch, rows)
    gradient = 0.5 * np.asarray(ALIASES[alias](kept, rows), dtype=float)
    np.testing.assert_allclose(following.gradient, gradient)
    np.testing.assert_allclose(following.x, 0.5 * kept - 0.5 * gradient / np.linalg.norm(gradient))


class Hull(ConvexSet):
    """The convex hull of some points, as anyone would write it."""

    def __init__(self, vertices: FloatArray) -> None:
        self.vertices = vertices

    def lmo(self, gradient: FloatArray) -> FloatArray:
        best: FloatArray = self.vertices[np.argmin(self.vertices @ gradient)]
        return best

    def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
        return True

    def diameter(self, shape: tuple[int, ...]) -> float:
        return float(2.0**0.5)


@pytest.mark.parametrize("frozen", [False, True])
def test_oracle_may_return_what_the_set_holds(frozen: bool) -> None:
    vertices = np.eye(3)
    vertices.setflags(write=not frozen)
    solver = StochasticFrankWolfe(Hull(vertices), (half_square, difference), ConstantSchedule(1.0, 0.5))
    state = solver.init(np.array([1.0, 0.0, 0.0]))
    for _ in range(5):
        state = solver.step(state, np.array([0.1, 0.2, 0.7]))
    np.testing.assert_array_equal(vertices, np.eye(3))
    assert state.x.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("feasible", "shape"),
    [
        (L1Ball(), (5,)),
        (L2Ball(), (5,)),
        (LInfBall(), (5,)),
        (Simplex(), (5,)),
        (Box(0.0, 1.0), (5,)),
        (SpectralBall(), (5, 3)),
        (NuclearBall(), (5, 3)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_points_are_kept_in_double_precision(feasible: ConvexSet, shape: tuple[int, ...], dtype: Any, rng: Any) -> None:
    objective: Any = LeastSquares() if len(shape) == 1 else LpContrast()
    solver = StochasticFrankWolfe(feasible, objective, average=True)
    state = solver.init(feasible.lmo(rng.standard_normal(shape)).astype(dtype))
    for _ in range(4):
        rows, targets = (part.astype(dtype) for part in regression(rng))
        state = solver.step(state, (rows, targets) if len(shape) == 1 else rows)
    assert state.average is not None
    assert {state.x.dtype, state.gradient.dtype, state.average.dtype} == {np.dtype(np.float64)}


# Start.


@pytest.mark.parametrize(
    ("feasible", "x"),
    [
        (L1Ball(), [0.7, -0.7]),
        (L2Ball(0.5), [0.6, 0.0]),
        (Simplex(), [0.5, 0.4]),
        (Simplex(), [1.5, -0.5]),
        (Box(0.0, 1.0), [0.5, -0.1]),
        (SpectralBall(), [[1.1, 0.0], [0.0, 0.3]]),
        (NuclearBall(), [[0.6, 0.0], [0.0, 0.6]]),
        (L2Ball(), [np.nan, 0.0]),
        (SpectralBall(), [[np.nan, 0.0], [0.0, 0.5]]),
        (NuclearBall(), [[np.inf, 0.0], [0.0, 0.5]]),
        (Box(0.0, 1.0), [[0.5, 0.5], [0.5, 7.0]]),
    ],
)
def test_infeasible_start_is_refused(feasible: Any, x: Any) -> None:
    solver = StochasticFrankWolfe(feasible, (half_square, difference))
    with pytest.raises(ValueError, match=rf"outside of {type(feasible).__name__}; project it first"):
        solver.init(x)
    if np.isfinite(x).all():
        solver.init(feasible.project(np.array(x)))  # the advice helps


def test_no_projection_is_advised_where_there_is_none() -> None:
    class Nowhere(Hull):
        def contains(self, x: FloatArray, tolerance: float = 1e-8) -> bool:
            return False

    with pytest.raises(ValueError, match=r"outside of Nowhere\.$"):
        StochasticFrankWolfe(Nowhere(np.eye(2)), (half_square, difference)).init([1.0, 0.0])


def test_start_of_a_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"SpectralBall.*\(2, 3\)"):
        StochasticFrankWolfe(SpectralBall(), LpContrast()).init(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"SpectralBall holds matrices.*\(3,\)"):
        StochasticFrankWolfe(SpectralBall(), LpContrast()).init(np.zeros(3))
    with pytest.raises(ValueError, match=r"Box.*length 2.*\(3,\)"):
        StochasticFrankWolfe(Box([0, 0], [1, 1]), LeastSquares()).init(np.zeros(3))


def test_start_takes_lists_and_whole_numbers() -> None:
    state = StochasticFrankWolfe(L1Ball(), LeastSquares()).init([0, 1, 0])
    assert state.t == 0
    assert state.x.dtype == np.float64
    np.testing.assert_array_equal(state.gradient, np.zeros(3))
    assert state.average is None


# Parts that do not fit.


@pytest.mark.parametrize(
    ("feasible", "objective"),
    [(SpectralBall(), LeastSquares()), (L2Ball(), LpContrast()), (NuclearBall(), SparsePCAObjective())],
)
def test_mismatch_names_both(feasible: Any, objective: Any) -> None:
    with pytest.raises(ValueError, match=rf"{type(feasible).__name__}.*{type(objective).__name__}"):
        StochasticFrankWolfe(feasible, objective)


def test_mismatch_of_the_post_step_names_both() -> None:
    with pytest.raises(ValueError, match=r"L2Ball.*PolarStep"):
        StochasticFrankWolfe(L2Ball(), LeastSquares(), post_step=PolarStep())


@pytest.mark.parametrize("missing", ["lmo", "oracle", "memory", "contains", "check_shape"])
def test_missing_method_of_a_set_is_named(missing: str) -> None:
    names = {"lmo", "oracle", "memory", "contains", "check_shape"} - {missing}
    homemade: Any = SimpleNamespace(core_ndim=1, **dict.fromkeys(names, print))
    with pytest.raises(TypeError, match=rf"feasible.*without {missing};.*ConvexSet"):
        StochasticFrankWolfe(homemade, LeastSquares())


@pytest.mark.parametrize("missing", ["value", "gradient"])
def test_missing_method_of_an_objective_is_named(missing: str) -> None:
    homemade: Any = SimpleNamespace(**dict.fromkeys({"value", "gradient"} - {missing}, print))
    with pytest.raises(TypeError, match=rf"objective.*without {missing};.*Objective"):
        StochasticFrankWolfe(L2Ball(), homemade)


def test_missing_method_of_a_schedule_is_named() -> None:
    with pytest.raises(TypeError, match=r"schedule is a float without weights;.*Schedule"):
        StochasticFrankWolfe(L2Ball(), LeastSquares(), schedule=0.1)  # type: ignore[arg-type]


def test_missing_number_of_axes_is_named() -> None:
    homemade: Any = SimpleNamespace(
        **dict.fromkeys(("lmo", "oracle", "memory", "contains", "check_shape"), lambda *_: None)
    )
    with pytest.raises((TypeError, AttributeError), match="core_ndim"):
        StochasticFrankWolfe(homemade, LeastSquares())


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("feasible", {"feasible": L2Ball}),
        ("objective", {"objective": LeastSquares}),
        ("schedule", {"schedule": PaperSchedule}),
        ("post_step", {"feasible": SpectralBall(), "objective": LpContrast(), "post_step": PolarStep}),
    ],
)
def test_class_in_the_place_of_an_object_is_refused(name: str, parts: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=name):
        StochasticFrankWolfe(**{"feasible": L2Ball(), "objective": LeastSquares(), **parts})


def test_post_step_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="post_step"):
        StochasticFrankWolfe(L2Ball(), LeastSquares(), post_step="polar")  # type: ignore[arg-type]


# One step, by hand.


def test_step_is_the_algorithm() -> None:
    solver = StochasticFrankWolfe(L1Ball(2.0), (half_square, difference), ConstantSchedule(0.25, 0.5))
    begun = solver.init(np.array([1.0, 0.0]))
    memory = begun.memory.layout.block((), {"gradient": np.array([4.0, 8.0]), "steps": 7.0})
    state = begun._replace(t=7, memory=memory)
    following = solver.step(state, np.array([-1.0, 4.0]))
    np.testing.assert_allclose(following.gradient, [0.75 * 4.0 + 0.25 * 2.0, 0.75 * 8.0 - 0.25 * 4.0])
    np.testing.assert_allclose(following.x, [0.5, -1.0])  # half of the old point, half of the vertex (0, -2)
    assert following.t == 8


def test_post_step_sees_the_mixture_and_its_weight() -> None:
    seen = []

    class Shrink(PostStep):
        def project(self, x: FloatArray, gamma: float) -> FloatArray:
            seen.append((x.copy(), gamma))
            return 0.5 * x

    solver = StochasticFrankWolfe(L2Ball(), (half_square, difference), ConstantSchedule(1.0, 0.25), Shrink())
    state = solver.step(solver.init([0.0, 0.0]), np.array([3.0, 0.0]))
    np.testing.assert_allclose(seen[0][0], [0.25, 0.0])
    assert seen[0][1] == 0.25
    np.testing.assert_allclose(state.x, [0.125, 0.0])


def test_weights_of_the_schedule_follow_time_and_batch_size() -> None:
    seen = []

    class Watching(Schedule):
        def weights(self, t: int, samples: int) -> tuple[float, float]:
            seen.append((t, samples))
            return 0.5, 0.5

    solver = StochasticFrankWolfe(L2Ball(), LeastSquares(), Watching())
    state = solver.init(np.zeros(5))
    for samples in (3, 1, 8):
        state = solver.step(state, (np.ones((samples, 5)), np.ones(samples)))
    assert seen == [(1, 3), (2, 1), (3, 8)]


def test_sample_weights_equal_repetition(path: str, rng: Any) -> None:
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.5, 0.3), PolarStep())
    state = solver.init(np.eye(5))
    for _ in range(4):
        rows, counts = batch_for(solver, rng), rng.integers(0, 3, 12)
        weighted = solver.step(state, rows, weights=counts.astype(float))
        state = solver.step(state, np.repeat(rows, counts, axis=0))
        np.testing.assert_allclose(weighted.x, state.x, atol=3e-9)
        np.testing.assert_allclose(weighted.gradient, state.gradient, atol=1e-10)


def test_average_favours_late_points(rng: Any) -> None:
    solver = StochasticFrankWolfe(L1Ball(), LeastSquares(), average=True)
    state, points = solver.init(np.zeros(5)), []
    for _ in range(30):
        state = solver.step(state, regression(rng))
        points.append(state.x)
    i = np.arange(1.0, 31.0)
    weights = i * (i + 1.0) * (i + 2.0)  # the cube, as far as a recursion goes
    assert state.average is not None
    np.testing.assert_allclose(state.average, weights @ np.array(points) / weights.sum(), atol=1e-12)


@pytest.mark.parametrize("gamma", [0.1, 0.5, 0.9, 1.0])
def test_algorithm_2_stays_orthogonal(path: str, gamma: float, rng: Any) -> None:
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.3, gamma), PolarStep())
    for shape in ((6, 6), (9, 4)):
        state = solver.init(start_at(solver, shape, rng))
        for _ in range(100):
            rows = rng.standard_normal((8, shape[0])) * (rng.random((8, shape[0])) < 0.3)
            state = solver.step(state, rows)
        assert np.abs(state.x.T @ state.x - np.eye(shape[1])).max() < 1e-11


def test_silent_batches_move_nothing_out_of_the_set(path: str) -> None:
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.5, 0.3), PolarStep())
    state = solver.init(np.eye(4))
    for _ in range(5):
        state = solver.step(state, np.zeros((3, 4)))
        np.testing.assert_allclose(state.x, np.eye(4), atol=1e-12)  # least motion


# Stacks.


@each_solver
def test_stack_of_problems_equals_a_loop(make: Any, shape: tuple[int, ...], path: str, rng: Any) -> None:
    solver = make()
    x = start_at(solver, shape, rng, (3,))
    together, alone = solver.init(x), [solver.init(one) for one in x]
    for _ in range(15):
        batch = batch_for(solver, rng, (3,))
        parts = list(zip(*batch, strict=True)) if isinstance(batch, tuple) else list(batch)
        together = solver.step(together, batch)
        alone = [solver.step(state, part) for state, part in zip(alone, parts, strict=True)]
        np.testing.assert_allclose(together.x, [state.x for state in alone], atol=1e-9)
        np.testing.assert_allclose(together.gradient, [state.gradient for state in alone], atol=1e-8)
    assert np.shape(together.oracle) == (3,)
    gaps = [float(solver.gap(state, part)) for state, part in zip(alone, parts, strict=True)]
    np.testing.assert_allclose(solver.gap(together, batch), gaps, atol=1e-7)
    if together.average is not None:
        np.testing.assert_allclose(together.average, [state.average for state in alone], atol=1e-9)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), rho=st.floats(0.01, 1.0), gamma=st.floats(0.01, 1.0))
def test_every_iterate_is_feasible(seed: int, rho: float, gamma: float) -> None:
    rng = np.random.default_rng(seed)
    for feasible in (L1Ball(0.7), L2Ball(3.0), LInfBall(), Simplex(2.0), Box(-1.0, 0.5)):
        solver = StochasticFrankWolfe(feasible, LeastSquares(), ConstantSchedule(rho, gamma))
        state = solver.init(feasible.project(rng.standard_normal((2, 5))))
        for _ in range(5):
            state = solver.step(state, regression(rng, (2,)))
            assert feasible.contains(state.x)
            assert (solver.gap(state, regression(rng, (2,))) >= -1e-9).all()


# Runs.


@pytest.fixture
def problem(rng: Any) -> tuple[StochasticFrankWolfe, State, list[Any]]:
    solver = StochasticFrankWolfe(L1Ball(), LeastSquares())
    return solver, solver.init(np.zeros(5)), [regression(rng) for _ in range(10)]


def test_run_takes_a_step_for_each_batch(problem: Any) -> None:
    solver, state, batches = problem
    result = solver.run(state, iter(batches))
    assert result.status is Status.STREAM_ENDED
    for batch in batches:
        state = solver.step(state, batch)
    assert_same(result.state[:4], state[:4])
    empty = solver.run(state, [])
    assert empty.status is Status.STREAM_ENDED
    assert empty.state is state


def test_step_budget_takes_no_batch_too_many(problem: Any) -> None:
    solver, state, batches = problem
    stream = iter(batches)
    first = solver.run(state, stream, max_steps=4)
    assert (first.status, first.state.t) == (Status.STEP_BUDGET, 4)
    second = solver.run(first.state, stream, max_steps=4)  # a budget of this call, not of all time
    assert (second.status, second.state.t) == (Status.STEP_BUDGET, 8)
    assert len(list(stream)) == 2
    assert_same(second.state[:4], solver.run(state, batches[:8]).state[:4])
    none = solver.run(state, batches, max_steps=0)
    assert (none.status, none.state.t) == (Status.STEP_BUDGET, 0)


def test_budget_that_is_not_spent_lets_the_stream_end(problem: Any) -> None:
    solver, state, batches = problem
    assert solver.run(state, batches, max_steps=11, max_seconds=1e6).status is Status.STREAM_ENDED


def test_time_budget(problem: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    solver, state, batches = problem
    now = [100.0]
    monkeypatch.setattr(stochastic_frank_wolfe, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def slowly() -> Iterator[Any]:
        for batch in batches:
            now[0] += 2.0
            yield batch

    stream = slowly()
    result = solver.run(state, stream, max_seconds=5.0)
    assert (result.status, result.state.t) == (Status.TIME_BUDGET, 3)
    assert len(list(stream)) == 7


def test_callback_stops_the_run(problem: Any) -> None:
    solver, state, batches = problem
    result = solver.run(state, batches, callbacks=[lambda progress: progress.t == 3])
    assert (result.status, result.state.t) == (Status.STOPPED, 3)


def test_callback_may_answer_with_a_comparison_of_arrays(problem: Any) -> None:
    """The natural callback: a gap is an array, and so is what comparing it gives."""
    solver, state, batches = problem
    result = solver.run(state, batches, callbacks=[lambda progress: progress.gap < 1e9])
    assert (result.status, result.state.t) == (Status.STOPPED, 1)
    result = solver.run(state, batches, callbacks=[lambda progress: progress.objective < -1.0])
    assert result.status is Status.STREAM_ENDED


def test_callback_that_says_nothing_goes_on(problem: Any) -> None:
    solver, state, batches = problem
    seen: list[int] = []
    assert solver.run(state, batches, callbacks=[lambda p: seen.append(p.t)]).status is Status.STREAM_ENDED
    assert seen == list(range(1, 11))
    for answer in (None, False):
        result = solver.run(state, batches, callbacks=[lambda _, answer=answer: answer])
        assert result.status is Status.STREAM_ENDED


def test_every_callback_is_called_even_if_the_first_one_stops(problem: Any) -> None:
    solver, state, batches = problem
    seen: list[int] = []
    solver.run(state, batches, callbacks=[lambda _: True, lambda p: seen.append(p.t)])
    assert seen == [1]


def test_progress_measures_on_the_batch(problem: Any) -> None:
    solver, state, batches = problem
    seen: list[Progress] = []
    solver.run(state, batches, callbacks=[seen.append], max_steps=3)
    for progress, batch in zip(seen, batches, strict=False):
        assert progress.gap == solver.gap(progress.state, batch)
        assert progress.objective == solver.objective.value(progress.state.x, batch)


def test_progress_measures_on_the_held_out_sample(problem: Any, rng: Any) -> None:
    solver, state, batches = problem
    held_out = regression(rng)
    seen: list[Progress] = []
    watched = solver.run(state, batches, callbacks=[seen.append], held_out=held_out)
    assert len({float(progress.gap) for progress in seen}) > 5
    for progress in seen:
        assert progress.gap == solver.gap(progress.state, held_out)
        assert progress.objective == solver.objective.value(progress.state.x, held_out)
    assert_same(watched.state[:4], solver.run(state, batches).state[:4])  # to look at it changes nothing


def test_gap_takes_sample_weights(rng: Any) -> None:
    solver = StochasticFrankWolfe(L1Ball(), LeastSquares())
    state, (rows, targets) = solver.init(np.full(5, 0.1)), regression(rng)
    counts = rng.integers(0, 3, 12)
    repeated = solver.gap(state, (np.repeat(rows, counts, axis=0), np.repeat(targets, counts)))
    assert solver.gap(state, (rows, targets), weights=counts.astype(float)) == pytest.approx(float(repeated))


# Textbook problems.


def run_classic(feasible: Any, objective: Any, start: FloatArray, batch: Any, steps: int = 3000) -> State:
    solver = StochasticFrankWolfe(feasible, objective, Classic())
    state = solver.init(start)
    for _ in range(steps):
        state = solver.step(state, batch)
    return state


@pytest.mark.parametrize(
    ("feasible", "target", "optimum"),
    [
        (L1Ball(), [0.9, 0.5, -0.1], [0.7, 0.3, 0.0]),
        (L1Ball(), [0.2, -0.3, 0.1], [0.2, -0.3, 0.1]),
        (L1Ball(2.0), [-3.0, 0.0, 2.0], [-1.5, 0.0, 0.5]),
        (Simplex(), [0.9, 0.5, -0.1], [0.7, 0.3, 0.0]),
        (Simplex(3.0), [0.0, 0.0, -6.0], [1.5, 1.5, 0.0]),
        (Box(0.0, 1.0), [1.5, 0.4, -2.0], [1.0, 0.4, 0.0]),
        (Box([-1.0, 0.0, 2.0], [1.0, 1.0, 3.0]), [0.3, 5.0, 0.0], [0.3, 1.0, 2.0]),
        (L2Ball(2.0), [3.0, 0.0, 4.0], [1.2, 0.0, 1.6]),
        (LInfBall(0.5), [0.3, -4.0, 1.0], [0.3, -0.5, 0.5]),
    ],
)
def test_nearest_point(feasible: Any, target: list[float], optimum: list[float]) -> None:
    """Least squares with the identity: the optimum is the projection, known in closed form."""
    batch = (np.eye(3), np.array(target))
    state = run_classic(feasible, LeastSquares(), feasible.lmo(np.array([1.0, 2.0, 3.0])), batch)
    assert_converged(feasible, LeastSquares(), state, batch, np.array(optimum), curvature=1.0 / 3.0)


def assert_converged(
    feasible: Any, objective: Any, state: State, batch: Any, optimum: FloatArray, curvature: float
) -> None:
    """Check the theorem f(x_t) - f* <= 2 L D^2 / (t + 2), that the gap bounds it, and the distance that follows."""
    excess = float(objective.value(state.x, batch) - objective.value(optimum, batch))
    bound = 2.0 * curvature * feasible.diameter(optimum.shape) ** 2 / (state.t + 2)
    assert feasible.contains(optimum)
    assert -1e-12 <= excess <= bound
    gap = float(StochasticFrankWolfe(feasible, objective).gap(state, batch))
    assert excess <= gap + 1e-12
    np.testing.assert_allclose(state.x, optimum, atol=0.05)


PLANTED = {
    "L1Ball": (L1Ball(), [0.5, 0.0, -0.3, 0.2, 0.0], [-1.0, 0.4, 1.0, -1.0, -0.9]),
    "Simplex": (Simplex(), [0.5, 0.0, 0.3, 0.2, 0.0], [-0.2, 0.4, -0.2, -0.2, 0.1]),
    "Box": (Box(-1.0, 2.0), [-1.0, 0.5, 2.0, 0.0, -1.0], [0.7, 0.0, -0.3, 0.0, 0.2]),
}


@pytest.mark.parametrize("name", PLANTED)
def test_least_squares_with_correlated_rows(name: str, rng: Any) -> None:
    """The targets are made so that the gradient at the wanted optimum is one that makes it optimal."""
    feasible, optimum, gradient = PLANTED[name]
    x, g = np.array(optimum), np.array(gradient)
    assert float(g @ x) == pytest.approx(float(g @ feasible.lmo(g)))  # a certificate of optimality
    rows = rng.standard_normal((40, 5)) @ (np.eye(5) + 0.3 * rng.standard_normal((5, 5)))
    gram = rows.T @ rows / 40
    batch = (rows, rows @ x - rows @ np.linalg.solve(gram, g))
    state = run_classic(feasible, LeastSquares(), feasible.lmo(np.arange(5.0) + 1.0), batch)
    assert_converged(feasible, LeastSquares(), state, batch, x, float(np.linalg.eigvalsh(gram)[-1]))


def test_matrix_least_squares_over_the_nuclear_ball(with_spectrum: Make) -> None:
    """A pair of functions; the optimum shrinks all singular values alike."""
    feasible = NuclearBall(2.0)
    target = with_spectrum(6, [1.9, 0.9, 0.3, 0.1])
    u, s, vt = np.linalg.svd(target, full_matrices=False)
    optimum = (u * np.maximum(s - 0.4, 0.0)) @ vt  # 1.5 + 0.5 = 2
    solver = StochasticFrankWolfe(feasible, (half_square, difference), Classic())
    state = run_classic(feasible, (half_square, difference), np.zeros((6, 4)), target)
    assert np.linalg.norm(state.x, ord="nuc") <= 2.0 + 1e-9
    assert_converged(feasible, solver.objective, state, target, optimum, curvature=1.0)


@pytest.mark.parametrize("schedule", [PaperSchedule(), MokhtariSchedule()])
def test_noisy_gradients_average_out(schedule: Schedule, rng: Any) -> None:
    truth = np.array([0.6, 0.0, -0.4, 0.0])
    solver = StochasticFrankWolfe(L1Ball(), LeastSquares(), schedule, average=True)
    state = solver.init(np.zeros(4))
    for _ in range(4000):
        rows = rng.standard_normal((5, 4))
        state = solver.step(state, (rows, rows @ truth + 0.5 * rng.standard_normal(5)))
    np.testing.assert_allclose(state.x, truth, atol=0.1)
    assert state.average is not None
    np.testing.assert_allclose(state.average, truth, atol=0.1)


def test_sparse_component_is_found(rng: Any) -> None:
    truth = np.zeros(30)
    support = [3, 11, 17, 25]
    truth[support] = [0.5, -0.5, 0.5, 0.5]
    solver = StochasticFrankWolfe(L2Ball(), SparsePCAObjective())
    state = solver.init(L2Ball().lmo(rng.standard_normal(30)))
    assert abs(state.x @ truth) < 0.6
    for _ in range(1500):
        noise = 0.5 * rng.standard_normal((20, 30))
        state = solver.step(state, 3.0 * rng.standard_normal((20, 1)) * truth + noise)
    assert abs(state.x @ truth) > 0.99
    assert np.abs(np.delete(state.x, support)).max() < 0.05


def test_dictionary_is_found(path: str, rng: Any, orthonormal: Make) -> None:
    """Algorithm 2 on sparse codes: the columns come back, up to order and sign."""
    truth = orthonormal(8, 8)
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), post_step=PolarStep())
    state = solver.init(orthonormal(8, 8))
    for _ in range(600):
        codes = rng.standard_normal((100, 8)) * (rng.random((100, 8)) < 0.2)
        state = solver.step(state, codes @ truth.T)
    match = np.abs(truth.T @ state.x)
    assert match.max(axis=0).min() > 0.99
    assert sorted(match.argmax(axis=0)) == list(range(8))
