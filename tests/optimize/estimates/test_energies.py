"""Every estimate can tell which atoms have the most energy, for one problem and for a stack."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.optimize import (
    GradientEstimate,
    Guarded,
    HandOver,
    LpContrast,
    PaperSchedule,
    PolarStep,
    Replay,
    SpectralBall,
    StochasticFrankWolfe,
)

ENERGIES = np.array([4.0, 100.0, 1.0, 20.0])


def _solver(estimate: GradientEstimate | LpContrast) -> StochasticFrankWolfe:
    schedule = PaperSchedule() if isinstance(estimate, LpContrast) else None
    return StochasticFrankWolfe(SpectralBall(), estimate, schedule, PolarStep())


@pytest.mark.parametrize("atoms", [4, 3])
@pytest.mark.parametrize("estimate", [LpContrast(3), LpContrast(4), HandOver(), Guarded(), Replay()])
def test_energies_of_a_stack_are_those_of_its_problems(estimate: GradientEstimate | LpContrast, atoms: int) -> None:
    rng = np.random.default_rng(0)
    solver = _solver(estimate)
    start = np.linalg.qr(rng.standard_normal((2, 4, atoms)))[0]
    both, alone = solver.init(start), [solver.init(one) for one in start]
    for _ in range(400):
        rows = rng.standard_normal((2, 10, 4)) * (rng.random((2, 10, 4)) < 0.3) * np.sqrt(ENERGIES)
        both = solver.step(both, rows)
        alone = [solver.step(one, some) for one, some in zip(alone, rows, strict=True)]
    together = solver.estimate.energies(both.memory, solver.answer(both))
    assert together.shape == (2, atoms)
    for found, one in zip(together, alone, strict=True):
        point = solver.answer(one)
        np.testing.assert_allclose(found, solver.estimate.energies(one.memory, point), rtol=1e-5)
        true = (np.square(point) * ENERGIES[:, None]).sum(axis=0)
        np.testing.assert_array_equal(np.argsort(found), np.argsort(true))


@pytest.mark.parametrize("estimate", [HandOver(), Guarded(), Replay(rows_per_feature=100)])
def test_energies_are_mean_squares_where_these_are_known(estimate: GradientEstimate) -> None:
    rng = np.random.default_rng(1)
    solver = _solver(estimate)
    state = solver.init(np.eye(4))
    for _ in range(400):
        state = solver.step(state, rng.standard_normal((10, 4)) * (rng.random((10, 4)) < 0.5))
    np.testing.assert_allclose(solver.estimate.energies(state.memory, solver.answer(state)), 0.5, atol=0.35)
