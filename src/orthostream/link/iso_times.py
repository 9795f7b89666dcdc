"""Times of streams as text, for files and messages that others read."""

from __future__ import annotations

from orthostream._typing import IntArray
from orthostream.compression.schema import TimeAxis
from orthostream.compression.tables.times import time_texts

#: Units of times that are dates, finest first, with their ticks in a second.
TICKS_OF_DATES = {"ns": 10**9, "us": 10**6, "ms": 1000, "s": 1}


def iso_times(times: IntArray, unit: str) -> list[str]:
    """Return times as text: dates in UTC, or numbers where there are no dates.

    Examples
    --------
    >>> import numpy as np
    >>> iso_times(np.array([0]), "ms"), iso_times(np.array([7]), ""), iso_times(np.array([1500]), "1e-3")
    (['1970-01-01T00:00:00.000+00:00'], ['7'], ['1.5'])
    """
    return time_texts(times, TimeAxis("time", unit, zone="UTC" if unit in TICKS_OF_DATES else ""))


def json_times(times: IntArray, unit: str) -> list[str]:
    """Return times as JSON: dates as text, others as numbers.

    Examples
    --------
    >>> import numpy as np
    >>> json_times(np.array([0]), "s"), json_times(np.array([7]), "")
    (['"1970-01-01T00:00:00+00:00"'], ['7'])
    """
    texts = iso_times(times, unit)
    return [f'"{text}"' for text in texts] if unit in TICKS_OF_DATES else texts


def json_number(value: float) -> str:
    """Return a number as JSON; what JSON does not have as null (NaN) or as text (infinity).

    Examples
    --------
    >>> json_number(0.1), json_number(float("nan")), json_number(float("-inf"))
    ('0.1', 'null', '"-inf"')
    """
    if value != value:
        return "null"
    return f'"{value!r}"' if value in (float("inf"), -float("inf")) else repr(value)
