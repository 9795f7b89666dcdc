"""The schedule of Algorithms 1 and 2."""

from __future__ import annotations

from orthostream.optimize.schedules.base import Schedule


class PaperSchedule(Schedule):
    """The weights 4 (t+1)^(-1/2) and 2 (t+2)^(-3/4), clipped to 1.

    The printed first weight exceeds 1 for all t < 15, which is not possible in a convex combination. With clipping the
    first fifteen steps do not average at all.

    Examples
    --------
    >>> PaperSchedule().weights(14, 10)
    (1.0, 0.25)
    >>> PaperSchedule().weights(99, 10)[0]
    0.4
    """

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        return min(1.0, 4.0 * (t + 1) ** -0.5), min(1.0, 2.0 * (t + 2) ** -0.75)
