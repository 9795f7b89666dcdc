"""The schedule of a memory whose length adapts to the stream."""

from __future__ import annotations

import math

from orthostream import _checks
from orthostream.optimize.schedules.base import Schedule


class AdaptiveSchedule(Schedule):
    """Small weights while the dictionary stays the same, large ones after it changes.

    The schedule itself does not see the stream: its weights fall with rho = 3 / (t + 2), and gamma = 1. A `HandOver`
    watches the stream and replaces t by a clock that it can set back.

    Parameters
    ----------
    half_life : float, optional
        The longest half-life of the memory, in samples. None means no limit.
    half_life_per_atom : float, optional
        The same in samples per atom of the dictionary. Only an estimate knows the number of atoms; `weights` uses only
        ``half_life``.

    Examples
    --------
    >>> schedule = AdaptiveSchedule(half_life=60)
    >>> schedule.weights(1, 6), schedule.weights(4, 6)
    ((1.0, 1.0), (0.5, 1.0))
    >>> round(schedule.weights(10**6, 60)[0], 12)
    0.5
    """

    def __init__(self, half_life: float | None = None, half_life_per_atom: float | None = None) -> None:
        self.half_life = None if half_life is None else _checks.positive("half_life", half_life)
        self.half_life_per_atom = (
            None if half_life_per_atom is None else _checks.positive("half_life_per_atom", half_life_per_atom)
        )

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        floor = 1.0 - 0.5 ** (samples / (self.half_life or math.inf))
        return max(3.0 / (t + 2.0), floor), 1.0

    def longest(self, atoms: int) -> float:
        """Return the longest half-life in samples, for a dictionary of this many atoms; infinite if there is no limit.

        >>> AdaptiveSchedule().longest(10), AdaptiveSchedule(half_life_per_atom=20).longest(10)
        (inf, 200.0)
        """
        return min(self.half_life or math.inf, (self.half_life_per_atom or math.inf) * atoms)
