"""The coefficients of the polar kernel: which steps bring all singular values to 1.

Every step maps the singular values of a matrix and does not change its polar factor. There are two kinds:

* a **Halley step** ``x (a + b x^2) / (1 + c x^2)``, optimal for a spectrum in ``[low, 1]`` (Nakatsukasa, Bai and
  Gygi 2010): two products and one inverse of a well-conditioned positive definite matrix take a condition number
  of 1,000 to 4, of 100 to 2, of 10 to 1.16;
* a **quintic step** ``a x + b x^3 + c x^5``, the minimax odd polynomial on ``[low, 1]``: three products take a
  condition number of 10 to 2.7, of 2 to 1.05.

Close to 1 a **root step** finishes: the Chebyshev polynomial of ``(1 + e)^(-1/2)`` on ``|e| <= radius``, where e is the
deviation of the Gram matrix from the identity. The first degree takes two products, the second three, the fourth four,
the sixth five.

The steps for a guess of ``low`` come from a table on a fixed grid. The NumPy path and the compiled path take the same
steps and the same decisions, because both call the functions of numbers in this module.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

HALLEY, QUINTIC = 0, 1

#: The largest distance of a result's singular values from 1; and of a vertex's, if a post-step makes it orthogonal.
TOLERANCE, VERTEX_TOLERANCE = 1e-15, 1e-12

# The cost of steps in matrix products: a compromise between NumPy, where an inverse is expensive, and compiled code.
_HALLEY_COST, _QUINTIC_COST, _LINEAR_COST = 6.2, 3.2, 2.2

#: Guesses of the smallest singular value for which steps are planned: eight to an octave, from 2^-34.
GRID = 34 * 8
LOWEST = 2.0**-34

#: Below the guess RIDGED the point to stay close to is added to a matrix, with the weight RIDGE times its norm.
RIDGED, RIDGE = 2.0**-13, 1e-9

#: How many times the exact path is taken for nearly singular matrices before the product path is tried.
PATIENT = 100

#: Room for the steps of a plan.
MOST_STEPS = 6


class PolarSteps(NamedTuple):
    """The steps that bring singular values in [low, 1] close enough to 1 for root steps."""

    kinds: tuple[int, ...]
    coefficients: tuple[tuple[float, float, float], ...]
    error: float
    """The largest distance from 1 after the steps."""


@cache
def halley(low: float) -> tuple[tuple[float, float, float], float]:
    """Return the optimal Halley coefficients (a, b, c) on [low, 1], and the smallest value after the step.

    >>> halley(1.0)
    ((3.0, 1.0, 3.0), 1.0)
    """
    square = low * low
    d = (4.0 * (1.0 - square) / (square * square)) ** (1.0 / 3.0)
    root = (1.0 + d) ** 0.5
    a = root + 0.5 * (8.0 - 4.0 * d + 8.0 * (2.0 - square) / (square * root)) ** 0.5
    b = (a - 1.0) ** 2 / 4.0
    c = a + b - 1.0
    return (a, b, c), min(low * (a + b * square) / (1.0 + c * square), 1.0)


@cache
def quintic(low: float) -> tuple[tuple[float, float, float], float]:
    """Return the odd quintic closest to 1 on [low, 1], scaled to a largest value of 1, and its smallest value.

    Remez' exchange with four points: both ends and the two extremes between them.

    >>> coefficients, reached = quintic(0.1)
    >>> round(1 / reached, 3)
    2.659
    """
    if low > 0.999:  # double precision is too coarse for the exchange; the expansion at 1 is as good
        return (1.875, -1.25, 0.375), 1.0 - 2.5 * (1.0 - low) ** 3
    inner, outer = (3.0 * low + 1.0) / 4.0, (low + 3.0) / 4.0
    a = b = c = error = 0.0
    for _ in range(12):
        points = np.array([low, inner, outer, 1.0])
        system = np.stack([points, points**3, points**5, [1.0, -1.0, 1.0, -1.0]], axis=1)
        a, b, c, error = (float(v) for v in np.linalg.solve(system, np.ones(4)))
        spread = (9.0 * b * b - 20.0 * a * c) ** 0.5
        inner, outer = ((-3.0 * b - spread) / (10.0 * c)) ** 0.5, ((-3.0 * b + spread) / (10.0 * c)) ** 0.5
    top = 1.0 + abs(error)
    return (a / top, b / top, c / top), (1.0 - abs(error)) / top


#: The choices of last steps to the polar factor: one root step of the second, fourth or sixth degree; one of the second
#: and one of the first; or one of the second and then another choice.
SECOND, FOURTH, SIXTH, SECOND_THEN_FIRST, SECOND_THEN_LOOK = 0, 1, 2, 3, 4


def last_steps(radius: float, tolerance: float) -> int:
    """Return the cheapest last steps for a Gram matrix that deviates from the identity by at most ``radius``."""
    error = quadratic_root(radius)[1]
    if error <= tolerance:
        return SECOND
    if quartic_root(radius)[1] <= tolerance:
        return FOURTH
    if linear_root(2.1 * error)[1] <= tolerance:
        return SECOND_THEN_FIRST
    return SIXTH if sextic_root(radius)[1] <= tolerance else SECOND_THEN_LOOK


def next_guess(low: float, radius: float, error: float, bound: float) -> float:
    """Return the guess for the next call: a little higher, or lower if this one was wrong.

    If the guess is right, all eigenvalues of the deviation are at most twice the plan's error. The measured bound of
    them, ``radius``, may be twice as large again. ``bound`` is a proven lower bound of the smallest singular value.
    """
    guess = 0.7 * low if radius > 4.2 * error + 1e-9 else 1.03 * low
    return min(max(guess, 0.98 * bound), 0.999)


def guess_to_carry(low: float, guess: float) -> float:
    """Return a guess, or 0 if it falls below what the product path without a ridge can compute accurately."""
    return 0.0 if low >= RIDGED > guess else max(guess, LOWEST)


def proven_low(trace: float, c: float) -> float:
    """Return a lower bound of the smallest singular value of X, given the trace of (1 + c X'X)^-1.

    >>> proven_low(1.0 / (1.0 + 25.0 * 0.04), 25.0)
    0.2
    """
    return math.sqrt(max(1.0 / trace - 1.0, 0.0) / c)


def linear_root(radius: float) -> tuple[tuple[float, float], float]:
    """Return (c0, c1) with c0 + c1 e close to (1 + e)^(-1/2) on |e| <= radius, and the relative error.

    The square term of the series, 3/8 e^2, is replaced by its mean value on the interval.
    """
    square = radius * radius
    return (1.0 + 0.1875 * square, -0.5), 0.1875 * square * (1.0 + 2.0 * radius)


def quadratic_root(radius: float) -> tuple[tuple[float, float, float], float]:
    """Return (c0, c1, c2) with c0 + c1 e + c2 e^2 close to (1 + e)^(-1/2) on |e| <= radius, and the relative error.

    The terms -5/16 e^3 and 35/128 e^4 of the series are replaced by their best approximations of lower degree.

    >>> (c0, c1, c2), error = quadratic_root(0.1)
    >>> worst = max(abs((c0 + c1 * e + c2 * e * e) * (1 + e) ** 0.5 - 1) for e in (-0.1, -0.05, 0.05, 0.1))
    >>> 0.7 * error < worst < error
    True
    """
    square = radius * radius
    coefficients = (
        1.0 - 35.0 / 1024.0 * square * square,
        -0.5 - 15.0 / 64.0 * square,
        0.375 + 35.0 / 128.0 * square,
    )
    return coefficients, 5.0 / 64.0 * square * radius * (1.0 + 2.0 * radius)


def quartic_root(radius: float) -> tuple[tuple[float, float, float, float, float], float]:
    """Return (c0, ..., c4) with their polynomial close to (1 + e)^(-1/2) on |e| <= radius, and the relative error.

    >>> coefficients, error = quartic_root(0.1)
    >>> worst = max(abs(sum(c * e**k for k, c in enumerate(coefficients)) * (1 + e) ** 0.5 - 1) for e in (-0.1, 0.1))
    >>> 0.5 * error < worst < error
    True
    """
    r2 = radius * radius
    r4 = r2 * r2
    c5, c6 = -63.0 / 256.0, 231.0 / 1024.0
    coefficients = (
        1.0 + c6 * r2 * r4 / 32.0,
        -0.5 - c5 * 0.3125 * r4,
        0.375 - c6 * 0.5625 * r4,
        -0.3125 + c5 * 1.25 * r2,
        35.0 / 128.0 + c6 * 1.5 * r2,
    )
    return coefficients, r4 * radius * (-c5 / 16.0 * (1.0 + 2.0 * radius) + 0.22 * r2)


def sextic_root(radius: float) -> tuple[tuple[float, float, float, float, float, float, float], float]:
    """Return (c0, ..., c6) with their polynomial close to (1 + e)^(-1/2) on |e| <= radius, and the relative error.

    >>> coefficients, error = sextic_root(0.1)
    >>> worst = max(abs(sum(c * e**k for k, c in enumerate(coefficients)) * (1 + e) ** 0.5 - 1) for e in (-0.1, 0.1))
    >>> 0.5 * error < worst < error
    True
    """
    r2 = radius * radius
    r4, r6 = r2 * r2, r2 * r2 * r2
    c7, c8 = -429.0 / 2048.0, 6435.0 / 32768.0
    coefficients = (
        1.0 - c8 * r4 * r4 / 128.0,
        -0.5 + c7 * 7.0 / 64.0 * r6,
        0.375 + c8 * 0.25 * r6,
        -0.3125 - c7 * 0.875 * r4,
        35.0 / 128.0 - c8 * 1.25 * r4,
        -63.0 / 256.0 + c7 * 1.75 * r2,
        231.0 / 1024.0 + c8 * 2.0 * r2,
    )
    return coefficients, r6 * radius * (-c7 / 64.0 * (1.0 + 2.0 * radius) + 0.25 * r2)


#: The largest radius for which root steps are taken.
LARGEST_RADIUS = 0.35


@cache
def steps_at(index: int) -> PolarSteps:
    """Return the cheapest steps, root steps included, for one guess of the grid."""
    low = 2.0 ** ((index - GRID) / 8.0)
    best, least = None, math.inf
    orders = sorted((h * _HALLEY_COST + q * _QUINTIC_COST, h, q) for h, q in product(range(5), range(5)))
    for cost, halleys, quintics in orders:
        if cost + _QUINTIC_COST >= least:
            break
        steps = _planned(low, halleys, quintics)
        total = cost + _root_cost(4.0 * steps.error)
        if total < least:
            best, least = steps, total
    if best is None:
        raise ArithmeticError(f"no steps found for a spectrum in [{low}, 1]")
    return best


def _planned(low: float, halleys: int, quintics: int) -> PolarSteps:
    kinds = (HALLEY,) * halleys + (QUINTIC,) * quintics
    if not kinds:
        return PolarSteps((), (), 1.0 - low)
    reached, taken = low, []
    for kind in kinds:
        coefficients, reached = halley(reached) if kind == HALLEY else quintic(reached)
        taken.append(coefficients)
    # The last step is scaled so that the singular values lie around 1 instead of below it.
    centre = 0.5 * (1.0 + reached)
    a, b, c = taken[-1]
    taken[-1] = (a / centre, b / centre, c if kinds[-1] == HALLEY else c / centre)
    return PolarSteps(kinds, tuple(taken), (1.0 - reached) / (1.0 + reached))


def _root_cost(radius: float) -> float:
    """Return the cost of the root steps from a radius to the tolerance."""
    if radius > LARGEST_RADIUS:
        return math.inf
    last = last_steps(radius, TOLERANCE)
    if last == SECOND_THEN_LOOK:
        return _QUINTIC_COST + _root_cost(2.1 * quadratic_root(radius)[1])
    return _QUINTIC_COST + (0.0, 1.0, _LINEAR_COST, _LINEAR_COST)[last]


def grid_index(low: float) -> int:
    """Return the grid index of the largest guess that is at most ``low``."""
    return min(max(GRID + math.floor(8.0 * math.log2(low)), 0), GRID - 1)
