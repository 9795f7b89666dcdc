"""Polar factors by matrix products, for stacks of square or tall matrices."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import blas

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition.algebra import Algebra, algebra_for, diagonal
from orthostream.optimize.polar_decomposition.coefficients import (
    FOURTH,
    HALLEY,
    LARGEST_RADIUS,
    SECOND,
    SECOND_THEN_FIRST,
    SIXTH,
    TOLERANCE,
    PolarSteps,
    grid_index,
    last_steps,
    linear_root,
    next_guess,
    proven_low,
    quadratic_root,
    quartic_root,
    sextic_root,
    steps_at,
)


def product_polar(
    a: FloatArray, low: float, sign: float = 1.0, tolerance: float = TOLERANCE
) -> tuple[FloatArray, float] | None:
    """Return ``sign`` times the polar factor of a stack and the next guess of ``low``; None without a certificate.

    ``low`` is a guess of the smallest ratio, over the stack, of a matrix' extreme singular values. A wrong guess
    costs time, but not accuracy, because the last steps are chosen by a measured deviation.
    """
    algebra = algebra_for(a)
    x, gram = _normalised(a, algebra)
    if gram is None:
        return None
    steps = steps_at(grid_index(low))
    bound = 0.0
    for again in range(4):
        x, trace = _take(steps, x, gram, algebra)
        if not again and trace:
            bound = proven_low(trace, steps.coefficients[0][2])
        gram = None
        e = algebra.gram(x, 1.0, -1.0)
        square = algebra.times(e, e, 1.0)
        radius = _largest(e, square)
        if radius <= LARGEST_RADIUS:
            guess = next_guess(low, radius, steps.error, bound)
            return _rooted(x, e, square, radius, tolerance, sign, algebra), guess
        # Some singular value was below the guess: take more steps, and lower the guess.
        low *= 0.7
        x = x * (1.0 + steps.error) ** -1.0
        steps = steps_at(grid_index(0.3 * (1.0 - steps.error)))
    return None


def near_polar(x: FloatArray, low: float, tolerance: float = TOLERANCE) -> FloatArray:
    """Return the polar factor of a stack whose singular values are known to lie in [low, 1], low near 1."""
    algebra = algebra_for(x)
    centre = 0.5 * (1.0 + low * low)
    e = algebra.gram(x, 1.0 / centre, -1.0)
    square = algebra.times(e, e, 1.0)
    return _rooted(x, e, square, 1.0 / centre - 1.0, tolerance, 1.0, algebra, centre**-0.5)


def _normalised(a: FloatArray, algebra: Algebra) -> tuple[FloatArray, FloatArray | None]:
    """Scale each matrix to a largest singular value just under 1; return its Gram matrix too, if all are finite."""
    gram = algebra.gram(a, 1.0, 0.0)
    squares = _dot(gram)
    if isinstance(squares, float):
        if not 0.0 < squares < math.inf:
            return a, None
        scale = squares**-0.25
        gram *= scale * scale
        return a * scale, gram
    if not ((squares > 0.0) & (squares < np.inf)).all():
        return a, None
    scales = (squares**-0.25)[..., None, None]
    gram *= scales * scales
    return a * scales, gram


def _take(
    steps: PolarSteps, x: FloatArray, gram: FloatArray | None, algebra: Algebra
) -> tuple[FloatArray, float | None]:
    """Return x after some steps, and the largest trace of the inverses in the first Halley step, if there is one."""
    first = None
    for kind, (a, b, c) in zip(steps.kinds, steps.coefficients, strict=True):
        if kind == HALLEY:
            x, trace = algebra.times_inverse(x, _shifted(x, gram, c, 1.0, algebra), a - b / c, b / c)
            first = trace if first is None else first
        else:  # a + b g + c g^2 = c (g + h)^2 + (a - c h^2) with h = b / 2c needs no sum of matrices
            h = b / (2.0 * c)
            x = algebra.times(x, algebra.square(_shifted(x, gram, 1.0, h, algebra), c, a - c * h * h), 1.0)
        gram = None
    return x, first


def _shifted(x: FloatArray, gram: FloatArray | None, alpha: float, beta: float, algebra: Algebra) -> FloatArray:
    if gram is None:
        return algebra.gram(x, alpha, beta)
    gram *= alpha
    diagonal(gram)[...] += beta
    return gram


def _largest(e: FloatArray, square: FloatArray) -> float:
    """Return a bound of the largest absolute eigenvalue over a stack of symmetric matrices, given their squares.

    By Samuelson's inequality no squared eigenvalue exceeds their mean by more than (n - 1)^(1/2) standard deviations.
    Mean and standard deviation follow from Frobenius norms.
    """
    n = e.shape[-1]
    mean = _dot(e) / n
    spread = _dot(square) / n - mean * mean
    if isinstance(spread, float):
        return math.sqrt(mean + math.sqrt(max(spread, 0.0) * (n - 1)))
    return float(np.sqrt(mean + np.sqrt(np.maximum(spread, 0.0) * (n - 1))).max())


def _rooted(
    x: FloatArray,
    e: FloatArray,
    square: FloatArray,
    radius: float,
    tolerance: float,
    sign: float,
    algebra: Algebra,
    scale: float = 1.0,
) -> FloatArray:
    """Return sign x (x'x)^(-1/2), given scale^2 x'x = 1 + e, e^2 and a bound of e; e and e^2 are overwritten."""
    while True:
        last = last_steps(radius, tolerance)
        if last == FOURTH:
            return algebra.times(x, _quartic(e, square, quartic_root(radius)[0], algebra), sign * scale)
        if last == SIXTH:
            return algebra.times(x, _sextic(e, square, sextic_root(radius)[0], algebra), sign * scale)
        (c0, c1, c2), error = quadratic_root(radius)
        e *= c1
        square *= c2
        square += e
        diagonal(square)[...] += c0
        if last == SECOND:
            return algebra.times(x, square, sign * scale)
        x = algebra.times(x, square, scale)
        e = algebra.gram(x, 1.0, -1.0)
        radius, scale = 2.1 * error, 1.0
        if last == SECOND_THEN_FIRST:
            c0, c1 = linear_root(radius)[0]
            e *= sign * c1
            diagonal(e)[...] += sign * c0
            return algebra.times(x, e, 1.0)
        square = algebra.times(e, e, 1.0)


def _quartic(e: FloatArray, square: FloatArray, c: tuple[float, ...], algebra: Algebra) -> FloatArray:
    """Return the sum of c_k e^k with one more product: (c3 e + c4 e^2) e^2 + (c0 + c1 e + c2 e^2)."""
    high, low = c[4] * square, c[2] * square
    low += c[1] * e
    e *= c[3]
    high += e
    diagonal(low)[...] += c[0]
    return algebra.times_plus(high, square, low)


def _sextic(e: FloatArray, square: FloatArray, c: tuple[float, ...], algebra: Algebra) -> FloatArray:
    """Return the sum of c_k e^k with two more products: (c3 + c4 e + c5 e^2 + c6 e^3) e^3 + (c0 + c1 e + c2 e^2)."""
    cube = algebra.times(square, e, 1.0)
    high, low = c[6] * cube, c[2] * square
    square *= c[5]
    high += square
    low += c[1] * e
    e *= c[4]
    high += e
    diagonal(high)[...] += c[3]
    diagonal(low)[...] += c[0]
    return algebra.times_plus(high, cube, low)


def _dot(a: FloatArray) -> float | FloatArray:
    """Return the squared Frobenius norm of each matrix; infinity without a warning if it overflows."""
    if a.ndim == 2:
        flat = a.reshape(-1)
        return float(blas.ddot(flat, flat))
    flat = a.reshape(*a.shape[:-2], -1)
    with np.errstate(over="ignore", invalid="ignore"):
        dots: FloatArray = np.vecdot(flat, flat)
    return dots
