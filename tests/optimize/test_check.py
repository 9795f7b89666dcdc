"""The checks that users are given find the bugs that users write."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize import (
    Box,
    CallableObjective,
    L1Ball,
    L2Ball,
    LeastSquares,
    LpContrast,
    SpectralBall,
    check_objective,
    check_set,
)
from set_table import Case, each_kind


def broken(feasible: Any, **methods: Any) -> Any:
    """Return a copy of a set in which some methods are replaced."""
    kind = type(feasible)
    copy = object.__new__(type(f"Broken{kind.__name__}", (kind,), methods))
    vars(copy).update(vars(feasible))
    return copy


@each_kind
def test_sound_sets_pass(case: Case) -> None:
    check_set(broken(case.feasible), case.shape)
    check_set(broken(case.feasible), (2, 7, *case.shape), trials=3, seed=5)  # leading axes are a stack


@each_kind
def test_oracle_that_maximises_is_found(case: Case) -> None:
    feasible = broken(case.feasible, lmo=lambda _, g: case.feasible.lmo(-g))
    with pytest.raises(AssertionError, match=r"Broken\w+\.lmo maximises"):
        check_set(feasible, case.shape)


@each_kind
def test_oracle_that_leaves_the_set_is_found(case: Case) -> None:
    feasible = broken(case.feasible, lmo=lambda _, g: 1.001 * case.feasible.lmo(g))
    with pytest.raises(AssertionError, match="outside of the set"):
        check_set(feasible, case.shape)


@each_kind
@pytest.mark.parametrize("projects", [True, False])
def test_oracle_with_a_wrong_vertex_is_found(case: Case, projects: bool) -> None:
    def lmo(_: Any, gradient: FloatArray) -> FloatArray:
        seen = gradient.copy()
        seen[..., -1] = 0.0  # the last coordinate is forgotten, in every vertex that the oracle ever returns
        vertex: FloatArray = case.feasible.lmo(seen)
        return vertex

    project = type(case.feasible).project if projects else None
    with pytest.raises(AssertionError, match=r"but a point with .* exists"):
        check_set(broken(case.feasible, lmo=lmo, project=project), case.shape, trials=100)


def test_oracle_that_is_only_nearly_right_is_found() -> None:
    def lmo(self: Any, gradient: FloatArray) -> FloatArray:
        rough = np.round(gradient, 1)
        return np.asarray(L2Ball.lmo(self, rough))

    with pytest.raises(AssertionError, match="exists"):
        check_set(broken(L2Ball(), lmo=lmo), (3,), trials=100)


def one_vertex_for_all(self: Any, gradient: FloatArray) -> FloatArray:
    """Normalise by the norm of everything: right for a single vector."""
    return np.asarray(-gradient / np.linalg.norm(gradient))


def first_axis_only(self: Any, gradient: FloatArray) -> FloatArray:
    """Loop over one leading axis, but not over two."""
    if gradient.ndim == 3:
        return np.broadcast_to(L1Ball().lmo(gradient.sum(axis=1, keepdims=True)), gradient.shape).copy()
    return np.asarray(L1Ball().lmo(gradient))


@pytest.mark.parametrize(("base", "lmo"), [(L2Ball, one_vertex_for_all), (L1Ball, first_axis_only)])
def test_oracle_that_mixes_a_stack_is_found(base: type, lmo: Any) -> None:
    with pytest.raises(AssertionError, match="treats a stack unlike its members"):
        check_set(broken(base(), lmo=lmo), (6,))


def test_oracle_of_a_wrong_shape_is_found() -> None:
    def lmo(self: Any, gradient: FloatArray) -> FloatArray:
        vertex = L1Ball().lmo(gradient)
        return vertex if gradient.ndim > 1 else vertex[None]

    with pytest.raises(AssertionError, match=r"shape \(1, 6\) for a gradient of shape \(6,\)"):
        check_set(broken(L1Ball(), lmo=lmo), (6,))


@each_kind
def test_diameter_that_is_too_small_is_found(case: Case) -> None:
    feasible = broken(case.feasible, diameter=lambda _, shape: 0.5 * case.feasible.diameter(shape))
    with pytest.raises(AssertionError, match="diameter is smaller than a distance"):
        check_set(feasible, case.shape)


def test_the_papers_diameter_is_found_too_small() -> None:
    feasible = broken(SpectralBall(), diameter=lambda _, shape: (2.0 * shape[-1]) ** 0.5)
    with pytest.raises(AssertionError, match="diameter"):
        check_set(feasible, (1, 1))


def test_set_that_refuses_its_own_points_is_found() -> None:
    def contains(self: Any, x: FloatArray, tolerance: float = 1e-8) -> bool:
        return bool(np.all(np.abs(np.abs(x).sum(axis=-1) - 1.0) <= tolerance))  # the sphere, which is not convex

    with pytest.raises(AssertionError, match="refuses a convex combination"):
        check_set(broken(L1Ball(), contains=contains), (6,))


PROJECTIONS = {
    "is not the nearest": lambda _, x: x / np.maximum(1.0, np.abs(x).sum(axis=-1, keepdims=True)),
    "outside of the set": lambda _, x: x,
    "moves points that are feasible": lambda _, x: 0.9 * L1Ball().project(x),
}


@pytest.mark.parametrize("message", PROJECTIONS)
def test_wrong_projection_is_found(message: str) -> None:
    with pytest.raises(AssertionError, match=rf"BrokenL1Ball\.project .*{message}"):
        check_set(broken(L1Ball(), project=PROJECTIONS[message]), (6,))


def test_projection_is_not_asked_for() -> None:
    check_set(broken(L1Ball(), project=None), (6,))


def test_shape_that_a_set_does_not_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="SpectralBall"):
        check_set(SpectralBall(), (3,))
    with pytest.raises(ValueError, match="Box"):
        check_set(Box([0.0, 0.0], 1.0), (3,))


# Objectives.


@pytest.fixture
def rows(rng: np.random.Generator) -> FloatArray:
    return rng.standard_normal((9, 4))


class WithoutFactor(LpContrast):
    """The gradient as the paper prints it: without the factor p."""

    def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
        return super().gradient(x, batch, weights) / self.p


class Uphill(LpContrast):
    def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
        return -super().gradient(x, batch, weights)


class OffByAThousandth(LpContrast):
    def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
        return 1.001 * super().gradient(x, batch, weights)


class SumInsteadOfMean(LpContrast):
    def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
        return len(batch) * super().gradient(x, batch, weights)


class OneEntryForgotten(LpContrast):
    def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
        gradient = super().gradient(x, batch, weights)
        gradient[0, 0] = 0.0
        return gradient


@pytest.mark.parametrize("kind", [WithoutFactor, Uphill, OffByAThousandth, SumInsteadOfMean, OneEntryForgotten])
def test_wrong_gradient_is_found(kind: Any, rows: FloatArray, rng: Any) -> None:
    x = rng.standard_normal((4, 3))
    check_objective(LpContrast(), x, rows)
    with pytest.raises(AssertionError, match=rf"{kind.__name__}\.gradient gives a slope of"):
        check_objective(kind(), x, rows)


def test_gradient_of_a_wrong_shape_is_found(rows: FloatArray, rng: Any) -> None:
    class Transposed(LpContrast):
        def gradient(self, x: FloatArray, batch: Any, weights: FloatArray | None = None) -> FloatArray:
            return super().gradient(x, batch, weights).T

    with pytest.raises(AssertionError, match=r"Transposed\.gradient has shape \(3, 4\), the point \(4, 3\)"):
        check_objective(Transposed(), rng.standard_normal((4, 3)), rows)


def test_functions_are_checked_too(rows: FloatArray) -> None:
    batch, x = (rows, np.ones(9)), np.array([1.0, -2.0, 0.5, 3.0])
    check_objective(LeastSquares(), x, batch)
    right = CallableObjective(LeastSquares().value, LeastSquares().gradient)
    check_objective(right, x, batch)
    wrong = CallableObjective(LeastSquares().value, lambda x, batch: LeastSquares().gradient(x, batch) / 2)
    with pytest.raises(AssertionError, match="CallableObjective"):
        check_objective(wrong, x, batch)


def test_tolerance_decides(rows: FloatArray, rng: Any) -> None:
    x = rng.standard_normal((4, 3))
    check_objective(OffByAThousandth(), x, rows, tolerance=0.01)
    with pytest.raises(AssertionError):
        check_objective(OffByAThousandth(), x, rows, tolerance=1e-4)


def test_checks_leave_their_inputs_alone(rows: FloatArray, rng: Any) -> None:
    x = rng.standard_normal((4, 3))
    for array in (x, rows):
        array.setflags(write=False)
    check_objective(LpContrast(), x, rows)
