"""Gibbs sampling of a dictionary with a Beta-Bernoulli prior: one function for each conditional.

The model of n samples of N features and K atoms::

    y_i = sum_k z_ik s_ik d_k + e_i,      z_ik ~ Bernoulli(pi_k),      pi_k ~ Beta(a0 / K, b0 (K - 1) / K),
    d_k ~ N(0, 1 / N),      s_ik ~ N(0, 1 / gamma_s),      e_i ~ N(0, 1 / gamma_e),      both gammas ~ Gamma

A code x_ik is z_ik s_ik. The weight s of an unused atom does not affect the samples, so it is integrated out: an
indicator is drawn together with its weight. The chain mixes faster, and the posterior of everything else is unchanged.
Atoms and codes have one row for each atom, and loops run over atoms only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from orthostream._typing import FloatArray

#: Shape and rate of both Gamma priors: almost flat for samples of about unit size.
GAMMA_PRIOR = 1e-6


class Draw(NamedTuple):
    """One sample of all unknowns."""

    atoms: FloatArray
    """(K, N)"""
    codes: FloatArray
    """(K, n), zero where an atom is not used."""
    probabilities: FloatArray
    """(K,), the probability that a sample uses the atom."""
    weight_precision: float
    noise_precision: float


def sweep(draw: Draw, samples: FloatArray, a0: float, b0: float, rng: np.random.RandomState) -> Draw:
    """Return the next sample of the chain: draw from each conditional once."""
    codes = draw_codes(draw, samples, rng)
    atoms = draw_atoms(draw._replace(codes=codes), samples, rng)
    used = np.count_nonzero(codes, axis=1)
    return Draw(
        atoms,
        codes,
        draw_probabilities(used, samples.shape[0], a0, b0, rng),
        draw_precision(codes[codes != 0.0], rng),
        draw_precision(samples - codes.T @ atoms, rng),
    )


def draw_codes(draw: Draw, samples: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Draw indicators and weights of all samples, atom by atom.

    With c = d'(y minus the part of the other atoms) and p = gamma_s + gamma_e d'd, the weight of a used atom is normal
    with mean m = gamma_e c / p and variance 1 / p, and the odds of using it are
    pi / (1 - pi) sqrt(gamma_s / p) exp(p m^2 / 2).
    """
    gram = draw.atoms @ draw.atoms.T
    correlations = draw.atoms @ samples.T
    codes: FloatArray = draw.codes.copy()
    noise, weight = draw.noise_precision, draw.weight_precision
    for k, probability in enumerate(draw.probabilities):
        precision = weight + noise * gram[k, k]
        mean = correlations[k] - gram[k] @ codes
        mean += gram[k, k] * codes[k]
        mean *= noise / precision
        prior = np.log(probability) - np.log1p(-probability) + 0.5 * np.log(weight / precision)
        used = rng.uniform(size=mean.shape) < expit(prior + 0.5 * precision * mean * mean)
        mean += rng.standard_normal(mean.shape) / precision**0.5
        codes[k] = np.where(used, mean, 0.0)
    return codes


def draw_atoms(draw: Draw, samples: FloatArray, rng: np.random.RandomState) -> FloatArray:
    """Draw the atoms one by one: normal around the regression of the residual of the others on the codes."""
    atoms: FloatArray = draw.atoms.copy()
    gram = draw.codes @ draw.codes.T
    products = draw.codes @ samples
    features = atoms.shape[1]
    for k in range(len(atoms)):
        precision = features + draw.noise_precision * gram[k, k]
        left = products[k] - gram[k] @ atoms + gram[k, k] * atoms[k]
        atoms[k] = draw.noise_precision / precision * left + rng.standard_normal(features) / precision**0.5
    return atoms


def draw_probabilities(
    used: FloatArray, n_samples: int, a0: float, b0: float, rng: np.random.RandomState
) -> FloatArray:
    """Draw the probability of each atom, given how many samples use it."""
    count = len(used)
    # The second parameter must be positive; it would be 0 for a single atom that all samples use.
    never = np.maximum(b0 * (count - 1) / count + n_samples - used, 1e-6)
    drawn = rng.beta(a0 / count + used, never)
    # With a probability of exactly 0 or 1 the atom would stay off or on for ever.
    return np.clip(drawn, 1e-300, 1.0 - 1e-16)


def draw_precision(values: FloatArray, rng: np.random.RandomState) -> float:
    """Draw the precision of normal values of mean zero."""
    shape = GAMMA_PRIOR + 0.5 * values.size
    rate = GAMMA_PRIOR + 0.5 * float(np.vdot(values, values))
    # Without data a draw from the flat prior can round to zero, which is no valid precision.
    return max(float(rng.gamma(shape)) / rate, 1e-12)
