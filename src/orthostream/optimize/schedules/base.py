"""The contract of a schedule."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Schedule(ABC):
    """The two weights of each step.

    ``rho`` is the weight of the *new* gradient in the running mean, ``gamma`` that of the oracle's vertex in the next
    iterate. Both lie in [0, 1]; steps count from 1.
    """

    def __repr__(self) -> str:
        """Return the call that makes an equal schedule."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    @abstractmethod
    def weights(self, t: int, samples: int) -> tuple[float, float]:
        """Return (rho, gamma) of step t, whose mini-batch has this many samples."""
