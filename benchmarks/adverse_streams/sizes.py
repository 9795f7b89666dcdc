"""Other sizes: of the mini-batch, of the sample, of the dictionary."""

from __future__ import annotations

import numpy as np

from .stream import BATCH, SIZE, Stream, mixed, orthonormal, sparse_codes


def batches_of(rng: np.random.Generator, steps: int, batch: int) -> Stream:
    """Mini-batches of another size."""
    return mixed(rng, sparse_codes(rng, steps * batch), batch=batch)


def uneven_batches(rng: np.random.Generator, steps: int, largest: int = 100) -> Stream:
    """The size of a mini-batch is drawn from 1 to the largest, evenly in the logarithm."""
    sizes = np.exp(rng.uniform(0.0, np.log(largest + 1.0), steps)).astype(int)
    truth = orthonormal(rng)
    return Stream(truth, (sparse_codes(rng, size, SIZE) @ truth.T for size in sizes))


def few_atoms(rng: np.random.Generator, steps: int, size: int, atoms: int, noise: float) -> Stream:
    """Fewer atoms than features, and noise in all directions."""
    return mixed(rng, sparse_codes(rng, steps * BATCH, atoms), size=size, noise=noise)
