"""Theorem 3: the infimum of the expected Frank-Wolfe gap of Algorithm 2 falls at least as fast as ln t / t^(1/4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.metrics import recovery_error
from orthostream.optimize import (
    ConstantSchedule,
    LpContrast,
    PaperSchedule,
    PolarStep,
    PostStep,
    Schedule,
    SpectralBall,
    StochasticFrankWolfe,
    frank_wolfe_gap,
)

SIZE, THETA, RUNS, STEPS, BURN_IN = 5, 0.3, 40, 2000, 50


def run(
    model: Any, starts: FloatArray, batch: int, post_step: PostStep | None, schedule: Schedule | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return step numbers, evenly spread in the logarithm, the mean over the runs of the exact gap, and the ends."""
    rng = np.random.default_rng(0)
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3), schedule, post_step)
    state = solver.init(starts)
    marks = np.unique(np.geomspace(1, STEPS, 80).astype(int))
    gaps = []
    for t in range(1, STEPS + 1):
        if t in marks:
            gaps.append(frank_wolfe_gap(SpectralBall(), state.x, model.gradient(state.x)).mean())
        state = solver.step(state, model.draw(rng, len(starts), batch))
    return marks, np.array(gaps), state.x


@pytest.fixture(scope="module")
def model(expectation, isometry):
    return expectation(SIZE, THETA, isometry(np.random.default_rng(1), SIZE, SIZE))


@pytest.fixture(scope="module")
def starts(isometry):
    return isometry(np.random.default_rng(2), SIZE, SIZE, RUNS)


@pytest.mark.parametrize(
    ("post_step", "batch"), [(PolarStep(), 1), (PolarStep(), 10), (None, 10)], ids=["polar-1", "polar-10", "plain-10"]
)
def test_the_gap_falls_as_fast_as_the_theorem_says(model, starts, exponent, post_step, batch):
    t, gaps, _ = run(model, starts, batch, post_step)
    late = t >= BURN_IN
    gap = np.minimum.accumulate(gaps)[late]
    rate = np.log(t[late]) / t[late] ** 0.25
    assert exponent(t[late], gap / rate) < 0.0
    assert exponent(t[late], gap) < -0.25


@pytest.mark.slow
def test_constant_weights_have_no_such_rate(model, starts, exponent):
    t, gaps, _ = run(model, starts, 10, PolarStep(), ConstantSchedule(rho=1.0, gamma=0.5))
    late = t >= BURN_IN
    gap = np.minimum.accumulate(gaps)[late]
    assert exponent(t[late], gap / (np.log(t[late]) / t[late] ** 0.25)) > 0.0


def test_remark_larger_mini_batches_are_faster(model, starts):
    small, large = (run(model, starts, batch, PolarStep())[1] for batch in (1, 10))
    assert large[-1] < 0.5 * small[-1]


def test_remark_the_stationary_point_is_the_true_dictionary(model, starts):
    # The theorem promises no more than a stationary point, of which there are worse ones.
    ends = run(model, starts, 10, PolarStep())[2]
    assert model.value(starts).mean() > 0.9 * model.optimum
    assert max(recovery_error(end.T, model.dictionary.T) for end in ends) < 0.01


def test_the_polar_step_pays_all_the_same(model, starts):
    polar, plain = (run(model, starts, 10, post_step)[1] for post_step in (PolarStep(), None))
    assert polar[-1] < 0.2 * plain[-1]


def after_steps(state, t):
    """Return a state whose schedule is at step t."""
    memory = state.memory
    arrays = {"gradient": memory["gradient"], "steps": np.full(memory["steps"].shape, float(t))}
    return state._replace(t=t, memory=memory.layout.block(memory.array.shape[:-1], arrays))


def test_with_exact_gradients_the_polar_step_can_stand_still(expectation, reflection):
    # Theorem 3 takes its proof from Theorem 2, which allows no operation after the step that raises the objective, and
    # Lemma 4 is false. Once gamma is below 1/2, at t = 5, a reflection stays where it is, at a gap that is
    # not zero. Algorithm 1 without the polar step leaves it, as Theorem 2 promises.
    model, start = expectation(10, 0.05), reflection(10, 2.0)
    ends = {}
    for name, post_step in (("polar", PolarStep()), ("plain", None)):
        solver = StochasticFrankWolfe(SpectralBall(), (model.value, model.gradient), PaperSchedule(), post_step)
        state = after_steps(solver.init(start), 4)
        for _ in range(200):
            state = solver.step(state, None)
        ends[name] = float(solver.gap(state, None))
        if post_step is not None:
            assert np.allclose(state.x, start, atol=1e-9)
    assert ends["polar"] > 0.05 * abs(model.optimum)
    assert ends["plain"] < 1e-4 * abs(model.optimum)


def test_with_sampled_gradients_the_noise_leads_away(expectation, reflection):
    model, start = expectation(10, 0.05), reflection(10, 2.0)
    rng = np.random.default_rng(3)
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3), PaperSchedule(), PolarStep())
    state = after_steps(solver.init(np.broadcast_to(start, (20, 10, 10))), 4)
    before = frank_wolfe_gap(SpectralBall(), state.x, model.gradient(state.x)).mean()
    for _ in range(500):
        state = solver.step(state, model.draw(rng, 20, 10))
    after = frank_wolfe_gap(SpectralBall(), state.x, model.gradient(state.x)).mean()
    assert after < 0.05 * before
