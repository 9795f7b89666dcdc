"""A memory that finds its own length."""

from __future__ import annotations

from orthostream._typing import FloatArray
from orthostream.optimize.schedules.base import Schedule
from orthostream.optimize.sets.base import positive


class AdaptiveSchedule(Schedule):
    """Cool as long as nothing moves, and heat up again when something does.

    Alone it knows of no movement and cools like a plain mean that favours the late: rho = 3 / (t + 2), with gamma = 1.
    A `HandOver` watches the stream and says at which t the clock should stand.

    Parameters
    ----------
    half_life : float, optional
        The longest memory, in samples: half of what is known is forgotten in that many. None allows any length.
    half_life_per_atom : float, optional
        The same in samples for each atom of the dictionary, for a bound that suits every size. Only a course knows how
        many atoms there are; alone the schedule goes by ``half_life``.

    Examples
    --------
    >>> schedule = AdaptiveSchedule(half_life=60)
    >>> schedule.weights(1, 6), schedule.weights(4, 6)
    ((1.0, 1.0), (0.5, 1.0))
    >>> round(schedule.weights(10**6, 60)[0], 12)
    0.5
    """

    def __init__(self, half_life: float | None = None, half_life_per_atom: float | None = None) -> None:
        self.half_life = None if half_life is None else positive("half_life", half_life)
        self.half_life_per_atom = (
            None if half_life_per_atom is None else positive("half_life_per_atom", half_life_per_atom)
        )

    def weights(self, t: int, samples: int) -> tuple[float, float]:
        return max(3.0 / (t + 2.0), float(self.floor(samples, 0))), 1.0

    def floor(self, samples: FloatArray | float, atoms: int) -> FloatArray | float:
        """Return the least rho for mini-batches of this size and a dictionary of so many atoms.

        >>> AdaptiveSchedule().floor(10, 10), AdaptiveSchedule(half_life_per_atom=1).floor(10, 10)
        (0.0, 0.5)
        """
        lives = []
        if self.half_life is not None:
            lives.append(self.half_life)
        if self.half_life_per_atom is not None and atoms:
            lives.append(self.half_life_per_atom * atoms)
        return 1.0 - 0.5 ** (samples / min(lives)) if lives else 0.0
