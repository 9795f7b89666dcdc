"""The compiled path does what the NumPy path does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

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
from orthostream.optimize.polar_decomposition.coefficients import LOWEST
from orthostream.optimize.polar_decomposition.products import near_polar, product_polar

pytest.importorskip("numba", reason="the compiled path needs Numba")
compiled: Any = pytest.importorskip("orthostream.optimize.polar_decomposition.compiled")

Make = Callable[..., FloatArray]
PlainStep = Callable[[StochasticFrankWolfe, State, FloatArray], State]
SIZES = [(1, 1), (2, 2), (5, 5), (16, 16), (17, 17), (33, 33), (65, 65), (9, 3), (40, 20), (6, 1)]
each_size = pytest.mark.parametrize(("rows", "columns"), SIZES)


def even(columns: int, condition: float) -> FloatArray:
    return np.geomspace(1.0, 1.0 / condition, columns) if columns > 1 else np.ones(1)


@pytest.fixture(autouse=True)
def _compiled(use_path: Callable[[str], None]) -> None:
    use_path("compiled")


@each_size
@pytest.mark.parametrize("low", [LOWEST, 0.01, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_polar_equals_the_numpy_path(rows: int, columns: int, low: float, sign: float, with_spectrum: Make) -> None:
    a = with_spectrum(rows, even(columns, 5.0))
    kept = a.copy()
    expected = product_polar(a, low, 1e-9, sign)
    factor, guess, good = compiled.compiled_polar(a, low, 1e-9, sign)
    assert expected is not None
    assert good
    np.testing.assert_allclose(factor, expected[0], atol=1e-12)
    assert guess == pytest.approx(expected[1], rel=1e-12)
    np.testing.assert_array_equal(a, kept)


@each_size
@pytest.mark.parametrize("condition", [100.0, 1e3, 3e3])
def test_polar_differs_by_rounding_alone(rows: int, columns: int, condition: float, with_spectrum: Make) -> None:
    """An error of the last digit in the matrix moves its factor by about the condition number times as much."""
    a = with_spectrum(rows, even(columns, condition))
    expected = product_polar(a, 0.4 / condition, 1e-13)
    factor, _, good = compiled.compiled_polar(a, 0.4 / condition, 1e-13, 1.0)
    assert expected is not None
    assert good
    np.testing.assert_allclose(factor, expected[0], atol=1e-12 + 1e-14 * condition)


@each_size
@pytest.mark.parametrize("low", [0.7, 0.9, 1.0])
def test_near_polar_equals_the_numpy_path(rows: int, columns: int, low: float, with_spectrum: Make) -> None:
    x = with_spectrum(rows, np.linspace(1.0, low, columns))
    expected = near_polar(x, low, 1e-13)
    np.testing.assert_allclose(compiled.compiled_near_polar(x.copy(), low, 1e-13), expected, atol=1e-12)


@pytest.mark.parametrize("low", [LOWEST, 0.1, 0.9])
@pytest.mark.usefixtures("no_hang")
def test_no_certificate_is_given_where_there_is_no_factor(low: float, with_spectrum: Make) -> None:
    deficient = with_spectrum(6, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    strange, endless = deficient.copy(), deficient.copy()
    strange[0, 0], endless[0, 0] = np.nan, np.inf
    for a in (np.zeros((6, 6)), deficient, strange, endless, 1e200 * np.eye(6), 1e-200 * np.eye(6)):
        assert not compiled.compiled_polar(a, low, 1e-9, 1.0)[2]


# The fused step of Algorithm 2.


def rows_for(rng: Any, size: int, samples: int = 60) -> FloatArray:
    shape = (samples, size)
    rows: FloatArray = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    return rows


def algorithm_2(p: float, schedule: Schedule) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(SpectralBall(), LpContrast(p), schedule, PolarStep())


@pytest.fixture
def plain_step(use_path: Callable[[str], None]) -> PlainStep:
    """Return what takes a solver's step on the NumPy path."""

    def step(solver: StochasticFrankWolfe, state: State, batch: FloatArray) -> State:
        use_path("numpy")
        try:
            assert isinstance(solver.objective, LpContrast)
            return algorithm_2(solver.objective.p, solver.schedule).step(state, batch)
        finally:
            use_path("compiled")

    return step


@pytest.mark.parametrize("p", [2.5, 3, 3.7, 4, 6])
@pytest.mark.parametrize(("rows", "columns"), [(5, 5), (8, 3), (20, 20)])
def test_step_equals_the_numpy_path(
    p: float, rows: int, columns: int, rng: Any, orthonormal: Make, plain_step: PlainStep
) -> None:
    for schedule in (PaperSchedule(), ConstantSchedule(0.2, 0.1), ConstantSchedule(0.3, 0.7), ConstantSchedule(0.5, 1)):
        fast = algorithm_2(p, schedule)
        state = fast.init(orthonormal(rows, columns))
        taken = 0
        for _ in range(12):
            batch = rows_for(rng, rows)
            expected = plain_step(fast, state, batch)
            taken += fast.fused is not None and fast.fused(state, batch) is not None
            state = fast.step(state, batch)
            assert state.t == expected.t
            np.testing.assert_allclose(state.x, expected.x, atol=3e-9)
            np.testing.assert_allclose(state.gradient, expected.gradient, rtol=1e-9, atol=1e-11)
            assert np.abs(state.x.T @ state.x - np.eye(columns)).max() < 1e-11
        assert taken >= 8  # or else this test would compare the NumPy path with itself


