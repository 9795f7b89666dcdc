"""Other sizes: of the mini-batch, of the sample, of the dictionary."""

from __future__ import annotations

import numpy as np

from .stream import BATCH, SIZE, SPARSITY, Stream, mixed, orthonormal, sparse_codes


def batches_of(rng: np.random.Generator, steps: int, batch: int) -> Stream:
    """Cut the plain stream into mini-batches of another size."""
    return mixed(rng, sparse_codes(rng, steps * batch), batch=batch)


def uneven_batches(rng: np.random.Generator, steps: int, largest: int = 100) -> Stream:
    """Draw the size of each mini-batch from 1 to the largest, evenly in the logarithm."""
    sizes = np.exp(rng.uniform(0.0, np.log(largest + 1.0), steps)).astype(int)
    truth = orthonormal(rng)
    return Stream(truth, (sparse_codes(rng, size, SIZE) @ truth.T for size in sizes))


def few_atoms(
    rng: np.random.Generator, steps: int, size: int, atoms: int, noise: float, sparsity: float = SPARSITY
) -> Stream:
    """Use fewer atoms than features, with noise in all directions."""
    return mixed(rng, sparse_codes(rng, steps * BATCH, atoms, sparsity), size=size, noise=noise)
