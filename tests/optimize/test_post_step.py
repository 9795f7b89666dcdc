"""The polar factor as the operation P of Algorithm 1 (Lemma 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize import (
    LpContrast,
    NuclearBall,
    PolarStep,
    PostStep,
    SpectralBall,
    StochasticFrankWolfe,
    polar,
)

Make = Callable[..., FloatArray]
SHAPES = [(1, 1, ()), (5, 5, ()), (9, 4, ()), (30, 30, ()), (6, 6, (3,)), (8, 2, (2, 2))]


@pytest.mark.parametrize("gamma", [0.0, 1e-6, 0.01, 0.1, 0.15, 0.3, 0.45, 0.499, 0.501, 0.7, 0.9, 1.0])
def test_mixtures_become_orthogonal(path: str, gamma: float, orthonormal: Make) -> None:
    for rows, columns, stack in SHAPES:
        point, vertex = orthonormal(rows, columns, stack), orthonormal(rows, columns, stack)
        moved = PolarStep()(point, vertex, gamma)
        u, s, vt = np.linalg.svd((1.0 - gamma) * point + gamma * vertex, full_matrices=False)
        assert np.abs(moved.mT @ moved - np.eye(columns)).max() <= 1e-13
        np.testing.assert_allclose(moved, u @ vt, atol=1e-12 / min(1.0, float(s.min())))


def test_without_movement_or_history_nothing_is_computed(orthonormal: Make) -> None:
    point, vertex = orthonormal(5, 5), orthonormal(5, 5)
    assert PolarStep()(point, vertex, 0.0) is point
    assert PolarStep()(point, vertex, 1.0) is vertex


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.8])
def test_opposite_points_are_the_worst_case(path: str, gamma: float) -> None:
    """A vertex opposite to the point puts singular values at |1 - 2 gamma|, the end of what is allowed for."""
    point = np.eye(4)
    vertex = np.diag([1.0, 1.0, 1.0, -1.0])
    moved = PolarStep()(point, vertex, gamma)
    assert np.abs(moved.T @ moved - np.eye(4)).max() < 1e-11
    if gamma != 0.5:
        np.testing.assert_allclose(moved, point if gamma < 0.5 else vertex, atol=1e-11)


@pytest.mark.parametrize("feasible", [SpectralBall(2.0), NuclearBall()])
def test_set_must_be_the_hull_of_the_orthogonal_group(feasible: Any) -> None:
    solver = StochasticFrankWolfe(feasible, LpContrast(), post_step=PolarStep())
    with pytest.raises(ValueError, match=r"PolarStep.*SpectralBall\(radius=1\)"):
        solver.init(feasible.lmo(np.eye(3)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_start_must_be_orthogonal(dtype: Any, orthonormal: Make) -> None:
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), post_step=PolarStep())
    start = orthonormal(6, 4, (3,)).astype(dtype)
    assert solver.init(start).x.dtype == np.float64
    start[1] *= 0.9
    with pytest.raises(ValueError, match=r"orthonormal columns.*deviates by 0\.19.*polar\(x\)\[0\]"):
        solver.init(start)
    solver.init(polar(start)[0])  # the advice helps


def test_input_is_left_alone(path: str, orthonormal: Make) -> None:
    for gamma in (0.05, 0.4):
        point, vertex = orthonormal(5, 5), orthonormal(5, 5)
        kept = point.copy(), vertex.copy()
        PolarStep()(point, vertex, gamma)[...] = 7.0
        np.testing.assert_array_equal((point, vertex), kept)


def test_by_default_the_mixture_stays_as_it_is() -> None:
    np.testing.assert_allclose(PostStep()(np.array([1.0, 0.0]), np.array([0.0, 2.0]), 0.25), [0.75, 0.5])
