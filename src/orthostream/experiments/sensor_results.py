"""The data of Table I: squared errors of every method in every slot, and tests between methods."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.experiments.methods import PROPOSED
from orthostream.experiments.plan import SensorReadings
from orthostream.experiments.protocol import AFTER, BEFORE
from orthostream.experiments.registry import BASELINES
from orthostream.metrics import DieboldMariano, diebold_mariano

#: The time horizon of the paper's tests.
_HORIZON = 4


def rmse(errors: FloatArray, energy: FloatArray) -> FloatArray:
    """Return the relative RMSE over all slots, from squared errors with slots on the last axis.

    >>> rmse(np.array([[1.0, 3.0], [0.0, 0.0]]), np.array([8.0, 8.0]))
    array([0.5, 0. ])
    """
    total: FloatArray = np.sqrt(errors.sum(axis=-1) / energy.sum())
    return total


class Measured(NamedTuple):
    """Measurements of a method: squared errors (etas, slots), seconds per slot, and the setting chosen for each eta."""

    before: FloatArray
    after: FloatArray
    seconds: FloatArray
    chosen: list[str]

    def errors(self, protocol: str) -> FloatArray:
        """Return the squared errors under a protocol."""
        return self.before if protocol == BEFORE else self.after


@dataclass(frozen=True)
class SensorResults:
    """Measurements of all methods on the same slots."""

    readings: SensorReadings
    measured: dict[str, Measured]
    energy: FloatArray
    #: Whether the baselines were fully trained, unlike in a quick run.
    trained: bool = True

    @property
    def comparable(self) -> bool:
        """Whether claims about all baselines can be judged: all were run on the paper's data and fully trained."""
        return self.readings.real and self.trained and len(self.baselines) == len(BASELINES)

    @property
    def baselines(self) -> list[str]:
        """The paper's baselines that were run."""
        return [method for method in BASELINES if method in self.measured]

    def percent(self, method: str, protocol: str) -> FloatArray:
        """Return the relative RMSE in per cent, for each eta."""
        return 100.0 * rmse(self.measured[method].errors(protocol), self.energy)

    @cached_property
    def tests(self) -> dict[tuple[str, str], list[DieboldMariano]]:
        """Tests of the proposed method against the others by (method, protocol): negative if the proposed is better."""
        return {
            (method, protocol): self.compare(method, protocol)
            for method in self.measured
            if method != PROPOSED
            for protocol in (AFTER, BEFORE)
        }

    def compare(self, method: str, protocol: str, variant: str = "corrected") -> list[DieboldMariano]:
        """Return the tests of the proposed method against another one, for each eta."""
        pairs = zip(self.measured[PROPOSED].errors(protocol), self.measured[method].errors(protocol), strict=True)
        return [
            diebold_mariano(mine / self.energy, theirs / self.energy, horizon=_HORIZON, variant=variant)
            for mine, theirs in pairs
        ]
