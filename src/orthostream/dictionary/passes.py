"""The passes of `fit` over a data set: their order, their number, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from orthostream._typing import FloatArray


def mini_batches(
    X: Any, weights: FloatArray | None, size: int, rng: np.random.RandomState | None
) -> Iterator[tuple[Any, FloatArray | None]]:
    """Yield the mini-batches of one pass, with their weights; a generator shuffles the rows.

    >>> rows = np.arange(5.0).reshape(5, 1)
    >>> [batch.ravel().tolist() for batch, _ in mini_batches(rows, None, 2, None)]
    [[0.0, 1.0], [2.0, 3.0], [4.0]]
    """
    order = None if rng is None else rng.permutation(X.shape[0])
    for start in range(0, X.shape[0], size):
        rows: Any = slice(start, start + size)
        if order is not None:
            rows = order[rows]
        yield X[rows], None if weights is None else weights[rows]


def shuffling(shuffle: Any, random_state: Any) -> np.random.RandomState | None:
    """Return the generator that the parameters ``shuffle`` and ``random_state`` stand for; None for rows as they are.

    >>> shuffling("yes", 0)
    Traceback (most recent call last):
    ValueError: shuffle must be True or False, got 'yes'.
    """
    if not isinstance(shuffle, bool | np.bool):
        raise ValueError(f"shuffle must be True or False, got {shuffle!r}.")
    return check_random_state(random_state) if shuffle else None


def relative_motion(before: FloatArray, after: FloatArray) -> float:
    """Return how far a dictionary with atoms as columns moved, relative to its norm; a change of sign is no motion.

    >>> relative_motion(np.eye(2), np.diag([1.0, -1.0]))
    0.0
    """
    signs = np.where((before * after).sum(axis=0) < 0.0, -1.0, 1.0)
    return float(np.linalg.norm(after * signs - before) / np.linalg.norm(before))
