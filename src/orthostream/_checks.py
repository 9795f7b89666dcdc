"""Checks of parameters: each returns the value, or raises a ValueError that names the parameter and the value."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _float(value: Any) -> float:
    """Return a number as a float; infinity for an integer that is too long for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def integer(name: str, value: Any, least: int = 1, most: int | None = None, *, what: str | None = None) -> int:
    """Return an integer from ``least`` to ``most``; ``what`` names the upper limit in the message.

    >>> integer("n_nonzero", 3)
    3
    >>> integer("n_components", 9, most=5, what="n_features")
    Traceback (most recent call last):
    ValueError: n_components must be an integer from 1 to n_features = 5, got 9.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and value >= least and (most is None or value <= most):
        return int(value)
    if most is not None:
        wanted = f"an integer from {least} to {f'{what} = {most}' if what else most}"
    else:
        wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
    raise ValueError(f"{name} must be {wanted}, got {value!r}.")


def optional_integer(
    name: str, value: Any, least: int = 1, most: int | None = None, *, what: str | None = None
) -> int | None:
    """Return None unchanged, and check any other value as `integer` does."""
    return None if value is None else integer(name, value, least, most, what=what)


def positive(name: str, value: Any) -> float:
    """Return a positive, finite number as a float.

    >>> positive("radius", 2)
    2.0
    """
    if _is_number(value) and 0.0 < _float(value) < math.inf:
        return float(value)
    raise ValueError(f"{name} must be positive and finite, got {value!r}.")


def at_least(name: str, value: Any, least: float = 0.0) -> float:
    """Return a finite number that is not below ``least`` as a float."""
    if _is_number(value) and least <= _float(value) < math.inf:
        return float(value)
    raise ValueError(f"{name} must be a finite number of at least {least:g}, got {value!r}.")


def between(name: str, value: Any, low: float, high: float) -> float:
    """Return a number from ``low`` to ``high``, both allowed, as a float."""
    if _is_number(value) and low <= value <= high:
        return float(value)
    raise ValueError(f"{name} must be a number from {low:g} to {high:g}, got {value!r}.")


def fraction(name: str, value: Any) -> float:
    """Return a number above 0 and up to 1 as a float.

    >>> fraction("rho", 1)
    1.0
    """
    if _is_number(value) and 0.0 < value <= 1.0:
        return float(value)
    raise ValueError(f"{name} must lie in (0, 1], got {value!r}.")


def one_of(name: str, value: Any, allowed: Iterable[str], also: str = "") -> str:
    """Return the value if it is one of the allowed strings; ``also`` names other kinds of values in the message.

    >>> one_of("init", "svd", ("random", "data"), also="an array")
    Traceback (most recent call last):
    ValueError: init must be 'data', 'random' or an array, got 'svd'.
    """
    words = sorted(allowed)
    if isinstance(value, str) and value in words:
        return value
    choices = [repr(word) for word in words] + ([also] if also else [])
    listed = " or ".join(filter(None, [", ".join(choices[:-1]), choices[-1]]))
    raise ValueError(f"{name} must be {listed}, got {value!r}.")
