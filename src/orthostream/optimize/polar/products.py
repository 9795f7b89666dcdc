"""Polar factors by matrix products, for stacks of square or tall matrices."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.polar.algebra import Algebra, algebra_for, diagonal
from orthostream.optimize.polar.coefficients import (
    HALLEY,
    LARGEST_RADIUS,
    Plan,
    linear_root,
    plan,
    quadratic_root,
)


def product_polar(a: FloatArray, low: float, tolerance: float, sign: float = 1.0) -> tuple[FloatArray, float] | None:
    """Return ``sign`` times the polar factor of a stack and the next guess of ``low``; None without a certificate.

    ``low`` is a guess of the smallest ratio, over the stack, of a matrix' extreme singular values. A wrong guess
    costs time, never accuracy: the last steps are chosen by a deviation that was measured.
    """
    algebra = algebra_for(a)
    x, gram = _normalised(a, algebra)
    if gram is None:
        return None
    steps = plan(low)
    for _ in range(4):
        x = _take(steps, x, gram, algebra)
        gram = None
        e = algebra.gram(x, 1.0, -1.0)
        deviation = math.sqrt(np.max(_dot(e)))
        if deviation <= LARGEST_RADIUS:
            guess = next_guess(low, deviation, steps.error, a.shape[-1])
            return _rooted(x, e, deviation, tolerance, sign, algebra), guess
        # Some singular value lay below the guess: go on from there, with a lower one.
        low *= 0.7
        x = x * (1.0 + steps.error) ** -1.0
        steps = plan(0.3 * (1.0 - steps.error))
    return None


def near_polar(x: FloatArray, low: float, tolerance: float) -> FloatArray:
    """Return the polar factor of a stack whose singular values are known to lie in [low, 1], low near 1."""
    algebra = algebra_for(x)
    centre = 0.5 * (1.0 + low * low)
    e = algebra.gram(x, 1.0 / centre, -1.0)
    return _rooted(x, e, 1.0 / centre - 1.0, tolerance, 1.0, algebra, centre**-0.5)


def next_guess(low: float, deviation: float, error: float, size: int) -> float:
    """Return the guess to carry to the next call: a little up, or down where it was seen to be wrong.

    Were the guess right, no singular value would be further than ``error`` from 1 and the Frobenius norm of the
    deviation at most ``2 error size^(1/2)``.
    """
    return 0.7 * low if deviation > 2.1 * error * size**0.5 + 1e-12 else min(1.03 * low, 0.999)


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


def _take(steps: Plan, x: FloatArray, gram: FloatArray | None, algebra: Algebra) -> FloatArray:
    for kind, (a, b, c) in zip(steps.kinds, steps.coefficients, strict=True):
        if kind == HALLEY:
            x = algebra.times_inverse(x, _shifted(x, gram, c, 1.0, algebra), a - b / c, b / c)
        else:  # a + b g + c g^2 = c (g + h)^2 + (a - c h^2) with h = b / 2c: no sum of matrices is left
            h = b / (2.0 * c)
            x = algebra.times(x, algebra.square(_shifted(x, gram, 1.0, h, algebra), c, a - c * h * h), 1.0)
        gram = None
    return x


def _shifted(x: FloatArray, gram: FloatArray | None, alpha: float, beta: float, algebra: Algebra) -> FloatArray:
    if gram is None:
        return algebra.gram(x, alpha, beta)
    gram *= alpha
    diagonal(gram)[...] += beta
    return gram


def _rooted(
    x: FloatArray, e: FloatArray, radius: float, tolerance: float, sign: float, algebra: Algebra, scale: float = 1.0
) -> FloatArray:
    """Return sign x (x'x)^(-1/2), given scale^2 x'x = 1 + e and a bound of e, which is overwritten."""
    while True:
        (c0, c1), error = linear_root(radius)
        if error <= tolerance:
            e *= sign * scale * c1
            diagonal(e)[...] += sign * scale * c0
            return algebra.times(x, e, 1.0)
        (c0, c1, c2), error = quadratic_root(radius)
        h = c1 / (2.0 * c2)
        diagonal(e)[...] += h
        root = algebra.square(e, c2, c0 - c2 * h * h)
        if error <= tolerance:
            return algebra.times(x, root, sign * scale)
        x = algebra.times(x, root, scale)
        e = algebra.gram(x, 1.0, -1.0)
        radius, scale = 2.1 * error, 1.0


def _dot(a: FloatArray) -> float | FloatArray:
    if a.ndim == 2:
        flat = a.reshape(-1)
        return float(flat.dot(flat))
    flat = a.reshape(*a.shape[:-2], -1)
    dots: FloatArray = np.vecdot(flat, flat)
    return dots
