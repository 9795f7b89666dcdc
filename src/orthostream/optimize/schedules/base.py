"""What a schedule is to the solver."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Schedule(ABC):
    """The two weights of each step.

    ``rho`` is the weight of the *new* gradient in the running mean, ``gamma`` that of the oracle's vertex in the next
    iterate. Both lie in [0, 1]; steps count from 1.
    """

    def __repr__(self) -> str:
        """Return how it was made."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @abstractmethod
    def weights(self, t: int, samples: int) -> tuple[float, float]:
        """Return (rho, gamma) of step t, whose mini-batch has this many samples."""


def fraction(name: str, value: float) -> float:
    """Return a weight as a float, or raise ValueError where it lies outside (0, 1]."""
    number = float(value)
    if not 0.0 < number <= 1.0:
        raise ValueError(f"{name} must lie in (0, 1], got {value!r}.")
    return number
