"""Algorithm 2 in one compiled call, where Numba is there and the arrays suit it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthostream.optimize.polar_decomposition import accelerated
from orthostream.optimize.polar_decomposition.kernel import DOUBLE, SMALL
from orthostream.optimize.schedules import Schedule
from orthostream.optimize.state import State

_DOUBLE = np.dtype(np.float64)

#: The tolerance for small dictionaries, of which the plain path computes the oracle by singular values.
TIGHT = 1e-12


def largest_square(p: float, dtype: np.dtype[Any]) -> float:
    """Return how large a sum of squares of a mini-batch may be, and its inverse small, to leave room for p-th powers.

    >>> largest_square(3.0, np.dtype(np.float64)) > 1e100, largest_square(3.0, np.dtype(np.float32)) < 1e20
    (True, True)
    """
    return float(10.0 ** ((370.0 if dtype == _DOUBLE else 45.0) / p))


class FusedStep:
    """The step of Algorithm 2 with a contrast of power p, for one problem in double precision.

    Calling it returns the next state, or None where the mini-batch needs the general step: another type or layout,
    values that are missing, infinite, all zero or extreme, or a gradient that calls for the exact path.
    """

    __slots__ = ("_p", "_step", "_weights")

    def __init__(self, step: Callable[..., Any], schedule: Schedule, p: float) -> None:
        self._step = step
        self._weights = schedule.weights
        self._p = p

    def __call__(self, state: State, batch: Any) -> State | None:
        """Return the state after one mini-batch, or None."""
        t, x, gradient, memory, average = state
        if (
            type(batch) is not np.ndarray
            or batch.dtype != _DOUBLE
            or x.dtype != _DOUBLE
            or batch.ndim != 2
            or x.ndim != 2
            or batch.shape[1] != x.shape[0]
            or len(batch) == 0
            or not batch.flags.c_contiguous
            or not x.flags.c_contiguous
            or not gradient.flags.c_contiguous
            or average is not None
        ):
            return None
        if not batch.flags.writeable:  # another type to Numba, which would compile everything once more
            batch = batch.copy()
        rho, gamma = self._weights(t + 1, len(batch))
        tolerance = DOUBLE.vertex if x.shape[1] > SMALL else TIGHT
        x, gradient, low, moved = self._step(
            x, gradient, batch, float(rho), float(gamma), self._p, memory, tolerance, DOUBLE.iterate
        )
        return State(t + 1, x, gradient, low) if moved else None


def fused_step(schedule: Schedule, p: float) -> FusedStep | None:
    """Return the compiled step, or None where Numba is absent or turned off."""
    module = accelerated()
    return None if module is None else FusedStep(module.compiled_step, schedule, p)
