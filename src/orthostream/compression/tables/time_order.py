"""Times that must go forward."""

from __future__ import annotations

import numpy as np

from orthostream._typing import IntArray
from orthostream.compression.schema import TimeAxis
from orthostream.compression.tables.times import time_texts


class TimeOrder:
    """Finds a time that is not later than the one before, over any number of pieces.

    >>> order = TimeOrder()
    >>> order.first_wrong(np.array([1, 2, 2, 3]))
    2
    >>> order.accept(np.array([1, 2]))
    >>> order.first_wrong(np.array([2]))
    0
    """

    def __init__(self) -> None:
        self._last: int | None = None

    def first_wrong(self, times: IntArray) -> int | None:
        """Return the place of the first time that is not later than the one before."""
        if times.size and self._last is not None and times[0] <= self._last:
            return 0
        wrong = np.flatnonzero(times[1:] <= times[:-1])
        return int(wrong[0]) + 1 if wrong.size else None

    def accept(self, times: IntArray) -> None:
        """Remember the last of some times."""
        if times.size:
            self._last = int(times[-1])

    def explain(self, times: IntArray, place: int, axis: TimeAxis) -> str:
        """Return what is wrong with a time, and what to do."""
        before = int(times[place - 1]) if place else self._last
        assert before is not None
        text, earlier = time_texts(np.array([times[place], before]), axis)
        if before == times[place]:
            return f"the time {text} comes twice; leave one of the rows out, or allow any order of times"
        return f"the time {text} comes after {earlier}; sort the table by time, or allow any order of times"
