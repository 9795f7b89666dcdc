"""Checks of what a user gives to an encoder: its parameters, and the samples that are pushed."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthostream._checks import integer
from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.resolution import NO_RESOLUTION, Resolution, find_resolution
from orthostream.compression.codecs.registry import MOST_PERIOD, MOST_REMEMBERED
from orthostream.compression.schema import MOST_COLUMNS, Schema
from orthostream.compression.targets.per_sensor import per_sensor


def check_schema(schema: Schema | int) -> Schema:
    """Return a schema, made of a number of sensors if need be."""
    if not isinstance(schema, Schema) and not hasattr(schema, "__index__"):
        raise ValueError(f"schema must be a Schema or a number of sensors, got {schema!r}.")
    checked = schema if isinstance(schema, Schema) else Schema.of(operator.index(schema))
    if not 1 <= len(checked.columns) <= MOST_COLUMNS:
        raise ValueError(f"a stream needs at least one sensor and at most {MOST_COLUMNS}, got {len(checked.columns)}.")
    return checked


def check_options(options: object) -> dict[str, Any]:
    """Return a copy of the further parameters of a codec."""
    if options is not None and not isinstance(options, dict):
        raise ValueError(f"options must be a dict, got {options!r}.")
    return dict(options or {})


def check_resolution(resolution: Any, schema: Schema) -> list[Resolution] | None:
    """Return the resolution of each sensor as it was declared, None if it is to be found in the readings."""
    if isinstance(resolution, str):
        if resolution != "auto":
            raise ValueError(f'resolution must be "auto", None, a number or one for each sensor, got {resolution!r}.')
        return None
    if resolution is None:
        return [NO_RESOLUTION] * len(schema.columns)
    numbers = per_sensor("resolution", resolution, len(schema.columns))
    if not np.all((numbers > 0.0) & (numbers < np.inf)):
        raise ValueError(f"resolution must be a positive number, or one for each sensor, got {resolution!r}.")
    found = [find_resolution(np.array([number])) for number in numbers.tolist()]
    if not all(each.numerator for each in found):
        raise ValueError(f"resolution must be a decimal of at most nine places, got {resolution!r}.")
    if any(each.denominator > 1 and column.is_whole for each, column in zip(found, schema.columns, strict=True)):
        raise ValueError(f"resolution must be a whole number for columns of integers, got {resolution!r}.")
    return [
        Resolution(round(number * each.denominator), each.denominator)
        for number, each in zip(numbers.tolist(), found, strict=True)
    ]


def choose_period(period: str | int, schema: Schema, times: list[int]) -> int:
    """Return how many samples a day has, 0 if that is unknown or of no use."""
    if isinstance(period, str):
        if period != "auto":
            raise ValueError(f'period must be "auto" or an integer, got {period!r}.')
        day = None if schema.time is None else schema.time.ticks_per_day()
        if day is None or len(times) < 2:
            return 0
        steps = np.sort(np.diff(np.array(times, dtype=np.int64)))
        step = int(steps[len(steps) // 2])
        samples = round(day / step) if step > 0 else 0
        fits = (samples + 2) * len(schema.columns) <= MOST_REMEMBERED
        return samples if 3 <= samples <= MOST_PERIOD and fits else 0
    integer("period", period, 0, MOST_PERIOD)
    if (period + 2) * len(schema.columns) > MOST_REMEMBERED:
        raise ValueError(f"a period of {period} samples of {len(schema.columns)} sensors is too much to remember.")
    return int(period)


def check_readings(rows: ArrayLike, n_sensors: int) -> FloatArray:
    """Return samples as a new array of shape (n_samples, n_sensors); a single sample may come without its row."""
    array = np.asarray(rows)
    if array.ndim == 1 and array.size == n_sensors:
        array = array[None, :]
    if array.ndim != 2 or array.shape[1] != n_sensors:
        raise ValueError(
            f"expected samples of {n_sensors} sensors, one in each row, got an array of shape {array.shape}."
        )
    if array.dtype.kind not in "fiub":
        raise ValueError(f"readings must be numbers, got {array.dtype}; convert them first (missing ones to NaN).")
    if array.dtype.kind in "iu" and array.size and max(abs(int(array.max())), abs(int(array.min()))) > 2**53:
        raise ValueError("integers beyond 2**53 in size cannot be kept exactly; split them into two columns.")
    return np.array(array, dtype=np.float64)


def check_times(time: ArrayLike | None, schema: Schema, n_samples: int) -> list[int]:
    """Return the time of each sample, none if the stream has no times."""
    if (time is None) != (schema.time is None):
        raise ValueError(
            "this stream has times: give one for each sample." if time is None else "this stream has no times."
        )
    if time is None:
        return []
    stamps = np.asarray(time)
    if stamps.size == 0:
        stamps = stamps.astype(np.int64)
    if stamps.dtype.kind not in "iu" or stamps.shape != (n_samples,):
        raise ValueError(
            f"time must be {n_samples} integers, one for each sample, got {stamps.dtype} of shape {stamps.shape}."
        )
    times = [int(stamp) for stamp in stamps]
    if times and max(times) >= 2**63:
        raise ValueError(f"time must fit into 64 bits with a sign, got {max(times)}.")
    return times
