"""What a stream is, and the pieces that most of them are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize import polar

#: Features, samples of a mini-batch, part of the coefficients that are not zero, and mini-batches, unless said.
SIZE, BATCH, SPARSITY, STEPS = 10, 10, 0.3, 1500
#: Deviation of what is left of the signal in a silence; a coefficient that is not zero has 1.
FAINT = 1e-3


class Stream(NamedTuple):
    """The true dictionary and the mini-batches, to be read once."""

    truth: FloatArray
    """The atoms that occur, as columns (N, K); a stack (steps, N, K) if they change."""
    batches: Iterator[FloatArray]

    def truth_at(self, t: int) -> FloatArray:
        """Return the dictionary that made mini-batch t, counted from 1."""
        return self.truth if self.truth.ndim == 2 else self.truth[t - 1]


class Case(NamedTuple):
    """A stream under its name."""

    name: str
    make: Callable[[np.random.Generator, int], Stream]
    """Draws a stream of so many mini-batches."""
    steps: int = STEPS
    atoms: int | None = None
    """Atoms to learn; None is the number of features."""


def orthonormal(rng: np.random.Generator, size: int = SIZE, atoms: int | None = None) -> FloatArray:
    """Return a random dictionary with orthonormal columns."""
    return polar(rng.standard_normal((size, atoms or size)))[0]


def sparse_codes(
    rng: np.random.Generator, count: int, atoms: int = SIZE, sparsity: float | FloatArray = SPARSITY
) -> FloatArray:
    """Return Bernoulli-Gaussian codes as rows; each atom may have its own sparsity."""
    return rng.standard_normal((count, atoms)) * (rng.random((count, atoms)) < sparsity)


def plain_rows(rng: np.random.Generator, steps: int) -> tuple[FloatArray, FloatArray]:
    """Return a dictionary and Bernoulli-Gaussian samples that no one has spoilt yet."""
    truth = orthonormal(rng)
    return truth, sparse_codes(rng, steps * BATCH) @ truth.T


def mixed(
    rng: np.random.Generator, codes: FloatArray, *, size: int | None = None, noise: float = 0.0, batch: int = BATCH
) -> Stream:
    """Return the stream of given codes in a random dictionary, with white noise."""
    atoms = codes.shape[1]
    truth = orthonormal(rng, size or atoms, atoms)
    rows = codes @ truth.T
    if noise:
        rows += noise * rng.standard_normal(rows.shape)
    return cut(truth, rows, batch)


def cut(truth: FloatArray, rows: FloatArray, batch: int = BATCH) -> Stream:
    """Return rows as mini-batches."""
    return Stream(truth, (rows[i : i + batch] for i in range(0, len(rows), batch)))


def in_turns(count: int, on: int, off: int) -> BoolArray:
    """Return which of the samples are in the first part of their turn.

    >>> in_turns(6, 1, 2)
    array([ True, False, False,  True, False, False])
    """
    return np.arange(count) % (on + off) < on


def autoregressive(rng: np.random.Generator, shape: tuple[int, ...], memory: float) -> FloatArray:
    """Return normal numbers of variance 1 that keep ``memory`` of their value from one row to the next."""
    values: FloatArray = (1.0 - memory**2) ** 0.5 * rng.standard_normal(shape)
    values[0] /= (1.0 - memory**2) ** 0.5
    for i in range(1, len(values)):
        values[i] += memory * values[i - 1]
    return values
