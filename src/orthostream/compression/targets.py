"""How far a decoded reading may be from what was measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthostream._typing import BoolArray, FloatArray


@dataclass(frozen=True)
class ErrorBound:
    """A bound that holds for every reading, one per sensor: absolute, or relative to the reading.

    Parameters
    ----------
    absolute : array (n_sensors,)
        Largest error; 0 for none at all.
    relative : array (n_sensors,), optional
        Largest error as a share of the reading; if given, ``absolute`` is not looked at.
    single, whole : arrays of bool (n_sensors,)
        Sensors whose readings are of 32 bits, and of an integer type.
    """

    absolute: FloatArray
    relative: FloatArray | None
    single: BoolArray
    whole: BoolArray

    def limits(self, rows: FloatArray) -> FloatArray:
        """Return the largest error of each reading."""
        if self.relative is None:
            return np.repeat(self.absolute[None, :], len(rows), axis=0)
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(np.abs(rows) * self.relative, nan=0.0, posinf=0.0)


def error_bound(
    n_sensors: int,
    *,
    max_error: object = None,
    relative_error: object = None,
    dtypes: list[str] | None = None,
) -> ErrorBound:
    """Return the bound that some arguments ask for: a number for all sensors, or one for each.

    Examples
    --------
    >>> error_bound(2, max_error=[0.5, 1.0]).absolute
    array([0.5, 1. ])
    """
    names = dtypes or ["float64"] * n_sensors
    single = np.array([name in ("float32", "Float32") for name in names], dtype=bool)
    whole = np.array([name.lower().startswith(("int", "uint", "bool")) for name in names], dtype=bool)
    if relative_error is not None:
        if whole.any():
            raise ValueError(
                "relative_error is for columns of decimals; convert integers to float64, or give max_error."
            )
        relative = per_sensor("relative_error", relative_error, n_sensors)
        if not np.all((relative > 0.0) & (relative < 1.0)):
            raise ValueError(f"relative_error must be above 0 and below 1, got {relative_error!r}.")
        return ErrorBound(np.zeros(n_sensors), relative, single, whole)
    absolute = per_sensor("max_error", max_error, n_sensors)
    if not np.all((absolute >= 0.0) & (absolute < np.inf)):
        raise ValueError(f"max_error must be a number of at least 0, or one for each sensor, got {max_error!r}.")
    return ErrorBound(absolute, None, single, whole)


def per_sensor(name: str, value: object, n_sensors: int) -> FloatArray:
    """Return a number for each sensor, from one for all or one for each."""
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, or one for each sensor, got {value!r}.") from None
    if numbers.shape not in ((), (n_sensors,)):
        raise ValueError(f"{name} must be one number or {n_sensors}, one for each sensor, got shape {numbers.shape}.")
    return np.broadcast_to(numbers, (n_sensors,)).copy()
