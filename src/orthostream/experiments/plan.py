"""The size of a reproduction, its seed and its readings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from orthostream._checks import integer
from orthostream._typing import FloatArray
from orthostream.datasets.fill import filled
from orthostream.experiments.registry import OPTIONAL


@dataclass(frozen=True)
class SensorReadings:
    """A year of temperatures, with gaps filled, and their source."""

    source: str
    rows: FloatArray
    time: NDArray[np.datetime64]
    #: True where a reading was missing and is replaced by the mean of the hour.
    gaps: NDArray[np.bool_]
    #: Whether they are the paper's data, so that its numbers can be compared.
    real: bool

    @classmethod
    def of(cls, source: str, data: Bunch, *, real: bool) -> SensorReadings:
        """Return the data of a loader, with missing readings replaced by the mean of the hour, as in the paper.

        >>> from orthostream.datasets import make_city
        >>> readings = SensorReadings.of("A simulated city", make_city(48, 5, random_state=0), real=False)
        >>> readings.rows.shape, bool(np.isnan(readings.rows).any())
        ((48, 5), False)
        """
        rows = filled(data.data, "row mean")
        silent = np.flatnonzero(np.isnan(rows).any(axis=1))
        if silent.size:
            raise ValueError(f"no sensor was read at {data.time[silent[0]]}: its gaps cannot be filled.")
        return cls(source, rows, data.time, np.isnan(data.data), real)


@dataclass(frozen=True)
class Plan:
    """The size of every experiment; the defaults are those of the paper.

    Parameters
    ----------
    quick : bool
        Try fewer settings of the baselines. `Plan.small` is a complete plan for a quick look.
    seed : int
        The seed of all random numbers.
    trials, steps : int
        The number of streams in the synthetic experiments, and of mini-batches in each.
    epochs, sweeps : int
        The length of the training of DeepSTGDL and of NCBDL.
    readings : SensorReadings, optional
        For the experiments with sensors: ``SensorReadings.of("Airly", load_airly(folder), real=True)``.
    without : set of str
        Names of methods to leave out; see `orthostream.experiments.registry`.

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
    readings: SensorReadings | None = None
    without: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("trials", 1), ("steps", 1), ("epochs", 1), ("sweeps", 1)):
            integer(name, getattr(self, name), least)
        if self.readings is not None and not isinstance(self.readings, SensorReadings):
            raise TypeError("readings must be SensorReadings: write SensorReadings.of(source, data, real=...).")
        unknown = set(self.without).difference(OPTIONAL)
        if unknown:
            raise ValueError(f"without: {min(unknown)!r} cannot be left out; these can: {'; '.join(OPTIONAL)}.")

    @classmethod
    def small(
        cls, *, seed: int = 0, readings: SensorReadings | None = None, without: frozenset[str] = frozenset()
    ) -> Plan:
        """Return the plan of a quick look: fewer trials, and very little training."""
        return cls(quick=True, seed=seed, trials=6, epochs=4, sweeps=20, readings=readings, without=without)

    @property
    def needed_readings(self) -> SensorReadings:
        """The readings; raises if there are none."""
        if self.readings is None:
            raise ValueError(
                "this experiment needs readings: Plan(readings=SensorReadings.of(source, data, real=...))."
            )
        return self.readings
