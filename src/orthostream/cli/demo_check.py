"""A store against the source that its readings came from, reading by reading."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.cli.demo_run import CityPart
from orthostream.link import open_store

#: The difference of two floats can be larger than that of the numbers they stand for, by this factor at most.
_ROUNDING = 1.0 + 1e-12


@dataclass
class Checked:
    """What a comparison has found.

    ``lost`` readings are in the source and not in the store, ``doubled`` ones are there more than once, ``foreign``
    ones were never measured, and those ``beyond`` are further off than they may be.
    """

    readings: int = 0
    lost: int = 0
    doubled: int = 0
    foreign: int = 0
    beyond: int = 0
    max_error: float = 0.0
    sum_of_squares: float = 0.0

    @property
    def is_right(self) -> bool:
        """Whether the store has every reading once, within the bound, and nothing else."""
        return not (self.lost or self.doubled or self.foreign or self.beyond)

    @property
    def rmse(self) -> float:
        """Root mean square error."""
        return float(np.sqrt(self.sum_of_squares / max(self.readings, 1)))


def check_store(path: Path, parts: list[CityPart], max_error: float) -> Checked:
    """Open a store, read all of it, and compare it with the source; a bound of infinity allows every error."""
    found = Checked()
    with open_store(str(path), create=False) as store:
        for part in parts:
            for place, column in enumerate(part.schema.columns):
                chunks = list(store.readings(part.edge, column.name))
                times = np.concatenate([np.empty(0, dtype=np.int64), *(chunk.times for chunk in chunks)])
                values = np.concatenate([np.empty(0), *(chunk.values for chunk in chunks)])
                measured = part.readings[:, place]
                known = np.isfinite(measured)
                _compare(found, times, values, part.times[known], measured[known], max_error)
    return found


def _compare(
    found: Checked,
    times: IntArray,
    values: FloatArray,
    source_times: IntArray,
    source_values: FloatArray,
    max_error: float,
) -> None:
    unique, first = np.unique(times, return_index=True)
    found.readings += len(times)
    found.doubled += len(times) - len(unique)
    found.lost += len(np.setdiff1d(source_times, unique))
    found.foreign += len(np.setdiff1d(unique, source_times))
    _, here, there = np.intersect1d(unique, source_times, return_indices=True)
    errors = np.abs(values[first][here] - source_values[there])
    found.beyond += int((errors > max_error * _ROUNDING).sum())
    found.max_error = max(found.max_error, float(errors.max(initial=0.0)))
    found.sum_of_squares += float((errors**2).sum())
