"""Uniform random numbers that cover the unit interval evenly."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


def stratified(count: int, rng: np.random.RandomState) -> FloatArray:
    """Draw one number from the middle of each of ``count`` equal parts of (0, 1), in random order.

    A network of a few dozen sensors is a small sample: with independent draws, one network would have three bad sensors
    and the next none. With stratified draws, every network has about the same share of them.

    Examples
    --------
    >>> import numpy as np
    >>> sorted((4 * stratified(4, np.random.RandomState(0))).astype(int).tolist())
    [0, 1, 2, 3]
    """
    return (rng.permutation(count) + rng.uniform(0.2, 0.8, size=count)) / max(count, 1)
