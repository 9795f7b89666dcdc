"""Which coefficients are not zero: supports that stay, go together, are rare, or leave atoms out."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, FloatArray

from .stream import BATCH, SIZE, SPARSITY, Stream, in_turns, mixed, sparse_codes


def bernoulli(rng: np.random.Generator, steps: int, sparsity: float = SPARSITY, noise: float = 0.0) -> Stream:
    """Draw Bernoulli-Gaussian codes, as the paper does, with noise or without."""
    return mixed(rng, sparse_codes(rng, steps * BATCH, sparsity=sparsity), noise=noise)


def staying(rng: np.random.Generator, steps: int, samples: int) -> Stream:
    """Keep each support for so many samples."""
    count = steps * BATCH
    gates = np.repeat(rng.random((-(-count // samples), SIZE)) < SPARSITY, samples, axis=0)[:count]
    return _gated(rng, gates)


def blocks(rng: np.random.Generator, steps: int, atoms: int, within: float = 0.75) -> Stream:
    """Wake atoms in blocks; in a block that is awake an atom is active with probability ``within``."""
    count = steps * BATCH
    awake = np.repeat(rng.random((count, SIZE // atoms)) < SPARSITY / within, atoms, axis=1)
    return _gated(rng, awake & (rng.random((count, SIZE)) < within))


def blocks_together(rng: np.random.Generator, steps: int, atoms: int) -> Stream:
    """Activate all atoms of a block or none; normal coefficients would make the atoms of a block unidentifiable."""
    count = steps * BATCH
    gates = np.repeat(rng.random((count, SIZE // atoms)) < SPARSITY, atoms, axis=1)
    return mixed(rng, gates * rng.laplace(scale=0.5**0.5, size=gates.shape))


def correlated_pairs(rng: np.random.Generator, steps: int, correlation: float) -> Stream:
    """Correlate the supports of the two atoms of each pair."""
    count = steps * BATCH
    gates = rng.random((count, SIZE)) < SPARSITY
    copied = rng.random((count, SIZE // 2)) < correlation
    gates[:, 1::2] = np.where(copied, gates[:, ::2], gates[:, 1::2])
    return _gated(rng, gates)


def correlated_all(rng: np.random.Generator, steps: int, correlation: float) -> Stream:
    """Correlate the supports of any two atoms: each often copies a common one."""
    count = steps * BATCH
    common = rng.random((count, 1)) < SPARSITY
    copied = rng.random((count, SIZE)) < correlation**0.5
    return _gated(rng, np.where(copied, common, rng.random((count, SIZE)) < SPARSITY))


def half_at_a_time(rng: np.random.Generator, steps: int, samples: int = 500) -> Stream:
    """Activate the first half of the atoms and the second half in turns."""
    codes = sparse_codes(rng, steps * BATCH)
    first = in_turns(len(codes), samples, samples)
    codes[~first, : SIZE // 2] = 0.0
    codes[first, SIZE // 2 :] = 0.0
    return mixed(rng, codes)


def later_atoms(rng: np.random.Generator, steps: int, atoms: int = 2) -> Stream:
    """Keep some atoms silent for the first half of the stream."""
    codes = sparse_codes(rng, steps * BATCH)
    codes[: len(codes) // 2, :atoms] = 0.0
    return mixed(rng, codes)


def low_rank(rng: np.random.Generator, steps: int, atoms: int, size: int, noise: float = 0.0) -> Stream:
    """Use fewer atoms than features; the learner looks for as many as there are features."""
    return mixed(rng, sparse_codes(rng, steps * BATCH, atoms), size=size, noise=noise)


def unequal_sparsity(rng: np.random.Generator, steps: int, least: float = 0.05, most: float = 0.6) -> Stream:
    """Make some atoms rare and others active most of the time."""
    return mixed(rng, sparse_codes(rng, steps * BATCH, sparsity=np.geomspace(least, most, SIZE)))


def one_at_a_time(rng: np.random.Generator, steps: int, *, one_hot: bool) -> Stream:
    """Make each sample one atom, or a normal multiple of it."""
    count = steps * BATCH
    codes = np.eye(SIZE)[rng.integers(SIZE, size=count)]
    return mixed(rng, codes if one_hot else codes * rng.standard_normal((count, 1)))


def _gated(rng: np.random.Generator, gates: BoolArray) -> Stream:
    codes: FloatArray = gates * rng.standard_normal(gates.shape)
    return mixed(rng, codes)
