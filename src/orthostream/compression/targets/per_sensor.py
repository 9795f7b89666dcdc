"""Parameters that are one number for all sensors, or one for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray


def one_or_many(name: str, value: object) -> FloatArray:
    """Return a number or a list of numbers as an array of no or one dimension."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, or one for each sensor, got {value!r}.") from None
    if numbers.ndim > 1:
        raise ValueError(f"{name} must be one number, or a list of one for each sensor, got {value!r}.")
    return numbers


def per_sensor(name: str, value: object, n_sensors: int) -> FloatArray:
    """Return a number for each sensor.

    Examples
    --------
    >>> per_sensor("max_error", 0.5, 3)
    array([0.5, 0.5, 0.5])
    """
    numbers = one_or_many(name, value)
    if numbers.shape not in ((), (n_sensors,)):
        raise ValueError(f"{name} must be one number or {n_sensors}, one for each sensor, got shape {numbers.shape}.")
    return np.broadcast_to(numbers, (n_sensors,)).copy()


def frozen(value: Any) -> Any:
    """Return a number as a Python number, and several as a tuple of them."""
    plain = np.asarray(value).tolist()
    return tuple(plain) if isinstance(plain, list) else plain


def thawed(value: Any) -> Any:
    """Return what `frozen` made as JSON has it: a tuple as a list."""
    return list(value) if isinstance(value, tuple) else value
