"""How large coefficients are: heavy tails, no spike, unequal energies, memory, signs."""

from __future__ import annotations

import numpy as np

from .stream import BATCH, SIZE, SPARSITY, Stream, autoregressive, mixed, sparse_codes


def student_slabs(rng: np.random.Generator, steps: int, degrees: float) -> Stream:
    """Draw coefficients that are zero or Student."""
    shape = (steps * BATCH, SIZE)
    return mixed(rng, rng.standard_t(degrees, shape) * (rng.random(shape) < SPARSITY))


def student(rng: np.random.Generator, steps: int, degrees: float) -> Stream:
    """Draw Student codes; no coefficient is zero."""
    return mixed(rng, rng.standard_t(degrees, (steps * BATCH, SIZE)))


def laplacian(rng: np.random.Generator, steps: int) -> Stream:
    """Draw Laplacian codes; no coefficient is zero."""
    return mixed(rng, rng.laplace(scale=0.5**0.5, size=(steps * BATCH, SIZE)))


def signs(rng: np.random.Generator, steps: int) -> Stream:
    """Draw coefficients that are 0, 1 or -1."""
    shape = (steps * BATCH, SIZE)
    return mixed(rng, rng.choice([-1.0, 1.0], shape) * (rng.random(shape) < SPARSITY))


def lognormal_scales(rng: np.random.Generator, steps: int, deviation: float = 1.5) -> Stream:
    """Give each sample a scale of its own; ``deviation`` is that of its logarithm."""
    codes = sparse_codes(rng, steps * BATCH)
    return mixed(rng, codes * np.exp(deviation * rng.standard_normal((len(codes), 1))))


def volatility(rng: np.random.Generator, steps: int, deviation: float = 1.5, memory: float = 0.995) -> Stream:
    """Let the scale of the samples wander slowly, as the volatility of prices does."""
    codes = sparse_codes(rng, steps * BATCH)
    return mixed(rng, codes * np.exp(deviation * autoregressive(rng, (len(codes), 1), memory)))


def unequal_energies(rng: np.random.Generator, steps: int, least: float = 0.05) -> Stream:
    """Give the atoms deviations from 1 down to the least."""
    return mixed(rng, sparse_codes(rng, steps * BATCH) * np.geomspace(1.0, least, SIZE))


def slow_codes(rng: np.random.Generator, steps: int, memory: float = 0.99) -> Stream:
    """Let coefficients change slowly, with supports drawn anew for each sample."""
    shape = (steps * BATCH, SIZE)
    return mixed(rng, autoregressive(rng, shape, memory) * (rng.random(shape) < SPARSITY))


def non_negative(rng: np.random.Generator, steps: int) -> Stream:
    """Draw coefficients that are never negative, so that the samples are not centred."""
    return mixed(rng, np.abs(sparse_codes(rng, steps * BATCH)))


def counts(rng: np.random.Generator, steps: int, rate: float = 0.35) -> Stream:
    """Draw Poisson counts, 70 % of them zero."""
    return mixed(rng, rng.poisson(rate, (steps * BATCH, SIZE)).astype(np.float64))
