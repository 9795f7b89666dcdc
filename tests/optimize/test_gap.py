"""The Frank-Wolfe gap: never negative, zero at stationary points, a bound of what is left to gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream._typing import FloatArray
from orthostream.optimize import (
    Box,
    L1Ball,
    L2Ball,
    LInfBall,
    NuclearBall,
    Simplex,
    SpectralBall,
    frank_wolfe_gap,
)
from set_table import CASES, Case, each_set


@pytest.mark.parametrize(
    ("feasible", "x", "gradient", "gap"),
    [
        (L2Ball(), [0.0, 1.0], [3.0, 0.0], 3.0),
        (L2Ball(2.0), [0.0, 1.0], [3.0, 4.0], 14.0),
        (L1Ball(), [0.5, -0.5], [2.0, 1.0], 2.5),
        (Simplex(), [0.5, 0.5], [2.0, 1.0], 0.5),
        (Box(0.0, 1.0), [0.5, 0.5], [2.0, -1.0], 1.5),
        (LInfBall(), [1.0, 1.0], [2.0, -1.0], 4.0),
        (SpectralBall(), [[1.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 3.0]], 10.0),
        (NuclearBall(), [[0.0, 0.0], [0.0, 1.0]], [[2.0, 0.0], [0.0, 3.0]], 6.0),
    ],
)
def test_known_values(feasible: Any, x: Any, gradient: Any, gap: float) -> None:
    answer = frank_wolfe_gap(feasible, np.array(x), np.array(gradient))
    assert isinstance(answer, np.ndarray)
    assert answer.shape == ()
    assert float(answer) == pytest.approx(gap, abs=1e-12)


@each_set
def test_gap_is_the_best_of_many_directions(case: Case, rng: Any) -> None:
    vertices = case.feasible.lmo(rng.standard_normal((2000, *case.shape)))
    x = vertices[:10].mean(axis=0)
    gradient = rng.standard_normal(case.shape)
    gains = -((vertices - x) * gradient).reshape(2000, -1).sum(axis=1)
    gap = float(frank_wolfe_gap(case.feasible, x, gradient))
    assert gap >= gains.max() - 1e-9
    assert gap == pytest.approx(float((gradient * x).sum()) - case.least(gradient))


@each_set
def test_stack_equals_a_loop(case: Case, rng: Any) -> None:
    feasible, shape = case.feasible, case.shape
    x = feasible.project(rng.standard_normal((2, 3, *shape)))
    gradient = rng.standard_normal((2, 3, *shape))
    gaps = frank_wolfe_gap(feasible, x, gradient)
    assert gaps.shape == (2, 3)
    loop = [[frank_wolfe_gap(feasible, x[i, j], gradient[i, j]) for j in range(3)] for i in range(2)]
    np.testing.assert_allclose(gaps, loop, atol=1e-9)


@each_set
def test_gap_vanishes_at_minimisers_and_only_there(case: Case, rng: Any) -> None:
    """Of the distance to a target: the nearest point is its only stationary point."""
    feasible, shape = case.feasible, case.shape
    target = 3.0 * rng.standard_normal(shape)
    best = feasible.project(target)
    assert float(frank_wolfe_gap(feasible, best, best - target)) == pytest.approx(0.0, abs=1e-9)
    for _ in range(20):
        other = feasible.project(best + 0.3 * rng.standard_normal(shape))
        gap = float(frank_wolfe_gap(feasible, other, other - target))
        excess = 0.5 * float(((other - target) ** 2).sum() - ((best - target) ** 2).sum())
        assert gap >= excess - 1e-9  # the duality gap of a convex function
        if np.abs(other - best).max() > 1e-6:
            assert gap > 1e-9


@settings(deadline=None, max_examples=60)
@given(data=st.data(), name=st.sampled_from(list(CASES)))
def test_gap_is_never_negative_in_the_set(data: st.DataObject, name: str) -> None:
    feasible, shape = CASES[name].feasible, CASES[name].shape
    entries = st.floats(-10.0, 10.0, allow_subnormal=False)
    x: FloatArray = feasible.project(data.draw(arrays(np.float64, shape, elements=entries)))
    gradient = data.draw(arrays(np.float64, shape, elements=entries))
    assert float(frank_wolfe_gap(feasible, x, gradient)) >= -1e-7
    assert float(frank_wolfe_gap(feasible, feasible.lmo(gradient), gradient)) == pytest.approx(0.0, abs=1e-7)


@each_set
def test_inputs_are_left_alone(case: Case, rng: Any) -> None:
    x, gradient = case.feasible.lmo(rng.standard_normal(case.shape)), rng.standard_normal(case.shape)
    for array in (x, gradient):
        array.setflags(write=False)
    assert np.isfinite(frank_wolfe_gap(case.feasible, x, gradient))
