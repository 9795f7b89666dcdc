"""The different values of some readings, and how often each was met."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray


class Distinct(NamedTuple):
    """Finite values in increasing order, and how often each was met; 0.0 and -0.0 are one value."""

    values: FloatArray
    counts: IntArray
    visits: IntArray
    """How often each value was met after another one."""

    @classmethod
    def of(cls, readings: FloatArray) -> Distinct:
        """Return the different finite values among readings in order."""
        known = readings[np.isfinite(readings)]
        values, places, counts = np.unique(known, return_inverse=True, return_counts=True)
        came = np.append(True, places[1:] != places[:-1]) if len(places) else places == 0
        visits = np.bincount(places[came], minlength=len(values))
        return cls(values, counts.astype(np.int64), visits.astype(np.int64))

    @property
    def total(self) -> int:
        """How many readings there were."""
        return int(self.counts.sum())

    @property
    def rate_of_new(self) -> float:
        """Share of readings to come that will be a new value: by the values that were visited once (Good, Turing)."""
        return (float((self.visits == 1).sum()) + 1.0) / (self.total + 1.0)

    def where(self, mask: BoolArray) -> Distinct:
        """Return some of the values."""
        return Distinct(self.values[mask], self.counts[mask], self.visits[mask])
