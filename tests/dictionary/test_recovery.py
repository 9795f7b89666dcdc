"""How well the true dictionary is recovered: means over 100 trials, which run as one stack."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.optimize import (
    LpContrast,
    MokhtariSchedule,
    PaperSchedule,
    PolarStep,
    SpectralBall,
    StochasticFrankWolfe,
    polar,
)

TRIALS, SIZE, BATCH = 100, 10, 10


def mean_errors(solver: StochasticFrankWolfe, sparsity: float, moments: tuple[int, ...]) -> dict[int, float]:
    rng = np.random.default_rng(2026)
    truth, _ = polar(rng.standard_normal((TRIALS, SIZE, SIZE)))
    state = solver.init(polar(rng.standard_normal((TRIALS, SIZE, SIZE)))[0])
    errors = {}
    for t in range(1, moments[-1] + 1):
        shape = (TRIALS, BATCH, SIZE)
        state = solver.step(state, (rng.standard_normal(shape) * (rng.random(shape) < sparsity)) @ truth.mT)
        if t in moments:
            learnt = state.x if state.average is None else polar(state.average)[0]
            errors[t] = float(np.abs(1 - ((learnt.mT @ truth) ** 4).sum(axis=(-2, -1)) / SIZE).mean())
    return errors


def solver(p: float = 3, *, average: bool = False) -> StochasticFrankWolfe:
    return StochasticFrankWolfe(SpectralBall(), LpContrast(p), PaperSchedule(), PolarStep(), average=average)


@pytest.fixture(scope="module")
def paper() -> dict[int, float]:
    return mean_errors(solver(), 0.3, (1000, 3000))


def test_paper(paper: dict[int, float]) -> None:
    assert paper[1000] <= 1.5e-3
    assert paper[3000] <= 7e-4


def test_denser_codes() -> None:
    assert mean_errors(solver(), 0.5, (2000,))[2000] <= 1.5e-3


def test_averaging(paper: dict[int, float]) -> None:
    averaged = mean_errors(solver(average=True), 0.3, (3000,))[3000]
    assert averaged <= 2.5e-4
    assert averaged < paper[3000] / 2


def test_l4_is_worse(paper: dict[int, float]) -> None:
    assert mean_errors(solver(4), 0.3, (1000,))[1000] > 2 * paper[1000]


def test_sfw_is_worse(paper: dict[int, float]) -> None:
    sfw = StochasticFrankWolfe(SpectralBall(), LpContrast(3), MokhtariSchedule())
    errors = mean_errors(sfw, 0.3, (1000, 3000))
    assert errors[1000] > errors[3000] > 5 * paper[3000]
