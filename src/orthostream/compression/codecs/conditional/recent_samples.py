"""The samples that an encoder has seen last."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.plain_state import checked_array

#: Readings that are remembered, of all sensors together, and samples that are remembered at most and at least.
_READINGS, _SAMPLES, _FEWEST = 1 << 19, 4096, 128
#: Frames that are kept apart before they are joined.
_APART = 64


class RecentSamples:
    """Remembers a bounded number of samples, frame by frame.

    Parameters
    ----------
    n_sensors : int

    Examples
    --------
    >>> import numpy as np
    >>> recent = RecentSamples(2)
    >>> recent.add(np.array([[1.0, 2.0]]))
    >>> recent.column(1, np.array([[3.0, 4.0]]))
    array([2., 4.])
    """

    def __init__(self, n_sensors: int) -> None:
        self._n_sensors = n_sensors
        self._most = max(min(_READINGS // n_sensors, _SAMPLES), _FEWEST)
        self._frames: list[FloatArray] = []
        self._count = 0

    def add(self, rows: FloatArray) -> None:
        """Remember samples."""
        self._frames.append(rows.copy())
        self._count += len(rows)
        if self._count > 2 * self._most:
            self._frames = [np.concatenate(self._frames)[-self._most :]]
            self._count = self._most
        elif len(self._frames) > _APART:
            self._frames = [np.concatenate(self._frames)]

    def joined(self, rows: FloatArray) -> FloatArray:
        """Return the samples that are remembered, and the next ones."""
        return np.concatenate([*self._frames, rows])[-self._most :] if len(rows) < self._most else rows

    def column(self, sensor: int, rows: FloatArray) -> FloatArray:
        """Return one sensor's readings that are remembered, and its next ones."""
        if len(rows) >= self._most:
            return rows[:, sensor]
        return np.concatenate([part[:, sensor] for part in (*self._frames, rows)])[-self._most :]

    def state(self) -> FloatArray:
        """Return what is remembered."""
        return np.concatenate([np.empty((0, self._n_sensors)), *self._frames])

    def set_state(self, state: Any) -> None:
        """Take over what another one remembered; raise ValueError if it does not fit."""
        shape = (len(state), self._n_sensors) if isinstance(state, np.ndarray) and state.ndim > 0 else ()
        self._frames = [checked_array(state, "float64", shape, "remembered").copy()]
        self._count = len(state)
