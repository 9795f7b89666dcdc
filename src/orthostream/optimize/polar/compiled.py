"""The product path and the whole step of Algorithm 2, compiled by Numba.

The same steps with the same coefficients as in `products`: the results differ by rounding alone. Everything here is
optional; importing this module raises ImportError where Numba is absent.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from orthostream.optimize.polar.coefficients import HALLEY, LARGEST_RADIUS, LOWEST, LOWS, MOST_STEPS, plans

#: Sums of squares of a mini-batch between these bounds leave room for any power that a contrast takes.
LEAST, MOST = 1e-40, 1e40

_GRID = len(LOWS)
_COUNTS = np.array([len(plan.kinds) for plan in plans()])
_ERRORS = np.array([plan.error for plan in plans()])
_KINDS = np.array([plan.kinds + (0,) * (MOST_STEPS - len(plan.kinds)) for plan in plans()])
_STEPS = np.array([plan.coefficients + ((0.0,) * 3,) * (MOST_STEPS - len(plan.kinds)) for plan in plans()])

_jit: Any = numba.njit(cache=True, error_model="numpy")


@_jit
def _sweep(a: Any) -> None:
    """Invert a small positive definite matrix in place, by Gauss and Jordan."""
    n = a.shape[0]
    for k in range(n):
        pivot = 1.0 / a[k, k]
        a[k, k] = 1.0
        row = a[k]
        for j in range(n):
            row[j] *= pivot
        for i in range(n):
            if i != k:
                other = a[i]
                f = other[k]
                other[k] = 0.0
                for j in range(n):
                    other[j] -= f * row[j]


@_jit
def _inverse(a: Any) -> None:
    """Invert a positive definite matrix in place, by halves."""
    n = a.shape[0]
    if n <= 16:
        _sweep(a)
        return
    h = n // 2
    first = a[:h, :h].copy()
    below = a[h:, :h].copy()
    rest = a[h:, h:].copy()
    _inverse(first)
    t = np.dot(below, first)
    rest -= np.dot(t, below.T)
    _inverse(rest)
    u = np.dot(rest, t)
    first += np.dot(t.T, u)
    a[:h, :h] = first
    a[h:, h:] = rest
    for i in range(n - h):
        for j in range(h):
            a[h + i, j] = -u[i, j]
            a[j, h + i] = -u[i, j]


@_jit
def _affine(a: Any, alpha: float, beta: float) -> None:
    """Replace a by alpha a + beta 1."""
    flat = a.reshape(-1)
    for i in range(flat.size):
        flat[i] *= alpha
    for i in range(a.shape[0]):
        a[i, i] += beta


@_jit
def _shift(a: Any, beta: float) -> None:
    """Add beta 1 to a."""
    for i in range(a.shape[0]):
        a[i, i] += beta


@_jit
def _square_norm(a: Any) -> float:
    flat = a.reshape(-1)
    return np.dot(flat, flat)


@_jit
def _index(low: float) -> int:
    return min(max(_GRID + math.floor(8.0 * math.log2(low)), 0), _GRID - 1)


@_jit
def _rooted(x: Any, y: Any, e: Any, s: Any, radius: float, tolerance: float, factor: float, scale: float) -> Any:
    """Do what `products._rooted` does; x, y, e and s are room to work in, and x or y is returned."""
    while True:
        error = 0.1875 * radius * radius * (1.0 + 2.0 * radius)
        if error <= tolerance:
            _affine(e, -0.5 * factor * scale, (1.0 + 0.1875 * radius * radius) * factor * scale)
            np.dot(x, e, y)
            return y
        square = radius * radius
        c0 = 1.0 - 35.0 / 1024.0 * square * square
        c1 = -0.5 - 15.0 / 64.0 * square
        c2 = 0.375 + 35.0 / 128.0 * square
        error = 5.0 / 64.0 * square * radius * (1.0 + 2.0 * radius)
        h = c1 / (2.0 * c2)
        _shift(e, h)
        np.dot(e, e, s)
        last = error <= tolerance
        f = factor * scale if last else scale
        _affine(s, c2 * f, (c0 - c2 * h * h) * f)
        np.dot(x, s, y)
        if last:
            return y
        x, y = y, x
        np.dot(x.T, x, e)
        _shift(e, -1.0)
        radius = 2.1 * error
        scale = 1.0


@_jit
def _polar(a: Any, low: float, tolerance: float, sign: float) -> Any:
    """Return (factor, next guess, whether it is certified); see `products.product_polar`."""
    k = a.shape[1]
    gram = np.dot(a.T, a)
    squares = _square_norm(gram)
    if not 0.0 < squares < np.inf:
        return a, low, False
    scale = squares**-0.25
    _affine(gram, scale * scale, 0.0)
    x = a * scale
    y = np.empty_like(x)
    s = np.empty_like(gram)
    known = True
    i = _index(low)
    for _ in range(4):
        for step in range(_COUNTS[i]):
            ca, cb, cc = _STEPS[i, step, 0], _STEPS[i, step, 1], _STEPS[i, step, 2]
            if not known:
                np.dot(x.T, x, gram)
            known = False
            if _KINDS[i, step] == HALLEY:
                _affine(gram, cc, 1.0)
                _inverse(gram)
                _affine(gram, ca - cb / cc, cb / cc)
                np.dot(x, gram, y)
            else:
                h = cb / (2.0 * cc)
                _shift(gram, h)
                np.dot(gram, gram, s)
                _affine(s, cc, ca - cc * h * h)
                np.dot(x, s, y)
            x, y = y, x
        np.dot(x.T, x, gram)
        known = False
        _shift(gram, -1.0)
        deviation = math.sqrt(_square_norm(gram))
        error = _ERRORS[i]
        if deviation <= LARGEST_RADIUS:
            guess = 0.7 * low if deviation > 2.1 * error * k**0.5 + 1e-12 else min(1.03 * low, 0.999)
            return _rooted(x, y, gram, s, deviation, tolerance, sign, 1.0), guess, True
        low *= 0.7
        x *= 1.0 / (1.0 + error)
        i = _index(0.3 * (1.0 - error))
    return a, low, False


@_jit
def compiled_polar(a: Any, low: float, tolerance: float, sign: float) -> Any:
    """Return (factor, next guess, whether it is certified) for one matrix of double precision."""
    return _polar(a, low, tolerance, sign)


@_jit
def compiled_near_polar(x: Any, low: float, tolerance: float) -> Any:
    """Return the polar factor of one matrix with singular values in [low, 1], low near 1; x is overwritten."""
    centre = 0.5 * (1.0 + low * low)
    e = np.dot(x.T, x)
    _affine(e, 1.0 / centre, -1.0)
    return _rooted(x, np.empty_like(x), e, np.empty_like(e), 1.0 / centre - 1.0, tolerance, 1.0, centre**-0.5)


@_jit
def _score(z: Any, p: float, factor: float) -> None:
    """Replace z by factor |z|^(p-1) sign(z)."""
    flat = z.reshape(-1)
    if p == 3.0:
        for i in range(flat.size):
            flat[i] *= factor * abs(flat[i])
    elif p == 4.0:
        for i in range(flat.size):
            flat[i] *= factor * flat[i] * flat[i]
    else:
        for i in range(flat.size):
            flat[i] *= factor * abs(flat[i]) ** (p - 2.0)


@_jit
def compiled_step(
    x: Any,
    gradient: Any,
    batch: Any,
    rho: float,
    gamma: float,
    p: float,
    low: float,
    tolerance: float,
    near_tolerance: float,
) -> Any:
    """Take a step of Algorithm 2 for one problem; return (x, gradient, next guess, whether it was taken).

    It is not taken where certified products do not do, or where values are missing, infinite, all zero or extreme.
    """
    known = abs(1.0 - 2.0 * gamma)
    if low < LOWEST or known < LOWEST or not LEAST < _square_norm(batch) < MOST:
        return x, gradient, low, False
    z = np.dot(batch, x)
    _score(z, p, -p * rho / batch.shape[0])
    g = np.dot(batch.T, z)
    old, new = gradient.reshape(-1), g.reshape(-1)
    for i in range(new.size):
        new[i] += (1.0 - rho) * old[i]
    vertex, guess, good = _polar(g, low, tolerance, -1.0)
    if not good:
        return x, gradient, low, False
    a, b = x.reshape(-1), vertex.reshape(-1)
    for i in range(b.size):
        b[i] = (1.0 - gamma) * a[i] + gamma * b[i]
    if 2.0 / (1.0 + known * known) - 1.0 <= LARGEST_RADIUS:
        return compiled_near_polar(vertex, known, near_tolerance), g, guess, True
    moved, _, good = _polar(vertex, 0.9 * known, near_tolerance, 1.0)
    return moved, g, guess, good
