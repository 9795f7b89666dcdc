"""The product path and the whole step of Algorithm 2, compiled by Numba.

The same steps with the same coefficients as in `products`: the results differ by rounding alone. Everything here is
optional; importing this module raises ImportError where Numba is absent.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from orthostream.optimize.polar_decomposition import coefficients
from orthostream.optimize.polar_decomposition.coefficients import (
    HALLEY,
    LARGEST_RADIUS,
    LOWEST,
    LOWS,
    MOST_STEPS,
    plans,
    quartic_root,
    sextic_root,
)

_GRID = len(LOWS)
_COUNTS = np.array([len(plan.kinds) for plan in plans()])
_ERRORS = np.array([plan.error for plan in plans()])
_KINDS = np.array([plan.kinds + (0,) * (MOST_STEPS - len(plan.kinds)) for plan in plans()])
_STEPS = np.array([plan.coefficients + ((0.0,) * 3,) * (MOST_STEPS - len(plan.kinds)) for plan in plans()])


def jit_depending_on(*files: str) -> Callable[[Any], Any]:
    """Return a decorator that compiles a function, cached under a name that changes with the contents of some files.

    Numba takes a cached function for stale when its own file has changed, and knows nothing of the files whose
    constants and functions are compiled into it.
    """
    digest = zlib.crc32(b"".join(Path(file).read_bytes() for file in files))

    def compiled(function: Any) -> Any:
        function.__qualname__ = f"{function.__qualname__}_{digest:08x}"
        return numba.njit(cache=True, error_model="numpy", fastmath={"contract"})(function)

    return compiled


_jit = jit_depending_on(coefficients.__file__)


@_jit
def _small_root(a: Any) -> Any:
    """Return the inverse of the Cholesky factor of a small matrix, of which the upper triangle is read and lost."""
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


@_jit
def _root(a: Any) -> Any:
    """Return the inverse w of the Cholesky factor of a positive definite matrix, by halves: w'w is its inverse.

    Unlike an inverse by halves, which loses as many digits as the matrix is ill-conditioned, w loses half of them.
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


@_jit
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


_sextic_root: Any = numba.njit(error_model="numpy")(sextic_root)


_quartic_root: Any = numba.njit(error_model="numpy")(quartic_root)


@_jit
def _quartic(e: Any, s: Any, c: Any, factor: float) -> Any:
    """Do what `products._quartic` does, times a factor; e is overwritten."""
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


@_jit
def _sextic(e: Any, s: Any, c: Any, factor: float) -> Any:
    """Do what `products._sextic` does, times a factor; e and s are overwritten."""
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


@_jit
def _rooted(x: Any, y: Any, e: Any, s: Any, radius: float, tolerance: float, sign: float, scale: float) -> Any:
    """Do what `products._rooted` does, given the square s of e; x and y are room to work in, and one is returned."""
    while True:
        square = radius * radius
        c0 = 1.0 - 35.0 / 1024.0 * square * square
        c1 = -0.5 - 15.0 / 64.0 * square
        c2 = 0.375 + 35.0 / 128.0 * square
        error = 5.0 / 64.0 * square * radius * (1.0 + 2.0 * radius)
        last = error <= tolerance
        rest = 2.1 * error
        then_linear = 0.1875 * rest * rest * (1.0 + 2.0 * rest) <= tolerance
        if not last:
            quartic, quartic_error = _quartic_root(radius)
            if quartic_error <= tolerance:
                np.dot(x, _quartic(e, s, quartic, sign * scale), y)
                return y
            sextic, sextic_error = _sextic_root(radius)
            if sextic_error <= tolerance and not then_linear:
                np.dot(x, _sextic(e, s, sextic, sign * scale), y)
                return y
        f = sign * scale if last else scale
        a, b = e.reshape(-1), s.reshape(-1)
        for i in range(a.size):
            b[i] = f * (c1 * a[i] + c2 * b[i])
        _shift(s, f * c0)
        np.dot(x, s, y)
        if last:
            return y
        x, y = y, x
        np.dot(x.T, x, e)
        _shift(e, -1.0)
        if then_linear:
            _affine(e, -0.5 * sign, (1.0 + 0.1875 * rest * rest) * sign)
            np.dot(x, e, y)
            return y
        radius = rest
        scale = 1.0
        np.dot(e, e, s)


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
                _invert(gram)
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
            guess = 0.7 * low if radius > 4.2 * error + 1e-9 else min(1.03 * low, 0.999)
            return _rooted(x, y, gram, s, radius, tolerance, sign, 1.0), guess, True
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
    return _rooted(x, np.empty_like(x), e, np.dot(e, e), 1.0 / centre - 1.0, tolerance, 1.0, centre**-0.5)


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
    most = 10.0 ** (370.0 / p)  # see `fused.largest_square`
    if low < LOWEST or known < LOWEST or not 1.0 / most < _square_norm(batch) < most:
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
