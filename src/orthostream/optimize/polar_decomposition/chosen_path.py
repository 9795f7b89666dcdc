"""The one place that decides how a polar factor is computed: by singular values, by products, or compiled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from orthostream._compile import can_compile, without_numba
from orthostream._typing import FloatArray
from orthostream.optimize.kernel import Kernel, compiled_kernel
from orthostream.optimize.polar_decomposition.coefficients import (
    LARGEST_RADIUS,
    LOWEST,
    PATIENT,
    RIDGE,
    RIDGED,
    TOLERANCE,
    guess_to_carry,
)
from orthostream.optimize.polar_decomposition.exact import eigen_polar, exact_polar
from orthostream.optimize.polar_decomposition.products import near_polar, product_polar

#: Up to this size a single matrix takes the exact path without Numba: an SVD costs less than the calls of NumPy.
SMALL = 20

_MODULES = ("orthostream.optimize.polar_decomposition.coefficients", "orthostream.optimize.polar_decomposition.loops")
ORACLE = Kernel("spectral_oracle", _MODULES)
POLAR_STEP = Kernel("polar_step", _MODULES)
_POLAR, _NEAR_POLAR = Kernel("polar_loop", _MODULES), Kernel("near_polar_loop", _MODULES)

_exact: ContextVar[bool] = ContextVar("exact", default=False)


@contextmanager
def by_singular_values() -> Iterator[None]:
    """Compute every polar factor by singular values within the block: slow, as a reference for the other paths."""
    token = _exact.set(True)
    try:
        with without_numba():
            yield
    finally:
        _exact.reset(token)


def polar(
    a: FloatArray,
    near: FloatArray | None = None,
    low: FloatArray | float = 0.0,
    sign: float = 1.0,
) -> tuple[FloatArray, FloatArray | float]:
    """Return ``sign`` times the polar factor of each matrix of a stack, and a guess to carry to the next call.

    Parameters
    ----------
    a : array of shape (..., N, K), N >= K
    near : array of the same shape, optional
        A rank-deficient matrix has many polar factors. The exact path returns the one nearest to this point (see
        `exact_polar`). If the guess is between 0 and 1e-4, ``near`` is added to the matrix, with a weight of 1e-9 of
        the matrix' norm; the result then maximises <a, x> to within 1e-7 of the norm of a.
    low : float or array of shape (...)
        A guess of the ratio of the extreme singular values of each matrix, as returned by the last call on a
        similar stack. 0 means that nothing is known, and takes the exact path. A negative guess counts how many times
        the exact path was taken for nearly singular matrices.
    sign : float

    Examples
    --------
    >>> import numpy as np
    >>> factor, low = polar(np.array([[3.0, 0.0], [0.0, -2.0]]))
    >>> factor
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    a = np.asarray(a, dtype=float)
    guess = low if isinstance(low, float) else float(np.min(low))
    if guess >= LOWEST:
        if near is not None and guess < RIDGED and not _exact.get():
            a = _ridged(a, sign * near, np.asarray(low))
        found = _by_products(a, guess, sign) if _worth_products(a) else None
        if found is not None:
            following = guess_to_carry(guess, found[1])
            return found[0], following if a.ndim == 2 else np.full(a.shape[:-2], following)
    factor, ratio = _exactly(a, None if near is None else sign * near, guess)
    if sign != 1.0:
        factor *= sign
    if a.ndim == 2:
        return factor, _after_exact(float(low), float(ratio))
    pairs = zip(np.broadcast_to(low, ratio.shape).ravel().tolist(), ratio.ravel().tolist(), strict=True)
    return factor, np.reshape([_after_exact(*pair) for pair in pairs], ratio.shape)


def _ridged(a: FloatArray, near: FloatArray, low: FloatArray) -> FloatArray:
    """Return the matrices plus a ridge where the guess calls for it: a little of the points to stay close to."""
    weight = np.where(low < RIDGED, RIDGE, 0.0)[..., None, None]
    largest = np.abs(a).max(axis=(-2, -1), keepdims=True)
    scale = np.where((largest > 0.0) & np.isfinite(largest), largest, 1.0)
    ridged: FloatArray = a + weight * scale * np.linalg.norm(a / scale, axis=(-2, -1), keepdims=True) * near
    return ridged


def _after_exact(low: float, ratio: float) -> float:
    """Return the guess to carry after the exact path, given the ratio of the extreme singular values.

    It is half of the ratio, because the product path scales by a norm that is somewhat larger than the largest singular
    value. While matrices are nearly singular, as in the first steps of a stream, the guess counts calls downwards
    from 0. After `PATIENT` of them the product path is tried, with a ridge.
    """
    waiting = ratio < 2.0 * RIDGED and low > -PATIENT and not LOWEST <= low < RIDGED
    return min(low, 0.0) - 1.0 if waiting else max(0.5 * ratio, LOWEST)


def polar_between(x: FloatArray, low: float) -> FloatArray:
    """Return the polar factor of a stack whose singular values are known to lie in [low, 1]."""
    x = np.asarray(x, dtype=float)
    if 2.0 / (1.0 + low * low) - 1.0 <= LARGEST_RADIUS and not _exact.get():
        if x.ndim == 2 and can_compile():
            factor: FloatArray = compiled_kernel(_NEAR_POLAR)(np.array(x, order="C"), low, TOLERANCE)
            return factor
        return near_polar(np.ascontiguousarray(x), low)
    return polar(x, low=0.9 * low)[0]


def _by_products(a: FloatArray, low: float, sign: float) -> tuple[FloatArray, float] | None:
    a = np.ascontiguousarray(a)
    if a.ndim == 2 and can_compile():
        factor, guess, good = compiled_kernel(_POLAR)(a, low, sign, TOLERANCE)
        return (factor, guess) if good else None
    try:
        return product_polar(a, low, sign)
    except np.linalg.LinAlgError:
        return None


def _exactly(a: FloatArray, near: FloatArray | None, guess: float) -> tuple[FloatArray, FloatArray]:
    if a.ndim == 2 and a.shape[-1] <= SMALL and guess > 0.01 and not _exact.get():
        found = eigen_polar(a)
        if found is not None:
            return found
    rows, columns = a.shape[-2:]
    if rows >= 2 * columns and columns > SMALL:  # a tall matrix and its triangular factor have the same singular values
        q, r = np.linalg.qr(a)
        factor, ratio = exact_polar(r)
        if near is None or ratio.all():
            return q @ factor, ratio
    return exact_polar(a, near)


def _worth_products(a: FloatArray) -> bool:
    """Return whether products are faster. For one small matrix without Numba they are not: see `SMALL`."""
    return not _exact.get() and (a.ndim > 2 or a.shape[-1] > SMALL or can_compile())
