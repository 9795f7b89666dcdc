"""What is kept of one edge: its last samples, totals, and the sizes of its messages."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Schema
from orthostream.compression.targets import Target
from orthostream.dashboard.comparison import Comparison
from orthostream.dashboard.history import History
from orthostream.dashboard.learning import LearningRecord
from orthostream.dashboard.sensor_bits import sensor_bits
from orthostream.dashboard.view import Window

#: Messages whose sizes are kept.
_RECENT = 60
#: Samples in which the last reading of a sensor is looked for.
_LATEST = 24
#: Samples that are called recent.
_LATELY = 336


class EdgeRecord:
    """Takes in the samples of one edge and answers what a page asks.

    Parameters
    ----------
    schema : Schema
    target : Target
    locations : array (n_sensors, 2), optional
        Latitudes and longitudes.
    capacity : int, optional
        Samples that are kept.
    """

    def __init__(
        self, schema: Schema, target: Target, *, locations: FloatArray | None = None, capacity: int | None = None
    ) -> None:
        self.schema, self.target, self.locations = schema, target, locations
        self.history = History(len(schema.columns), capacity)
        self.comparison: Comparison | None = None
        self.learning = LearningRecord()
        self.recent: deque[int] = deque(maxlen=_RECENT)
        self.samples = self.readings = self.n_bytes = self.messages = 0
        self.max_error = 0.0
        self._squares = 0.0
        self._checked = 0

    @property
    def bits_per_reading(self) -> float | None:
        """Bits of all messages for each reading in them."""
        return 8.0 * self.n_bytes / self.readings if self.readings else None

    @property
    def rmse(self) -> float | None:
        """Root mean square error of readings whose originals are known; None if there are none."""
        return math.sqrt(self._squares / self._checked) if self._checked else None

    @property
    def latest(self) -> FloatArray:
        """The last reading of each sensor, NaN where there is none among the last samples."""
        rows = self.history.decoded[-_LATEST:]
        if not len(rows):
            return np.full(len(self.schema.columns), np.nan)
        last = len(rows) - 1 - np.argmax(np.isfinite(rows)[::-1], axis=0)
        found: FloatArray = rows[last, np.arange(rows.shape[1])]
        return found

    @property
    def best_sensor(self) -> int:
        """The first sensor that has reported as much as any, lately."""
        recent = self.history.decoded[-_LATELY:]
        return int(np.argmax(np.isfinite(recent).sum(axis=0)))

    def add(self, times: IntArray, values: FloatArray, original: FloatArray | None, n_bytes: int) -> None:
        """Take in the samples of a message."""
        self.show(times, values, original)
        self.samples += len(values)
        self.readings += int(np.isfinite(values).sum())
        self.n_bytes += n_bytes
        self.messages += 1
        self.recent.append(n_bytes)
        if self.comparison is not None:
            self.comparison.add(times, values if original is None else original, n_bytes)

    def show(self, times: IntArray, values: FloatArray, original: FloatArray | None = None) -> None:
        """Keep samples, without counting them."""
        self.history.add(times, values, original)
        if original is not None:
            errors = np.abs(values - original)
            errors = errors[np.isfinite(errors)]
            self._squares += float((errors**2).sum())
            self._checked += len(errors)
            self.max_error = max(self.max_error, float(errors.max(initial=0.0)))

    def sensor_bits(self) -> FloatArray | None:
        """Return the estimated bits per reading of each sensor."""
        bits = self.bits_per_reading
        return None if bits is None or not len(self.history) else sensor_bits(self.history.decoded, bits)

    def window(self, sensors: Sequence[int], start: int | None, end: int | None) -> Window | None:
        """Return samples of some sensors from ``start`` to ``end``, both included."""
        times = self.history.times
        if not len(times):
            return None
        keep = np.ones(len(times), dtype=bool)
        if start is not None:
            keep &= times >= start
        if end is not None:
            keep &= times <= end
        columns = list(sensors)
        decoded = self.history.decoded[keep]
        original = None if self.history.original is None else self.history.original[keep]
        bound = self.target.bound(self.schema.columns)
        band = None
        if bound is not None:
            band = bound.limits(decoded if original is None else np.where(np.isnan(original), decoded, original))
        return Window(
            times[keep].copy(),
            int(times[0]),
            int(times[-1]),
            columns,
            decoded[:, columns],
            None if original is None else original[:, columns],
            None if band is None else band[:, columns],
        )
