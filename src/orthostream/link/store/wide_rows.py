"""One row for each time, with a column for each sensor, from readings that are stored sensor by sensor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.link.store.store import Chunk


def wide_rows(sensors: Sequence[Iterator[Chunk]]) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield times and rows, with NaN where a sensor has no reading.

    Memory is bounded: of each sensor about one chunk is kept. Where a sensor has several readings of one time (its
    clock stood still or was set back) there are several rows of that time. If a clock was set back while an edge began
    a new stream, rows of the new stream come after those of the old one.

    Parameters
    ----------
    sensors : sequence of iterators
        The readings of each sensor, as `Store.readings` yields them; all with the same unit of time.

    Examples
    --------
    >>> def chunks(times, values):
    ...     yield Chunk("roof", "a", "", "s", np.array(times), np.array(values))
    >>> for times, rows in wide_rows([chunks([1, 2], [0.5, 1.5]), chunks([2], [7.0])]):
    ...     print(times.tolist(), rows.tolist())
    [1] [[0.5, nan]]
    [2] [[1.5, 7.0]]
    """
    columns = [_Column(chunks) for chunks in sensors]
    while True:
        for column in columns:
            if not len(column.times):
                column.fetch()
        running = [column for column in columns if not column.is_finished]
        # More readings of the last time of a chunk may follow, so that one is left for later.
        horizon = min((int(column.times[-1]) for column in running), default=None)
        taken = [column.take(horizon) for column in columns]
        if any(len(times) for times, _ in taken):
            yield _rows(taken)
        elif not running:
            return
        else:
            for column in running:
                if column.times[-1] == horizon:
                    column.fetch()


class _Column:
    """Readings of a sensor that were fetched and not yet taken."""

    def __init__(self, chunks: Iterator[Chunk]) -> None:
        self._chunks = chunks
        self.times: IntArray = np.empty(0, dtype=np.int64)
        self.values: FloatArray = np.empty(0)
        self.is_finished = False

    def fetch(self) -> None:
        """Add the next chunk."""
        chunk = None if self.is_finished else next(self._chunks, None)
        if chunk is None:
            self.is_finished = True
        else:
            self.times = np.concatenate([self.times, chunk.times])
            self.values = np.concatenate([self.values, chunk.values])

    def take(self, horizon: int | None) -> tuple[IntArray, FloatArray]:
        """Return the readings before a time, all of them for None, and forget them."""
        wanted = np.full(len(self.times), True) if horizon is None else self.times < horizon
        taken = self.times[wanted], self.values[wanted]
        self.times, self.values = self.times[~wanted], self.values[~wanted]
        return taken


def _rows(taken: Sequence[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    times, places, turns, values = [], [], [], []
    for place, (moments, readings) in enumerate(taken):
        order = np.argsort(moments, kind="stable")
        ordered = moments[order]
        times.append(ordered)
        values.append(readings[order])
        places.append(np.full(len(ordered), place))
        # The first reading of a time is number 0, the next one of the same time number 1.
        turns.append(np.arange(len(ordered)) - np.searchsorted(ordered, ordered))
    all_times, all_turns = np.concatenate(times), np.concatenate(turns)
    order = np.lexsort((all_turns, all_times))
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (np.diff(all_times[order]) != 0) | (np.diff(all_turns[order]) != 0)
    rows = np.full((int(is_new.sum()), len(taken)), np.nan)
    rows[np.cumsum(is_new) - 1, np.concatenate(places)[order]] = np.concatenate(values)[order]
    return all_times[order][is_new], rows
