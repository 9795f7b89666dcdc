"""The schedule of stochastic Frank-Wolfe, the paper's first baseline."""

from __future__ import annotations

from orthostream.optimize.schedules.base import Schedule


class MokhtariSchedule(Schedule):
    """The weights 4 (t+8)^(-2/3) and 2 / (t+8) of SFW (Mokhtari, Hassani and Karbasi 2020).

    Examples
    --------
    >>> rho, gamma = MokhtariSchedule().weights(1, 10)
    >>> round(rho, 3), round(gamma, 3)
    (0.924, 0.222)
    """

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        return min(1.0, 4.0 * (t + 8) ** (-2.0 / 3.0)), 2.0 / (t + 8)
