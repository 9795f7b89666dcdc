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
    FOURTH,
    GRID,
    HALLEY,
    LARGEST_RADIUS,
    LOWEST,
    MOST_STEPS,
    QUINTIC,
    SECOND,
    SECOND_THEN_FIRST,
    SECOND_THEN_LOOK,
    SIXTH,
    TOLERANCE,
    VERTEX_TOLERANCE,
    PolarSteps,
    grid_index,
    halley,
    last_steps,
    linear_root,
    next_guess,
    proven_low,
    quadratic_root,
    quartic_root,
    quintic,
    sextic_root,
    steps_at,
)

#: The guesses that steps are planned for: eight to an octave.
LOWS = [2.0 ** ((index - GRID) / 8.0) for index in range(GRID)]
INTERVALS = [*(low for low in LOWS[::6]), 0.95, 0.99, 0.998, 0.9989, 0.9991, 0.9999, 1.0 - 1e-6, 1.0 - 1e-12]
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


def through(steps: PolarSteps, x: FloatArray) -> FloatArray:
    for kind, coefficients in zip(steps.kinds, steps.coefficients, strict=True):
        x = take(kind, coefficients, x)
    return x


@pytest.mark.parametrize("index", range(0, GRID, 3))
def test_steps_reach_their_promised_error(index: int) -> None:
    steps = steps_at(index)
    assert len(steps.kinds) == len(steps.coefficients) <= MOST_STEPS
    deviation = np.abs(through(steps, grid(LOWS[index])) - 1.0).max()
    assert deviation <= steps.error * (1.0 + 1e-6) + 1e-13
    assert deviation >= 0.9 * steps.error - 1e-13
    assert (1.0 + steps.error) ** 2 - 1.0 < LARGEST_RADIUS  # so that root steps can take over


@pytest.mark.parametrize("index", range(0, GRID, 11))
def test_wrong_guess_leaves_positive_values(index: int) -> None:
    """Values outside of the interval may stay small or exceed 1, but never change their sign or explode.

    Those above 1 come from rounding alone: every matrix is scaled to a largest singular value of at most 1.
    """
    low = LOWS[index]
    outside = np.concatenate([np.geomspace(1e-3 * low, low, 1001), np.linspace(1.0, 1.01, 101)])
    values = through(steps_at(index), outside)
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


@pytest.mark.parametrize("tolerance", [TOLERANCE, VERTEX_TOLERANCE, 1e-6])
@pytest.mark.parametrize("radius", np.geomspace(1e-12, LARGEST_RADIUS, 60))
def test_last_steps_reach_the_tolerance_and_are_the_cheapest(radius: float, tolerance: float) -> None:
    radius = float(radius)
    second = quadratic_root(radius)[1]
    errors = {
        SECOND: second,
        FOURTH: quartic_root(radius)[1],
        SECOND_THEN_FIRST: linear_root(2.1 * second)[1],
        SIXTH: sextic_root(radius)[1],
    }
    last = last_steps(radius, tolerance)
    cheapest_first = [SECOND, FOURTH, SECOND_THEN_FIRST, SIXTH]
    enough = [kind for kind in cheapest_first if errors[kind] <= tolerance]
    assert last == (enough[0] if enough else SECOND_THEN_LOOK)
    assert 2.1 * second < radius  # looking again ends some time


@settings(deadline=None, max_examples=200)
@given(low=st.floats(LOWEST, 1.0))
def test_steps_are_for_the_nearest_interval_that_holds_the_guess(low: float) -> None:
    chosen = LOWS[grid_index(low)]
    assert chosen <= low * (1.0 + 1e-12)
    assert chosen >= min(low * 2.0 ** (-1.0 / 8.0), LOWS[-1]) * (1.0 - 1e-12)


def test_place_in_the_grid_itself() -> None:
    assert LOWS[0] == LOWEST
    assert [grid_index(low * (1.0 + 1e-9)) for low in LOWS] == list(range(GRID))
    assert grid_index(LOWEST / 1000.0) == 0
    assert grid_index(1.0) == GRID - 1


# What is known of the smallest singular value.


@settings(deadline=None, max_examples=200)
@given(values=st.lists(st.floats(1e-4, 1.0), min_size=1, max_size=30), c=st.floats(3.0, 1e8))
def test_proven_bound_holds_and_is_worth_something(values: list[float], c: float) -> None:
    """Never above the smallest singular value; not far below it where the coefficient c is large enough."""
    spectrum = np.array(values)
    bound = proven_low(float((1.0 / (1.0 + c * spectrum**2)).sum()), c)
    rounding = 1e-15 * len(values) / c  # of the squares: 1 is subtracted from a number that may be close to it
    assert bound**2 <= spectrum.min() ** 2 * (1.0 + 1e-12) + rounding
    # 1 / (1 + c s^2) < 1 / (c s^2), so the trace is below the sum of those.
    least = 1.0 / (1.0 / spectrum**2).sum() - 1.0 / c
    assert bound**2 >= least * (1.0 - 1e-12) - rounding


def test_nothing_is_proven_by_a_large_trace() -> None:
    assert proven_low(1.0, 25.0) == 0.0
    assert proven_low(3.0, 25.0) == 0.0


def test_next_guess_goes_up_slowly_down_fast_and_never_below_what_is_proven() -> None:
    error = 1e-3
    assert next_guess(0.1, 2.0 * error, error, 0.0) == pytest.approx(0.103)
    assert next_guess(0.1, 5.0 * error, error, 0.0) == pytest.approx(0.07)
    assert next_guess(1e-6, 2.0 * error, error, 0.5) == pytest.approx(0.49)
    assert next_guess(0.1, 5.0 * error, error, 0.09) == pytest.approx(0.98 * 0.09)
    assert next_guess(0.998, 2.0 * error, error, 1.0) < 1.0
