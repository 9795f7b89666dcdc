"""Samples as JSON objects: ``{"time": "2017-01-01T12:00:00Z", "roof": 3.5, "cellar": null}``."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Self

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression import Column, Schema, TimeAxis
from orthostream.compression.tables.dates import TimeTextError, parse_dates
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND

#: The name of the time, unless told otherwise.
TIME = "time"
#: Sensors of a source at most.
_MOST_SENSORS = 4096
#: Numbers of this size or more are refused.
_LARGEST = 1e300
#: Numbers from these sizes on are milliseconds, microseconds and nanoseconds since 1970, below they are seconds.
_SCALES = ((Decimal(10) ** 17, 9), (Decimal(10) ** 14, 6), (Decimal(10) ** 11, 3))


class JsonSamples:
    """Reads samples of known sensors.

    A time is a date (ISO 8601; UTC unless it says otherwise) or a number since 1970: seconds, or, if it is too large
    for that, milliseconds, microseconds or nanoseconds. A sample without one gets the time at which it is read.
    Sensors that a sample does not name, and those that are null, are missing; names that are not known are left out.

    Parameters
    ----------
    sensors : sequence of str
    time_name : str
        The key of the time.
    unit : {"s", "ms", "us", "ns"}
        Of the times that are kept; finer ones are rounded.

    Attributes
    ----------
    unknown : int
        Values that were left out, since their names are not those of sensors.

    Examples
    --------
    >>> reader = JsonSamples(["roof", "cellar"])
    >>> reader.read({"time": 1.5, "roof": 3})
    (array([ 3., nan]), 1500)
    """

    def __init__(self, sensors: Sequence[str], time_name: str = TIME, unit: str = "ms") -> None:
        if not 1 <= len(sensors) <= _MOST_SENSORS:
            raise ValueError(f"a source needs 1 to {_MOST_SENSORS} sensors, got {len(sensors)}.")
        if len(set(sensors)) < len(sensors):
            raise ValueError(f"two sensors have the same name: {', '.join(sensors)[:200]}.")
        if unit not in TICKS_PER_SECOND:
            raise ValueError(f"the unit of times must be one of {', '.join(TICKS_PER_SECOND)}, got {unit!r}.")
        self._places = {name: place for place, name in enumerate(sensors)}
        self._time_name, self._unit = time_name, unit
        self.unknown = 0
        self.schema = Schema(tuple(map(Column, sensors)), TimeAxis(time_name, unit, zone="UTC"))

    @classmethod
    def like(cls, plain: Sequence[dict[str, Any]], time_name: str = TIME, unit: str = "ms") -> Self:
        """Return a reader of the sensors that some samples name."""
        names = dict.fromkeys(name for each in plain for name in each if name != time_name)
        return cls(list(names), time_name, unit)

    @property
    def sensors(self) -> list[str]:
        """The names of the sensors."""
        return list(self._places)

    def read(self, plain: dict[str, Any]) -> tuple[FloatArray, int]:
        """Return the readings of a sample, and its time; raise ValueError if there is something else in it."""
        row = np.full(len(self._places), np.nan)
        for name, value in plain.items():
            if name == self._time_name:
                continue
            if name not in self._places:
                self.unknown += 1
            elif value is not None:
                row[self._places[name]] = _number(name, value)
        return row, self._tick(plain.get(self._time_name))

    def _tick(self, value: Any) -> int:
        per_second = TICKS_PER_SECOND[self._unit]
        if value is None:
            return time.time_ns() * per_second // 10**9
        if isinstance(value, str):
            try:
                return int(parse_dates([value.strip()], "ns")[0]) * per_second // 10**9
            except TimeTextError as error:
                raise ValueError(f"the time {value[:40]!r} {error.reason}.") from None
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _LARGEST:
            raise ValueError(f"the time is a date or a number since 1970, got {str(value)[:40]!r}.")
        number = Decimal(repr(value))
        decimals = next((decimals for least, decimals in _SCALES if abs(number) >= least), 0)
        tick = round(number.scaleb(-decimals) * per_second)
        if abs(tick) >= 2**62:
            raise ValueError(f"the time {value!r} is too far from now.")
        return tick


def read_object(text: bytes | str) -> dict[str, Any]:
    """Return the JSON object that a text is; raise ValueError if it is none."""
    try:
        plain = json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}.") from None
    if not isinstance(plain, dict):
        raise ValueError(f'a sample is a JSON object such as {{"time": 0, "roof": 3.5}}, got {str(plain)[:40]!r}.')
    return plain


def _number(name: str, value: Any) -> float:
    if not isinstance(value, int | float) or abs(value) >= _LARGEST:
        raise ValueError(f"the reading of {name[:40]!r} is not a number: {str(value)[:40]!r}.")
    return float(value)
