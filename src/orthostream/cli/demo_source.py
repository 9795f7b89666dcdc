"""A simulated city as a source of samples that come at an even pace."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Schema
from orthostream.link.sources.source import Samples, Source

#: Samples that are given at once: a quarter of a day while somebody watches, a whole one otherwise.
_FEW, _MANY = 6, 24


class PacedSamples(Source):
    """Gives samples of a table, evenly over some seconds.

    Parameters
    ----------
    schema : Schema
    readings : array (n_samples, n_sensors)
    times : array (n_samples,)
    seconds : float
        That the whole table takes; 0 for as fast as they are taken.
    on_samples : callable, optional
        Called with times and readings just before they are given.
    """

    def __init__(
        self,
        schema: Schema,
        readings: FloatArray,
        times: IntArray,
        seconds: float,
        on_samples: Callable[[IntArray, FloatArray], None] | None = None,
    ) -> None:
        super().__init__()
        self.schema = schema
        self._readings, self._times, self._seconds = readings, times, seconds
        self._on_samples = on_samples
        self._begin: float | None = None
        self._given = 0

    @property
    def is_finished(self) -> bool:
        return self._given == len(self._times)

    @property
    def share(self) -> float:
        return self._given / max(len(self._times), 1)

    def poll(self, wait: float = 0.0) -> Samples | None:
        if self._begin is None:
            self._begin = time.monotonic()
        end = min(self._given + (_FEW if self._seconds else _MANY), len(self._times))
        pause = self._begin + self._seconds * end / max(len(self._times), 1) - time.monotonic()
        if pause > 0.0:
            time.sleep(min(pause, wait))
        if pause > wait or self.is_finished:
            return None
        part = slice(self._given, end)
        self._given = end
        if self._on_samples is not None:
            self._on_samples(self._times[part], self._readings[part])
        return Samples(np.array(self._readings[part]), self._times[part], str(end))
