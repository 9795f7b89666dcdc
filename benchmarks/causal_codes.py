"""Coding a stream causally: each mini-batch is coded with what was learnt before it, then learnt from."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from orthostream._typing import FloatArray
from orthostream.baselines import ForgettingPCA

#: Weights of the past among which the best is chosen in hindsight.
FACTORS = (
    *(0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.94),
    *(0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.999),
)

#: Steps whose mean time counts as one measurement: at least as many as a learner with a buffer waits.
CHUNK = 24


class Coder(Protocol):
    """Codes rows with a given number of coefficients, and learns from them."""

    def left(self, rows: FloatArray, counts: Sequence[int]) -> FloatArray:
        """Return the energy of the rows that codes with so many coefficients leave out."""

    def learn(self, rows: FloatArray) -> None:
        """Learn from the next mini-batch."""


class Orthonormal:
    """An estimator with orthonormal ``components_``, and perhaps a mean: the largest coefficients are the best code."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def left(self, rows: FloatArray, counts: Sequence[int]) -> FloatArray:
        mean = getattr(self.learner, "mean_", None)
        return energy_left((rows if mean is None else rows - mean) @ self.learner.components_.T, counts)

    def learn(self, rows: FloatArray) -> None:
        self.learner.partial_fit(rows)


class Coded(NamedTuple):
    """How a stream was coded."""

    errors: FloatArray
    """Relative root mean square error in percent, for each number of coefficients."""
    seconds: float
    """Time of learning from a mini-batch: the mean of the best chunk of steps in the second half."""


def coded(coder: Coder, rows: FloatArray, counts: Sequence[int], batch: int) -> Coded:
    """Code the rows causally, in mini-batches of a size."""
    left = np.zeros(len(counts))
    times = []
    for begin in range(0, len(rows), batch):
        some = rows[begin : begin + batch]
        left += coder.left(some, counts)
        start = time.perf_counter()
        coder.learn(some)
        times.append(time.perf_counter() - start)
    late = times[len(times) // 2 :]
    chunks = [late[i : i + CHUNK] for i in range(0, max(len(late) - CHUNK, 0) + 1, CHUNK)]
    return Coded(relative_error(left, rows), float(min(np.mean(chunk) for chunk in chunks)))


def energy_left(codes: FloatArray, counts: Sequence[int]) -> FloatArray:
    """Return the energy that is left when only the largest coefficients of each row are kept.

    >>> energy_left(np.array([[3.0, -4.0, 1.0]]), [1, 2])
    array([10.,  1.])
    """
    squares = -np.sort(-np.square(codes), axis=1)
    return np.array([squares[:, count:].sum() for count in counts])


def relative_error(left: FloatArray, rows: FloatArray) -> FloatArray:
    """Return the relative root mean square error in percent, given the energy that is left."""
    return np.asarray(100.0 * np.sqrt(left / np.square(rows).sum()))


def forgetting(
    factors: Iterable[float], first: Sequence[FloatArray], rows: FloatArray, counts: Sequence[int], batch: int
) -> dict[float, Coded]:
    """Return how forgetting PCA codes rows with each factor, after some first mini-batches."""
    found = {}
    for factor in sorted(set(factors)):
        coder = Orthonormal(ForgettingPCA(forgetting=factor))
        for some in first:
            coder.learn(some)
        found[factor] = coded(coder, rows, counts, batch)
    return found
