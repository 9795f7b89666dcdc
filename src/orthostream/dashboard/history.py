"""The last samples of an edge, in memory that does not grow."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray, IntArray

#: Readings that are kept in memory for each edge, and samples at least and at most.
MOST_READINGS, LEAST_SAMPLES, MOST_SAMPLES = 1 << 20, 1000, 1 << 16


class History:
    """A ring of samples: times, readings as decoded, and as measured where that is known.

    Parameters
    ----------
    n_sensors : int
    capacity : int, optional
        Samples that are kept; by default as many as make a million readings.

    Examples
    --------
    >>> import numpy as np
    >>> history = History(1, capacity=4)
    >>> for hour in range(6):
    ...     history.add(np.array([hour]), np.array([[float(hour)]]))
    >>> history.times.tolist()
    [2, 3, 4, 5]
    """

    def __init__(self, n_sensors: int, capacity: int | None = None) -> None:
        self.capacity = capacity or min(max(MOST_READINGS // max(n_sensors, 1), LEAST_SAMPLES), MOST_SAMPLES)
        self.n_sensors = n_sensors
        self.has_original = False
        self._times = np.empty(0, dtype=np.int64)
        self._decoded = np.empty((0, n_sensors))
        self._original = np.empty((0, n_sensors))
        self._start = self._end = 0

    def __len__(self) -> int:
        return self._end - self._start

    @property
    def times(self) -> IntArray:
        """Times of the samples."""
        return self._times[self._start : self._end]

    @property
    def decoded(self) -> FloatArray:
        """Readings as the cloud has them."""
        return self._decoded[self._start : self._end]

    @property
    def original(self) -> FloatArray | None:
        """Readings as they were measured, NaN where that is not known; None if it never was."""
        return self._original[self._start : self._end] if self.has_original else None

    def add(self, times: IntArray, decoded: FloatArray, original: FloatArray | None = None) -> None:
        """Append samples; the oldest make room."""
        times, decoded = times[-self.capacity :], decoded[-self.capacity :]
        count = len(times)
        self._make_room(count)
        place = slice(self._end, self._end + count)
        self._times[place] = times
        self._decoded[place] = decoded
        self._original[place] = np.nan if original is None else original[-self.capacity :]
        self.has_original |= original is not None
        self._end += count
        self._start = max(self._start, self._end - self.capacity)

    def forget_from(self, time: int) -> None:
        """Forget samples from a time on, because they come again."""
        late = np.nonzero(self.times >= time)[0]
        if len(late):
            self._end = self._start + int(late[0])

    def _make_room(self, count: int) -> None:
        if self._end + count <= len(self._times):
            return
        kept = slice(max(self._start, self._end - self.capacity), self._end)
        n_kept = kept.stop - kept.start
        # Twice what is there, so that moving is rare.
        size = min(2 * (n_kept + count), 2 * self.capacity)
        for name in ("_times", "_decoded", "_original"):
            old = getattr(self, name)
            new = np.empty((max(size, n_kept + count), *old.shape[1:]), dtype=old.dtype)
            new[:n_kept] = old[kept]
            setattr(self, name, new)
        self._start, self._end = 0, n_kept
