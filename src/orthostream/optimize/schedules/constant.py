"""Constant weights."""

from __future__ import annotations

from orthostream import _checks
from orthostream.optimize.schedules.base import Schedule


class ConstantSchedule(Schedule):
    """The same two weights at every step: it never converges, but follows every change.

    The defaults were the best constant weights for causal coding of a city's temperature sensors, in mini-batches of 6.
    A target that moves faster needs a larger rho and a smaller gamma.

    Examples
    --------
    >>> ConstantSchedule(rho=0.2, gamma=0.1).weights(1000, 10)
    (0.2, 0.1)
    """

    def __init__(self, rho: float = 0.03, gamma: float = 1.0) -> None:
        self.rho = _checks.fraction("rho", rho)
        self.gamma = _checks.fraction("gamma", gamma)

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        return self.rho, self.gamma
