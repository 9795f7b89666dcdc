"""A step in one compiled call, where Numba is there and the arrays suit it: Algorithm 2, or the hand-over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthostream.optimize.courses.hand_over import HandOver
from orthostream.optimize.polar_decomposition import accelerated
from orthostream.optimize.polar_decomposition.kernel import DOUBLE, SMALL
from orthostream.optimize.schedules import Schedule
from orthostream.optimize.state import State

_DOUBLE = np.dtype(np.float64)

#: The tolerance for small dictionaries, of which the plain path computes the oracle by singular values.
TIGHT = 1e-12

#: The tolerance of a point that is the oracle's answer itself, with nothing after it to make it orthogonal.
FULL = 1e-15


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
        t, x, gradient, memory, average, _ = state
        if not _is_plain(x, gradient, batch) or average is not None:
            return None
        if not batch.flags.writeable:  # another type to Numba, which would compile everything once more
            batch = batch.copy()
        rho, gamma = self._weights(t + 1, len(batch))
        tolerance = DOUBLE.vertex if x.shape[1] > SMALL else TIGHT
        x, gradient, low, moved = self._step(
            x, gradient, batch, float(rho), float(gamma), self._p, memory, tolerance, DOUBLE.iterate
        )
        return State(t + 1, x, gradient, low) if moved else None


class FusedHandOver:
    """The step of `HandOver`, for one problem in double precision; called like `FusedStep`."""

    __slots__ = ("_floor", "_p", "_sparse", "_step")

    def __init__(self, step: Callable[..., Any], course: HandOver) -> None:
        self._step, self._p, self._sparse = step, course.p, course.sparse
        self._floor = None if course.is_free else course.floor

    def __call__(self, state: State, batch: Any) -> State | None:
        """Return the state after one mini-batch, or None."""
        t, x, gradient, low, average, kept = state
        if not _is_plain(x, gradient, batch) or average is not None or kept is None:
            return None
        if not batch.flags.writeable:
            batch = batch.copy()
        floor, adaptive = (0.0, True) if self._floor is None else self._floor(len(batch), x.shape[1])
        x, gradient, low, numbers, rows, matrices, moved = self._step(
            x,
            gradient,
            batch,
            kept["numbers"],
            kept["atoms"],
            kept["matrices"],
            self._p,
            self._sparse,
            floor,
            adaptive,
            low,
            FULL,
        )
        if not moved:
            return None
        return State(t + 1, x, gradient, low, None, {"numbers": numbers, "atoms": rows, "matrices": matrices})


def _is_plain(x: Any, gradient: Any, batch: Any) -> bool:
    return (
        type(batch) is np.ndarray
        and batch.dtype == _DOUBLE
        and x.dtype == _DOUBLE
        and batch.ndim == 2
        and x.ndim == 2
        and batch.shape[1] == x.shape[0]
        and len(batch) > 0
        and batch.flags.c_contiguous
        and x.flags.c_contiguous
        and gradient.flags.c_contiguous
    )


def fused_step(schedule: Schedule, p: float) -> FusedStep | None:
    """Return the compiled step, or None where Numba is absent or turned off."""
    module = accelerated()
    return None if module is None else FusedStep(module.compiled_step, schedule, p)


def fused_hand_over(course: HandOver) -> FusedHandOver | None:
    """Return the compiled step of a hand-over, or None where Numba is absent or turned off."""
    if accelerated() is None:
        return None
    from orthostream.optimize.courses import compiled

    return FusedHandOver(compiled.compiled_hand_over, course)
