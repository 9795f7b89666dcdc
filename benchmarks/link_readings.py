"""What the benchmarks of the link send: real sensors where they are at hand, a simulated city otherwise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Column, Schema, TimeAxis
from orthostream.datasets import load_airly, make_city
from orthostream.datasets.data_folder import DataFolderError

from .real_streams import data_folder

#: Every reading may be off by this much, in degrees.
BOUND = 0.5
#: Seconds since 1970 of the first sample.
_BEGIN = 1_483_228_800
_SENSORS = 56


class Readings(NamedTuple):
    """Temperatures of sensors, NaN where one is missing, and where they come from."""

    name: str
    rows: FloatArray
    sensors: tuple[str, ...]

    def part(self, start: int, stop: int) -> Readings:
        """Return some of the samples."""
        return self._replace(rows=self.rows[start:stop])

    def times(self, seconds: int) -> IntArray:
        """Return times in seconds since 1970, of samples that are some seconds apart."""
        return _BEGIN + seconds * np.arange(len(self.rows), dtype=np.int64)

    @property
    def n_readings(self) -> int:
        """Readings that are not missing."""
        return int(np.isfinite(self.rows).sum())

    @property
    def schema(self) -> Schema:
        """The sensors, and times in seconds."""
        return Schema(tuple(Column(name, "degC") for name in self.sensors), TimeAxis("time", "s"))


def hourly_readings(n_samples: int) -> Readings:
    """Return hourly temperatures: those of Airly if there are any, which has 8,593 hours, or those of a simulation."""
    if data_folder() is not None:
        try:
            airly = load_airly(data_folder(), "temperature")
        except DataFolderError:
            pass
        else:
            return Readings("Airly temperature", airly.data[:n_samples], tuple(map(str, airly.sensors)))
    city = make_city(n_samples, _SENSORS, random_state=0)
    return Readings("simulated city", city.data, tuple(map(str, city.sensors)))
