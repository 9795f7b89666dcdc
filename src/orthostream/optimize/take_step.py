"""The compiled form of a step of Algorithm 1 (estimate, oracle, post-step), for one problem and for a stack.

``update``, ``oracle`` and ``post_step`` are not defined here: `kernel.compiled_step` fills in the kernels of the
solver's parts.
"""
# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

from __future__ import annotations

from typing import Any

import numpy as np


def take_step(x: Any, low: float, block: Any, batch: Any, weights: Any, a: float, b: float, c: float, d: float) -> Any:
    """Return the next point, the memories of oracle and estimate, and whether the step is certified.

    The last four numbers are the estimate's settings. A negative gamma means that the estimate refuses the mini-batch,
    because it is zero, extreme or not finite; the step is then not taken.
    """
    gradient, gamma, block = update(block, x, batch, weights, a, b, c, d)
    if gamma < 0.0:
        return x, low, block, False
    vertex, low, found = oracle(gradient, x, low, gamma)
    if not found:
        return x, low, block, False
    point, good = post_step(x, vertex, gamma)
    return point, low, block, good


def take_steps(x: Any, low: Any, blocks: Any, batch: Any, weights: Any, a: float, b: float, c: float, d: float) -> Any:
    """Return the same for a stack of problems, along the first axis."""
    points, lows, new = np.empty_like(x), np.empty_like(low), np.empty_like(blocks)
    good = np.empty(low.size, np.bool_)
    for i in range(low.size):
        points[i], lows[i], new[i], good[i] = take_step(x[i], low[i], blocks[i], batch[i], weights[i], a, b, c, d)
    return points, lows, new, good
