"""A longer linear memory: what the last steps of a sensor say of the error of its prediction.

The regression that all sensors share looks back two samples and a period. Signals of a high rate (vibration, an ECG)
remember more. Each sensor of a small group has a regression of its own, of the error of the shared prediction on the
sensor's last steps; it is used while it does better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.kernel.rows import add_outer, inner, shift_in, solve

#: Steps that are remembered.
ORDER = 16
#: The largest group whose sensors have such a memory, and are rehearsed often: the work grows with the sensors.
LARGEST_SMALL_GROUP = 24

_KEEP = 0.999
_RATE = 0.003
_EVERY = 16
#: Smooth signals differ from a straight line by little: their regressions are hardly stretched.
_STRETCH = 1.000001


class Memory(NamedTuple):
    """What both sides know of each sensor; every field is an array, changed in place."""

    steps: FloatArray
    sums: FloatArray
    weights: FloatArray
    #: What the memory adds to the prediction of this sample.
    extra: FloatArray
    #: Mean errors, in spreads: after conditioning on other sensors, without and with the memory; before conditioning,
    #: without and with it.
    errors: FloatArray


def new_memory(n_sensors: int) -> Memory:
    """Return what is known before the first sample; of no sensors if there is no memory."""
    return Memory(
        steps=np.zeros((n_sensors, ORDER)),
        sums=np.zeros((n_sensors, ORDER + 1, ORDER + 1)),
        weights=np.zeros((n_sensors, ORDER)),
        extra=np.zeros(n_sensors),
        errors=np.ones((n_sensors, 4)),
    )


def remembered(memory: Memory, i: int) -> float:
    """Return what to add to the prediction of a sensor; 0 while that does not pay."""
    extra = inner(memory.weights[i], memory.steps[i])
    if not (abs(extra) < 1e15):
        extra = 0.0
    memory.extra[i] = extra
    errors = memory.errors[i]
    if errors[1] < 0.985 * errors[0] or errors[3] < 0.92 * errors[2]:
        return extra
    return 0.0


def remember(
    memory: Memory, i: int, t: int, step: float, error: float, condition: float, trust: float, spread: float
) -> None:
    """Learn from the error of the shared prediction, of which ``condition`` was foreseen by other sensors."""
    if trust > 0.0:
        add_outer(memory.sums[i], memory.steps[i], error, trust, _KEEP)
        extra = float(memory.extra[i])
        rest = error - condition
        errors = memory.errors[i]
        errors[0] += _RATE * (min(abs(rest) / spread, 12.0) - float(errors[0]))
        errors[1] += _RATE * (min(abs(rest - extra) / spread, 12.0) - float(errors[1]))
        errors[2] += _RATE * (min(abs(error) / spread, 12.0) - float(errors[2]))
        errors[3] += _RATE * (min(abs(error - extra) / spread, 12.0) - float(errors[3]))
        if (t + i) % _EVERY == 0 and t >= 32:
            solve(memory.sums[i], 1.0, memory.weights[i], _STRETCH)
            for j in range(ORDER):
                if not (abs(float(memory.weights[i, j])) < 1e6):
                    memory.weights[i] = 0.0
                    memory.sums[i] = 0.0
                    break
    shift_in(memory.steps[i], step)