@pytest.mark.parametrize(
    ("part", "layout"),
    [
        ("x", "columns first"),
        ("gradient", "columns first"),
        ("batch", "columns first"),
        ("batch", "every other"),
        ("all", "read-only"),
    ],
)
def test_step_takes_any_layout(part: str, layout: str, rng: Any, orthonormal: Make) -> None:
    fast = algorithm_2(3.0, ConstantSchedule(0.2, 0.1))
    state = fast.init(orthonormal(6, 4))
    for _ in range(5):
        state = fast.step(state, rows_for(rng, 6))
    batch = rows_for(rng, 6)
    expected = fast.step(state, batch)
    changed = {"x": state.x, "gradient": state.gradient, "batch": batch}
    if layout == "columns first":
        changed[part] = np.asfortranarray(changed[part])
    elif layout == "every other":
        changed[part] = np.repeat(changed[part], 2, axis=1)[:, ::2]
    else:
        for array in changed.values():
            array.setflags(write=False)
    got = fast.step(state._replace(x=changed["x"], gradient=changed["gradient"]), changed["batch"])
    np.testing.assert_allclose(got.gradient, expected.gradient, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(got.x, expected.x, atol=3e-9)


def test_step_leaves_its_state_alone(rng: Any, orthonormal: Make) -> None:
    fast = algorithm_2(3.0, ConstantSchedule(0.2, 0.1))
    state, batch = fast.init(orthonormal(6, 4)), rows_for(rng, 6)
    for _ in range(5):
        state = fast.step(state, batch)
    kept = (state.x.copy(), state.gradient.copy(), batch.copy())
    assert fast.fused is not None
    following = fast.fused(state, batch)
    assert following is not None
    following.x[...], following.gradient[...] = 7.0, 7.0
    for before, now in zip(kept, (state.x, state.gradient, batch), strict=True):
        np.testing.assert_array_equal(before, now)


@pytest.mark.parametrize("p", [3, 4, 2.5])
def test_extreme_batches_go_the_general_way(p: float, rng: Any, orthonormal: Make, plain_step: PlainStep) -> None:
    fast = algorithm_2(p, ConstantSchedule(0.2, 0.1))
    state = fast.init(orthonormal(5, 5))
    for _ in range(5):
        state = fast.step(state, rows_for(rng, 5))
    for batch in (np.zeros((3, 5)), 1e-60 * rows_for(rng, 5), 1e40 * rows_for(rng, 5), rows_for(rng, 5, 1)):
        expected = plain_step(fast, state, batch)
        got = fast.step(state, batch)
        np.testing.assert_allclose(got.x, expected.x, atol=3e-9)
        scale = np.abs(expected.gradient).max()
        np.testing.assert_allclose(got.gradient, expected.gradient, atol=1e-9 * scale)


def test_batch_of_other_features_is_an_error(rng: Any, orthonormal: Make) -> None:
    fast = algorithm_2(3.0, ConstantSchedule(0.2, 0.1))
    state = fast.init(orthonormal(5, 5))
    for _ in range(3):
        state = fast.step(state, rows_for(rng, 5))
    with pytest.raises(ValueError, match=r"(?i)size|shape|dimension|mismatch"):
        fast.step(state, rows_for(rng, 6))


def outcome(step: Callable[[], State]) -> Any:
    try:
        return step().x.tolist()
    except (ValueError, ArithmeticError) as error:
        return type(error)


def test_empty_batch_is_treated_alike(rng: Any, orthonormal: Make, plain_step: PlainStep) -> None:
    fast, nothing = algorithm_2(3.0, ConstantSchedule(0.2, 0.1)), np.zeros((0, 5))
    state = fast.init(orthonormal(5, 5))
    for _ in range(5):
        state = fast.step(state, rows_for(rng, 5))
    answer = outcome(lambda: fast.step(state, nothing))
    assert answer == outcome(lambda: plain_step(fast, state, nothing))
    assert answer is not ZeroDivisionError  # errors help, or there is none


@pytest.mark.parametrize(
    "solver",
    [
        StochasticFrankWolfe(SpectralBall(2.0), LpContrast(), None, PolarStep()),
        StochasticFrankWolfe(SpectralBall(), LpContrast(), None, None),
        StochasticFrankWolfe(SpectralBall(), LpContrast(), None, PolarStep(), average=True),
    ],
    ids=["another radius", "no post step", "average"],
)
def test_other_algorithms_are_not_fused(solver: StochasticFrankWolfe) -> None:
    assert solver.fused is None


def test_subclasses_are_not_fused() -> None:
    class Halved(LpContrast):
        def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
            return 0.5 * super().gradient(x, batch, weights)

    assert StochasticFrankWolfe(SpectralBall(), Halved(), None, PolarStep()).fused is None


def test_fused_step_declines_what_it_does_not_know(rng: Any, orthonormal: Make) -> None:
    fast = algorithm_2(3.0, ConstantSchedule(0.2, 0.1))
    assert fast.fused is not None
    start = fast.init(orthonormal(5, 5))
    batch = rows_for(rng, 5)
    assert fast.fused(start, batch) is None  # nothing is remembered yet: the exact path
    state = start
    for _ in range(5):
        state = fast.step(state, batch)
    assert fast.fused(state, batch) is not None
    assert fast.fused(state, batch.astype(np.float32)) is None
    assert fast.fused(state, np.ascontiguousarray(batch[:, :4])) is None
    assert fast.fused(state, batch[None]) is None
    assert fast.fused(state, batch.tolist()) is None
    half = algorithm_2(3.0, ConstantSchedule(0.2, 0.5))
    assert half.fused is not None
    assert half.fused(state, batch) is None  # the mixture of point and vertex may be singular
