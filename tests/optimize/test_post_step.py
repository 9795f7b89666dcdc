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
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 3e-5)])
def test_mixtures_become_orthogonal(path: str, gamma: float, dtype: Any, tolerance: float, orthonormal: Make) -> None:
    for rows, columns, stack in SHAPES:
        mixture = (1.0 - gamma) * orthonormal(rows, columns, stack) + gamma * orthonormal(rows, columns, stack)
        a = mixture.astype(dtype)
        moved = PolarStep()(a.copy(), gamma)
        u, s, vt = np.linalg.svd(a.astype(np.float64), full_matrices=False)
        assert moved.dtype == dtype
        assert np.abs(moved.mT @ moved - np.eye(columns)).max() <= tolerance
        np.testing.assert_allclose(moved, u @ vt, atol=tolerance / min(1.0, float(s.min())))


@pytest.mark.parametrize("gamma", [0.2, 0.5, 0.8])
def test_opposite_points_are_the_worst_case(path: str, gamma: float) -> None:
    """A vertex opposite to the point puts singular values at |1 - 2 gamma|, the end of what is allowed for."""
    point = np.eye(4)
    vertex = np.diag([1.0, 1.0, 1.0, -1.0])
    moved = PolarStep()((1.0 - gamma) * point + gamma * vertex, gamma)
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
    assert solver.init(start).x.dtype == dtype
    start[1] *= 0.9
    with pytest.raises(ValueError, match=r"orthonormal columns.*deviates by 0\.19.*polar\(x\)\[0\]"):
        solver.init(start)
    solver.init(polar(start)[0])  # the advice helps


def test_input_is_left_alone(path: str, orthonormal: Make) -> None:
    for gamma in (0.05, 0.4):
        mixture = (1.0 - gamma) * orthonormal(5, 5) + gamma * orthonormal(5, 5)
        kept = mixture.copy()
        PolarStep()(mixture, gamma)[...] = 7.0
        np.testing.assert_array_equal(mixture, kept)


def test_contract_wants_a_call() -> None:
    with pytest.raises(TypeError, match="abstract"):
        PostStep()  # type: ignore[abstract]
