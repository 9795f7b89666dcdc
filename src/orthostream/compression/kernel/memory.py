"""A longer linear memory: what the last steps of a sensor say of the error of its prediction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.kernel.rows import add_outer, solve

ORDER = 16
LARGEST = 24


class Memory(NamedTuple):
    steps: FloatArray
    sums: FloatArray
    weights: FloatArray
    extra: FloatArray
    errors: FloatArray
    vector: FloatArray


def new_memory(n: int) -> Memory:
    m = n if n <= LARGEST else 0
    return Memory(
        steps=np.zeros((m, ORDER)),
        sums=np.zeros((m, ORDER + 1, ORDER + 1)),
        weights=np.zeros((m, ORDER)),
        extra=np.zeros(m),
        errors=np.ones((m, 4)),
        vector=np.zeros(ORDER + 1),
    )


def remembered(memory: Memory, i: int) -> float:
    """Return what is to be added to the prediction of a sensor; 0 where that does not pay."""
    extra = 0.0
    for j in range(ORDER):
        extra += float(memory.weights[i, j]) * float(memory.steps[i, j])
    memory.extra[i] = extra
    if memory.errors[i, 1] < 0.985 * memory.errors[i, 0] or memory.errors[i, 3] < 0.92 * memory.errors[i, 2]:
        return extra
    return 0.0


def take_step(memory: Memory, i: int, t: int, step: float, error: float, trust: float, spread: float, condition: float) -> None:
    """Learn from the error of the prediction without the memory, and remember the last step."""
    if trust > 0.0:
        vector = memory.vector
        for j in range(ORDER):
            vector[j] = memory.steps[i, j]
        vector[ORDER] = error
        add_outer(memory.sums[i], vector, trust, 0.999)
        one = min(abs(error - condition) / spread, 12.0)
        two = min(abs(error - condition - float(memory.extra[i])) / spread, 12.0)
        memory.errors[i, 0] += 0.003 * (one - float(memory.errors[i, 0]))
        memory.errors[i, 1] += 0.003 * (two - float(memory.errors[i, 1]))
        one = min(abs(error) / spread, 12.0)
        two = min(abs(error - float(memory.extra[i])) / spread, 12.0)
        memory.errors[i, 2] += 0.003 * (one - float(memory.errors[i, 2]))
        memory.errors[i, 3] += 0.003 * (two - float(memory.errors[i, 3]))
        if (t + i) % 16 == 0 and t >= 32:
            solve(memory.sums[i], 1.0, memory.weights[i])
            for j in range(ORDER):
                if not (abs(float(memory.weights[i, j])) < 1e6):
                    memory.weights[i] = 0.0
                    memory.sums[i] = 0.0
                    break
    for j in range(ORDER - 1, 0, -1):
        memory.steps[i, j] = memory.steps[i, j - 1]
    memory.steps[i, 0] = step
