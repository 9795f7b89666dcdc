"""The one place that decides how a polar factor is computed: by singular values, by products, or compiled."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import cache
from types import ModuleType
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition.coefficients import LARGEST_RADIUS, LOWEST
from orthostream.optimize.polar_decomposition.exact import exact_polar
from orthostream.optimize.polar_decomposition.products import near_polar, product_polar


class Accuracy(NamedTuple):
    """What a float type can give: the smallest ratio for the product path, and its tolerances."""

    lowest: float
    vertex: float
    """Distance from orthogonality that is allowed to an oracle's answer."""
    iterate: float
    """The same, for what becomes the next iterate."""


#: Up to this size one matrix, uncompiled, takes the exact path: calls of NumPy cost more there than an SVD.
SMALL = 20

DOUBLE = Accuracy(LOWEST, 1e-9, 1e-12)
SINGLE = Accuracy(2e-2, 1e-6, 1e-6)


def accuracy_of(dtype: np.dtype[np.floating]) -> Accuracy:
    """Return what the product path can do in a float type."""
    return DOUBLE if dtype == np.float64 else SINGLE


@cache
def _load() -> ModuleType | None:
    if os.environ.get("ORTHOSTREAM_FAST", "1") == "0":
        return None
    try:
        from orthostream.optimize.polar_decomposition import compiled
    except ImportError:
        return None
    return compiled


class Path(Enum):
    """How far a computation may go from LAPACK's singular values, for the sake of speed."""

    EXACT = 0
    NUMPY = 1
    COMPILED = 2


_path: ContextVar[Path] = ContextVar("path", default=Path.COMPILED)


def accelerated() -> ModuleType | None:
    """Return the compiled path, or None where Numba is absent or turned off."""
    return _load() if _path.get() is Path.COMPILED else None


@contextmanager
def limited_to(path: Path) -> Iterator[None]:
    """Allow no faster path than this to what is made and called within the context.

    ``with limited_to(Path.NUMPY)`` turns the compiled path off, as the environment variable ``ORTHOSTREAM_FAST=0``
    does for a whole process; ``with limited_to(Path.EXACT)`` computes every polar factor by singular values.
    """
    token = _path.set(path)
    try:
        yield
    finally:
        _path.reset(token)


def polar(
    a: FloatArray,
    near: FloatArray | None = None,
    low: FloatArray | float = 0.0,
    sign: float = 1.0,
    tolerance: float | None = None,
) -> tuple[FloatArray, FloatArray | float]:
    """Return ``sign`` times the polar factor of each matrix of a stack, and a guess to carry to the next call.

    Parameters
    ----------
    a : array of shape (..., N, K), N >= K
    near : array of the same shape, optional
        The point to stay close to where ``a`` is rank-deficient (see `exact_polar`).
    low : float or array of shape (...)
        A guess of the ratio of the extreme singular values of each matrix, as returned by the last call on a
        similar stack; 0 if nothing is known, which takes the exact path.
    sign : float
    tolerance : float, optional
        How far from 1 a singular value of the result may be. By default what an oracle of the learner needs: 1e-9
        in double precision. The exact path is always accurate to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> factor, low = polar(np.array([[3.0, 0.0], [0.0, -2.0]]))
    >>> factor
    array([[ 1.,  0.],
           [ 0., -1.]])
    """
    guess = low if isinstance(low, float) else float(np.min(low))
    accuracy = accuracy_of(a.dtype)
    if guess >= accuracy.lowest and _worth_products(a):
        result = _by_products(a, guess, tolerance or accuracy.vertex, sign)
        if result is not None:
            return result[0], result[1] if a.ndim == 2 else np.full(a.shape[:-2], result[1])
    factor, ratio = _exactly(a, None if near is None else sign * near)
    if sign != 1.0:
        factor *= sign
    # Half of the truth: the product path scales by a norm that is somewhat larger than the largest singular value.
    return factor, float(0.5 * ratio) if a.ndim == 2 else 0.5 * ratio


def polar_between(x: FloatArray, low: float) -> FloatArray:
    """Return the polar factor of a stack whose singular values are known to lie in [low, 1]."""
    accuracy = accuracy_of(x.dtype)
    if 2.0 / (1.0 + low * low) - 1.0 <= LARGEST_RADIUS and _path.get() is not Path.EXACT:
        fast = accelerated() if _single(x) else None
        if fast is not None:
            factor: FloatArray = fast.compiled_near_polar(np.array(x, order="C"), low, accuracy.iterate)
            return factor
        return near_polar(np.ascontiguousarray(x), low, accuracy.iterate)
    return polar(x, low=0.9 * low, tolerance=accuracy.iterate)[0]


def _exactly(a: FloatArray, near: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    rows, columns = a.shape[-2:]
    if rows >= 2 * columns:  # the triangular factor of a tall matrix holds all its singular values
        q, r = np.linalg.qr(a)
        factor, ratio = exact_polar(r)
        if near is None or ratio.all():
            return q @ factor, ratio
    return exact_polar(a, near)


def _worth_products(a: FloatArray) -> bool:
    """Tell whether products are faster: for one small matrix, uncompiled, the calls cost more than an SVD."""
    if _path.get() is Path.EXACT:
        return False
    return a.ndim > 2 or a.shape[-1] > SMALL or accelerated() is not None


def _single(a: FloatArray) -> bool:
    return a.ndim == 2 and a.dtype == np.float64


def _by_products(a: FloatArray, low: float, tolerance: float, sign: float) -> tuple[FloatArray, float] | None:
    fast = accelerated() if _single(a) else None
    if fast is None:
        return product_polar(np.ascontiguousarray(a), low, tolerance, sign)
    factor, guess, good = fast.compiled_polar(np.ascontiguousarray(a), low, tolerance, sign)
    return (factor, guess) if good else None
