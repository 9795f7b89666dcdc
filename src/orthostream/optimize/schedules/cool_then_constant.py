"""Cool, then constant: settle at first, follow drift ever after."""

from __future__ import annotations

from orthostream._typing import FloatArray
from orthostream.optimize.schedules.base import Schedule
from orthostream.optimize.schedules.paper import PaperSchedule
from orthostream.optimize.sets.base import positive


class CoolThenConstant(Schedule):
    """The paper's weights until they reach a floor that forgets half of the past in ``half_life`` samples.

    The floor of rho follows from the size of each mini-batch, so that the memory is the same however the stream is
    cut; the floor of gamma is half of it.

    Examples
    --------
    >>> schedule = CoolThenConstant(half_life=60)
    >>> schedule.weights(1, 6)[0]
    1.0
    >>> round(schedule.weights(10**6, 60)[0], 12)
    0.5
    """

    def __init__(self, half_life: float) -> None:
        self.half_life = positive("half_life", half_life)

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        rho, gamma = PaperSchedule().weights(t, samples)
        floor = float(self.floor(samples))
        return max(rho, floor), max(gamma, 0.5 * floor)

    def floor(self, samples: FloatArray | float) -> FloatArray | float:
        """Return the least rho for mini-batches of this size."""
        return 1.0 - 0.5 ** (samples / self.half_life)
