"""Weights that fall at first and then stay constant: converge first, then follow drift."""

from __future__ import annotations

from orthostream import _checks
from orthostream.optimize.schedules.base import Schedule
from orthostream.optimize.schedules.paper import PaperSchedule


class CoolThenConstant(Schedule):
    """The paper's weights, but at least those that forget half of the past in ``half_life`` samples.

    This smallest rho is computed from the size of each mini-batch, so that the memory does not depend on how the stream
    is cut. The smallest gamma is half of it.

    Examples
    --------
    >>> schedule = CoolThenConstant(half_life=60)
    >>> schedule.weights(1, 6)[0]
    1.0
    >>> round(schedule.weights(10**6, 60)[0], 12)
    0.5
    """

    def __init__(self, half_life: float) -> None:
        self.half_life = _checks.positive("half_life", half_life)

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        rho, gamma = PaperSchedule().weights(t, samples)
        floor = 1.0 - 0.5 ** (samples / self.half_life)
        return max(rho, floor), max(gamma, 0.5 * floor)

    def longest(self, atoms: int) -> float:
        """Return the half-life in samples, for any number of atoms."""
        return self.half_life
