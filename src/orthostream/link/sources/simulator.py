"""A simulated city, for demonstrations and tests."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable

import numpy as np

from orthostream._checks import positive
from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Column, Schema, TimeAxis
from orthostream.link.sources.source import Samples, Source, samples_at_once


class SimulatorSource(Source):
    """Hourly temperatures of `orthostream.datasets.make_city`, at a rate that you choose.

    Parameters
    ----------
    mark : str, optional
        Of the last samples that were taken; that of another simulation is ignored.
    n_samples, n_sensors : int
        Hours that are simulated, and sensors.
    seed : int
    speed : float, optional
        Samples a second; by default as many as are asked for.
    clock, sleep : callables
        Return seconds that never run backwards, and wait.

    Attributes
    ----------
    readings : array (n_samples, n_sensors)
        All that is simulated, NaN where a reading is missing: what the decoded readings can be compared with.
    times : array (n_samples,)
        In seconds since 1970.
    locations : array (n_sensors, 2)
        Latitudes and longitudes.
    """

    def __init__(
        self,
        *,
        mark: str | None = None,
        n_samples: int = 8760,
        n_sensors: int = 56,
        seed: int = 0,
        speed: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        from orthostream.datasets import make_city

        super().__init__()
        if speed is not None:
            positive("speed", speed)
        city = make_city(n_samples, n_sensors, random_state=seed)
        self.readings: FloatArray = city.data
        self.times: IntArray = city.time.astype("datetime64[s]").astype(np.int64)
        self.locations: FloatArray = city.locations
        self.schema = Schema(
            tuple(Column(str(name), "degC") for name in city.sensors), TimeAxis("time", "s", zone="UTC")
        )
        self._kind = {"samples": n_samples, "sensors": n_sensors, "seed": seed}
        self._speed, self._clock, self._sleep = speed, clock, sleep
        self._begin = self._next = self._place_in(mark)
        self._start = clock()

    def poll(self, wait: float = 0.0) -> Samples | None:
        end = self._due
        if end == self._next and wait > 0.0 and not self.is_finished:
            assert self._speed is not None
            next_at = self._start + (self._next + 1 - self._begin) / self._speed
            self._sleep(min(wait, max(0.0, next_at - self._clock()) + 1e-4))
            end = self._due
        if end == self._next:
            return None
        part = slice(self._next, end)
        self._next = end
        return Samples(self.readings[part], self.times[part], json.dumps(self._kind | {"next": end}))

    @property
    def is_finished(self) -> bool:
        return self._next == len(self.readings)

    @property
    def share(self) -> float | None:
        return self._next / len(self.readings)

    @property
    def _due(self) -> int:
        """The sample before which all may be returned now."""
        most = min(len(self.readings), self._next + samples_at_once(self.schema))
        if self._speed is None:
            return most
        passed = (self._clock() - self._start) * self._speed
        return max(self._next, min(most, self._begin + math.floor(passed)))

    def _place_in(self, mark: str | None) -> int:
        try:
            plain = json.loads(mark or "null")
            place = int(plain.pop("next"))
        except (ValueError, KeyError, TypeError, AttributeError):
            return 0
        return place if plain == self._kind and 0 <= place <= len(self.readings) else 0
