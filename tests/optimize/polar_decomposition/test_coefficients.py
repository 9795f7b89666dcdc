"""The scalar side of the polar kernel: every promise on a dense grid of singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition import coefficients as module
from orthostream.optimize.polar_decomposition.coefficients import (
    HALLEY,
    LARGEST_RADIUS,
    LOWEST,
    LOWS,
    MOST_STEPS,
    QUINTIC,
    Plan,
    halley,
    plan,
    plans,
    quintic,
)

INTERVALS = [*(float(low) for low in LOWS[::4]), 0.95, 0.99, 0.998, 0.9989, 0.9991, 0.9999, 1.0 - 1e-6, 1.0 - 1e-12]
ROOTS = [getattr(module, name) for name in vars(module) if name.endswith("_root") and not name.startswith("_")]


def take(kind: int, coefficients: tuple[float, float, float], x: FloatArray) -> FloatArray:
    a, b, c = coefficients
    square = x * x
    if kind == HALLEY:
        return x * (a + b * square) / (1.0 + c * square)
    return x * (a + b * square + c * square * square)


def grid(low: float) -> FloatArray:
    return np.concatenate([np.linspace(low, 1.0, 20_001), np.geomspace(low, 1.0, 20_001)])


@pytest.mark.parametrize("low", INTERVALS)
@pytest.mark.parametrize("kind", [HALLEY, QUINTIC], ids=["halley", "quintic"])
def test_step_maps_its_interval_to_what_it_promises(kind: int, low: float) -> None:
    coefficients, reached = (halley if kind == HALLEY else quintic)(low)
    values = take(kind, coefficients, grid(low))
    assert values.max() <= 1.0 + 1e-13
    assert values.min() >= reached - 1e-13
    assert low <= reached <= 1.0  # no step makes it worse
    # And the promise is not an idle one: some value comes as low as that, and one as high as 1.
    assert values.min() <= reached + 1e-8
    assert values.max() >= 1.0 - 1e-8


@pytest.mark.parametrize(("low", "after"), [(1e-3, 4.0), (1e-2, 2.0), (0.1, 1.16)])
def test_halley_step_is_as_good_as_the_docstring_says(low: float, after: float) -> None:
    assert 1.0 / halley(low)[1] == pytest.approx(after, rel=0.15)


@pytest.mark.parametrize(("low", "after"), [(0.1, 2.6), (0.5, 1.05)])
def test_quintic_step_is_as_good_as_the_docstring_says(low: float, after: float) -> None:
    assert 1.0 / quintic(low)[1] == pytest.approx(after, rel=0.03)


@pytest.mark.parametrize("low", [0.02, 0.1, 0.5, 0.9])
def test_no_other_quintic_does_better(low: float) -> None:
    """Four alternating extremes are the mark of the best odd quintic."""
    coefficients, reached = quintic(low)
    values = take(QUINTIC, coefficients, np.linspace(low, 1.0, 100_001))
    turns = np.flatnonzero(np.diff(np.sign(np.diff(values)))) + 1
    extremes = values[[0, *turns, -1]]
    np.testing.assert_allclose(extremes, [reached, 1.0, reached, 1.0], atol=1e-8)


@settings(deadline=None, max_examples=100)
@given(low=st.floats(LOWEST, 0.9999), at=st.floats(0.0, 1.0))
def test_steps_keep_the_order_of_promises_anywhere(low: float, at: float) -> None:
    x = np.array([low + at * (1.0 - low)])
    for kind, step in ((HALLEY, halley), (QUINTIC, quintic)):
        coefficients, reached = step(low)
        assert reached - 1e-12 <= float(take(kind, coefficients, x)[0]) <= 1.0 + 1e-12


def through(steps: Plan, x: FloatArray) -> FloatArray:
    for kind, coefficients in zip(steps.kinds, steps.coefficients, strict=True):
        x = take(kind, coefficients, x)
    return x


@pytest.mark.parametrize("index", range(len(LOWS)))
def test_plan_reaches_its_promised_error(index: int) -> None:
    steps = plans()[index]
    assert 1 <= len(steps.kinds) == len(steps.coefficients) <= MOST_STEPS
    deviation = np.abs(through(steps, grid(float(LOWS[index]))) - 1.0).max()
    assert deviation <= steps.error * (1.0 + 1e-6) + 1e-14
    assert deviation >= 0.9 * steps.error
    assert (1.0 + steps.error) ** 2 - 1.0 < LARGEST_RADIUS  # so that root steps can take over


@pytest.mark.parametrize("low", LOWS[::7])
def test_wrong_guess_leaves_positive_values(low: float) -> None:
    """Values outside of the interval may stay small or exceed 1, but never change their sign or explode."""
    steps = plan(float(low))
    outside = np.concatenate([np.geomspace(1e-12, float(low), 1001), np.linspace(1.0, 1.05, 101)])
    values = through(steps, outside)
    assert (values > 0.0).all()
    assert values.max() < 2.0
    assert (values[:1001] >= outside[:1001]).all()


@pytest.mark.parametrize("radius", np.geomspace(1e-5, LARGEST_RADIUS, 25))
@pytest.mark.parametrize("root", ROOTS)
def test_root_polynomial_keeps_its_bound(root: Any, radius: float) -> None:
    coefficients, error = root(float(radius))
    e = np.linspace(-radius, radius, 40_001)
    value = sum(c * e**k for k, c in enumerate(coefficients))
    worst = float(np.abs(value * np.sqrt(1.0 + e) - 1.0).max())
    assert worst <= error + 1e-15
    assert worst >= 0.5 * error - 1e-15  # a bound that is never touched would waste steps


def test_root_polynomials_of_every_degree_are_tested() -> None:
    degrees = sorted(len(root(0.1)[0]) - 1 for root in ROOTS)
    assert degrees[:2] == [1, 2]
    assert len(set(degrees)) == len(degrees)


@settings(deadline=None, max_examples=100)
@given(low=st.floats(LOWEST, 1.0))
def test_plan_is_for_the_nearest_interval_that_holds_the_guess(low: float) -> None:
    chosen = LOWS[[steps is plan(low) for steps in plans()]]
    assert (chosen <= low * (1.0 + 1e-12)).any()
    assert chosen.max() >= min(low * 2.0 ** (-1.0 / 8.0), float(LOWS[-1])) * (1.0 - 1e-12)


def test_plan_of_the_grid_itself() -> None:
    for low, steps in zip(LOWS, plans(), strict=True):
        assert plan(float(low) * (1.0 + 1e-9)) == steps
    assert plan(LOWEST / 1000.0) == plans()[0]
    assert plan(1.0) == plans()[-1]
