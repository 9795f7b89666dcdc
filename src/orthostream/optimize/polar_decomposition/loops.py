"""The product path for one matrix, as loops for a compiler, and the two kernels of Algorithm 2 made of it.

Steps and coefficients are those of `products`: the results differ only by rounding.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.polar_decomposition.coefficients import (
    FOURTH,
    GRID,
    HALLEY,
    LARGEST_RADIUS,
    LOWEST,
    MOST_STEPS,
    RIDGE,
    RIDGED,
    SECOND,
    SECOND_THEN_FIRST,
    SIXTH,
    TOLERANCE,
    VERTEX_TOLERANCE,
    grid_index,
    guess_to_carry,
    last_steps,
    linear_root,
    next_guess,
    proven_low,
    quadratic_root,
    quartic_root,
    sextic_root,
    steps_at,
)

_TABLE = [steps_at(index) for index in range(GRID)]
_COUNTS = np.array([len(steps.kinds) for steps in _TABLE])
_ERRORS = np.array([steps.error for steps in _TABLE])
_KINDS = np.array([steps.kinds + (0,) * (MOST_STEPS - len(steps.kinds)) for steps in _TABLE])
_STEPS = np.array([steps.coefficients + ((0.0,) * 3,) * (MOST_STEPS - len(steps.kinds)) for steps in _TABLE])


def _small_root(a: Any) -> Any:
    """Return the inverse of the Cholesky factor of a small matrix; its upper triangle is read and overwritten."""
    n = a.shape[0]
    w = np.zeros_like(a)
    for k in range(n):
        w[k, k] = 1.0
        row, done = a[k], w[k]
        scale = 1.0 / row[k]
        for i in range(k + 1, n):
            f = row[i] * scale
            below, mine = a[i], w[i]
            for j in range(i, n):
                below[j] -= f * row[j]
            for j in range(k + 1):
                mine[j] -= f * done[j]
    for i in range(n):
        scale = 1.0 / math.sqrt(a[i, i])
        mine = w[i]
        for j in range(i + 1):
            mine[j] *= scale
    return w


def _root(a: Any) -> Any:
    """Return the inverse w of the Cholesky factor of a positive definite matrix, by recursion on halves.

    The inverse of the matrix is w'w. Computed directly, by the same recursion, it would lose twice as many digits to
    ill-conditioning.
    """
    n = a.shape[0]
    if n <= 28:
        return _small_root(a)
    h = n // 2
    first = _root(a[:h, :h].copy())
    t = np.dot(first, a[:h, h:].copy())
    second = _root(a[h:, h:] - np.dot(t.T, t))
    w = np.zeros_like(a)
    w[:h, :h] = first
    w[h:, h:] = second
    w[h:, :h] = np.dot(np.dot(second, t.T), first)
    for i in range(h, n):
        for j in range(h):
            w[i, j] = -w[i, j]
    return w


def _invert(a: Any) -> None:
    """Invert a positive definite matrix in place."""
    n = a.shape[0]
    if n <= 28:
        w = _small_root(a)
        np.dot(w.T, w, a)
        return
    h = n // 2
    first = _root(a[:h, :h].copy())
    t = np.dot(first, a[:h, h:].copy())
    second = _root(a[h:, h:] - np.dot(t.T, t))
    corner = np.dot(np.dot(second, t.T), first)
    a[:h, :h] = np.dot(first.T, first) + np.dot(corner.T, corner)
    a[h:, h:] = np.dot(second.T, second)
    below = np.dot(second.T, corner)
    for i in range(n - h):
        for j in range(h):
            a[h + i, j] = -below[i, j]
            a[j, h + i] = -below[i, j]


def _affine(a: Any, alpha: float, beta: float) -> None:
    """Replace a by alpha a + beta 1."""
    flat = a.reshape(-1)
    for i in range(flat.size):
        flat[i] *= alpha
    for i in range(a.shape[0]):
        a[i, i] += beta


def _shift(a: Any, beta: float) -> None:
    """Add beta 1 to a."""
    for i in range(a.shape[0]):
        a[i, i] += beta


def _trace(a: Any) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i, i]
    return total


def _square_norm(a: Any) -> Any:
    flat = a.reshape(-1)
    return np.dot(flat, flat)


def _quartic(e: Any, s: Any, c: Any, factor: float) -> Any:
    """Return what `products._quartic` returns, times a factor; e is overwritten."""
    high, low = np.empty_like(e), np.empty_like(e)
    a, b, h, rest = e.reshape(-1), s.reshape(-1), high.reshape(-1), low.reshape(-1)
    for i in range(a.size):
        h[i] = factor * (c[3] * a[i] + c[4] * b[i])
        rest[i] = factor * (c[1] * a[i] + c[2] * b[i])
    _shift(low, factor * c[0])
    np.dot(high, s, e)
    for i in range(a.size):
        a[i] += rest[i]
    return e


def _sextic(e: Any, s: Any, c: Any, factor: float) -> Any:
    """Return what `products._sextic` returns, times a factor; e and s are overwritten."""
    cube = np.dot(s, e)
    high = np.empty_like(e)
    a, b, d, h = e.reshape(-1), s.reshape(-1), cube.reshape(-1), high.reshape(-1)
    for i in range(a.size):
        h[i] = factor * (c[4] * a[i] + c[5] * b[i] + c[6] * d[i])
        b[i] = factor * (c[1] * a[i] + c[2] * b[i])
    _shift(high, factor * c[3])
    _shift(s, factor * c[0])
    np.dot(high, cube, e)
    for i in range(a.size):
        a[i] += b[i]
    return e


def _rooted(x: Any, y: Any, e: Any, s: Any, radius: float, tolerance: float, sign: float, scale: float) -> Any:
    """Return what `products._rooted` returns, given the square s of e; all arrays are overwritten."""
    while True:
        last = last_steps(radius, tolerance)
        if last == FOURTH:
            np.dot(x, _quartic(e, s, quartic_root(radius)[0], sign * scale), y)
            return y
        if last == SIXTH:
            np.dot(x, _sextic(e, s, sextic_root(radius)[0], sign * scale), y)
            return y
        (c0, c1, c2), error = quadratic_root(radius)
        f = sign * scale if last == SECOND else scale
        a, b = e.reshape(-1), s.reshape(-1)
        for i in range(a.size):
            b[i] = f * (c1 * a[i] + c2 * b[i])
        _shift(s, f * c0)
        np.dot(x, s, y)
        if last == SECOND:
            return y
        x, y = y, x
        np.dot(x.T, x, e)
        _shift(e, -1.0)
        radius = 2.1 * error
        scale = 1.0
        if last == SECOND_THEN_FIRST:
            (c0, c1), _ = linear_root(radius)
            _affine(e, sign * c1, sign * c0)
            np.dot(x, e, y)
            return y
        np.dot(e, e, s)


def polar_loop(a: Any, low: float, sign: float, tolerance: float) -> Any:
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
    bound = 0.0
    i = grid_index(low)
    for again in range(4):
        for step in range(_COUNTS[i]):
            ca, cb, cc = _STEPS[i, step, 0], _STEPS[i, step, 1], _STEPS[i, step, 2]
            if not known:
                np.dot(x.T, x, gram)
            known = False
            if _KINDS[i, step] == HALLEY:
                _affine(gram, cc, 1.0)
                _invert(gram)
                if again == 0 and step == 0:
                    bound = proven_low(_trace(gram), cc)
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
        np.dot(gram, gram, s)
        mean = _square_norm(gram) / k
        radius = math.sqrt(mean + math.sqrt(max(_square_norm(s) / k - mean * mean, 0.0) * (k - 1)))
        error = _ERRORS[i]
        if radius <= LARGEST_RADIUS:
            guess = next_guess(low, radius, error, bound)
            return _rooted(x, y, gram, s, radius, tolerance, sign, 1.0), guess, True
        low *= 0.7
        x *= 1.0 / (1.0 + error)
        i = grid_index(0.3 * (1.0 - error))
    return a, low, False


def near_polar_loop(x: Any, low: float, tolerance: float) -> Any:
    """Return the polar factor of one matrix with singular values in [low, 1], low near 1; x is overwritten."""
    centre = 0.5 * (1.0 + low * low)
    e = np.dot(x.T, x)
    _affine(e, 1.0 / centre, -1.0)
    return _rooted(x, np.empty_like(x), e, np.dot(e, e), 1.0 / centre - 1.0, tolerance, 1.0, centre**-0.5)


def spectral_oracle(gradient: Any, x: Any, low: float, gamma: float) -> Any:
    """Return the vertex of the spectral ball, the next guess, and whether the vertex is certified.

    If the gradient is nearly rank-deficient, the vertex stays close to x: see `polar`. The vertex needs full precision
    only for gamma = 1, where it is the next point.
    """
    if low < LOWEST:
        return gradient, low, False
    tolerance = TOLERANCE if gamma == 1.0 else VERTEX_TOLERANCE
    a = gradient
    if low < RIDGED:
        a = gradient - (RIDGE * math.sqrt(_square_norm(gradient))) * x
    vertex, guess, good = polar_loop(a, low, -1.0, tolerance)
    return vertex, guess_to_carry(low, guess), good


def polar_step(x: Any, vertex: Any, gamma: float) -> Any:
    """Return the polar factor of (1 - gamma) x + gamma vertex, and whether it is certified; see `PolarStep`."""
    if gamma == 1.0:
        return vertex, True
    if gamma == 0.0:
        return x, True
    mixed = np.empty_like(x)
    a, b, c = x.reshape(-1), vertex.reshape(-1), mixed.reshape(-1)
    for i in range(c.size):
        c[i] = (1.0 - gamma) * a[i] + gamma * b[i]
    known = abs(1.0 - 2.0 * gamma)  # no singular value of the mixture is below this
    if 2.0 / (1.0 + known * known) - 1.0 <= LARGEST_RADIUS:
        return near_polar_loop(mixed, known, TOLERANCE), True
    if known < LOWEST:
        return x, False
    factor, _, good = polar_loop(mixed, 0.9 * known, 1.0, TOLERANCE)
    return factor, good
