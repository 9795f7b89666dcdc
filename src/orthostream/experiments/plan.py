"""What a reproduction is made of: its size, its seed, the readings it uses."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from orthostream._typing import FloatArray
from orthostream.datasets.fill import filled


@dataclass(frozen=True)
class Readings:
    """A year of temperatures without gaps, and where they come from."""

    source: str
    rows: FloatArray
    time: NDArray[np.datetime64]
    #: True where a reading was missing and stands for the mean of the hour.
    gaps: NDArray[np.bool_]
    #: Whether they are those of the paper, so that its numbers can be compared.
    real: bool

    @classmethod
    def of(cls, source: str, data: Bunch, *, real: bool) -> Readings:
        """Return what a loader gave, with the mean of the hour for what is missing, as the paper does."""
        rows = filled(data.data, "row mean")
        silent = np.flatnonzero(np.isnan(rows).any(axis=1))
        if silent.size:
            raise ValueError(f"no sensor was read at {data.time[silent[0]]}: there is no mean to stand for that hour.")
        return cls(source, rows, data.time, np.isnan(data.data), real)


@dataclass(frozen=True)
class Plan:
    """The size of every experiment.

    Examples
    --------
    >>> Plan().trials, Plan.small().trials
    (100, 6)
    """

    quick: bool = False
    seed: int = 0
    trials: int = 100
    steps: int = 3000
    epochs: int = 200
    sweeps: int = 300
    readings: Readings | None = None
    #: Methods that are left out.
    without: frozenset[str] = field(default_factory=frozenset)

    @classmethod
    def small(cls, *, seed: int = 0, readings: Readings | None = None, without: frozenset[str] = frozenset()) -> Plan:
        """Return the plan of a quick look: fewer trials, and hardly any training."""
        return cls(quick=True, seed=seed, trials=6, epochs=4, sweeps=20, readings=readings, without=without)

    @property
    def needed_readings(self) -> Readings:
        """The readings, for an experiment that cannot do without."""
        if self.readings is None:
            raise ValueError("this experiment needs readings: set Plan.readings.")
        return self.readings
