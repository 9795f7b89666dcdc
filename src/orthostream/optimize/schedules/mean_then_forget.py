"""The plain mean of all gradients, which becomes one that forgets; each vertex replaces the point."""

from __future__ import annotations

from orthostream import _checks
from orthostream.optimize.schedules.base import Schedule


class MeanThenForget(Schedule):
    """rho = 1/t, but at least what forgets half of the past in ``half_life`` samples; gamma = 1.

    With gamma = 1 a step on the spectral ball is the fixed-point iteration D = polar(-G).

    Examples
    --------
    >>> schedule = MeanThenForget(half_life=300)
    >>> schedule.weights(2, 100), round(schedule.weights(10**6, 300)[0], 12)
    ((0.5, 1.0), 0.5)
    """

    def __init__(self, half_life: float) -> None:
        self.half_life = _checks.positive("half_life", half_life)

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        return max(1.0 / t, 1.0 - 0.5 ** (samples / self.half_life)), 1.0
