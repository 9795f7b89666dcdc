"""The array operations of a hand-over in NumPy, for one problem or a stack of them.

`loops` has the same operations as loops for a compiler. A parameter is a number, or an array with one for each problem.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.estimates.hand_over.constants import TINY
from orthostream.optimize.estimates.hand_over.layout import FORCE, GATED, POWER, SQUARE, TOGETHER
from orthostream.optimize.objectives.base import Batch, rows_times

Number = Any
"""A float, or an array of shape (*stack, 1, 1)."""


class Heard(NamedTuple):
    """The coefficients of a mini-batch, and how much each sample counts."""

    z: FloatArray
    square: FloatArray
    share: Number
    """The weight of each sample in a mean: a number, or an array of shape (..., B, 1)."""
    samples: FloatArray
    """The sum of the weights of the samples that are not zero, of each problem."""
    energy: FloatArray
    """The mean square of a coefficient, of each problem."""
    inside: FloatArray
    """The share of the energy that the coefficients hold, of each problem."""


def listen(batch: Batch, x: FloatArray, weights: FloatArray | None) -> Heard:
    """Return the coefficients of a mini-batch; samples of zeros get no weight."""
    z = rows_times(batch, x)
    square = z * z
    energies = square.sum(axis=-1)
    count, atoms = z.shape[-2:]
    if not energies.all():  # a sample of zeros is no evidence of a narrow spike
        weights = (energies > 0.0) * (1.0 if weights is None else weights)
    if weights is None:
        share: Number = 1.0 / count
        samples = np.full(z.shape[:-2], float(count))
        energy = energies.sum(axis=-1) * (share / atoms)
    else:
        samples = np.broadcast_to(weights, energies.shape).sum(axis=-1, dtype=float)
        share = (weights / np.maximum(samples, TINY)[..., None])[..., None]
        energy = (energies * share[..., 0]).sum(axis=-1) / atoms
    return Heard(z, square, share, samples, energy, _inside(batch, energies, x))


def _inside(batch: Batch, energies: FloatArray, x: FloatArray) -> FloatArray:
    if x.shape[-2] == x.shape[-1]:
        return np.ones(energies.shape[:-1])
    total = np.square(batch).sum(axis=(-2, -1)) if isinstance(batch, np.ndarray) else batch.power(2).sum()
    return np.asarray(energies.sum(axis=-1) / np.maximum(total, TINY))


def open_gates(heard: Heard, odds: Number, slope: Number, p: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return exp(-log-odds) and |z|^(p-2) of each coefficient, and the means over the samples that `layout` names.

    The gates are the first of four layers of the third array, (..., 4, B, K), which the means are taken of.
    """
    z, square = heard.z, heard.square
    closed = square * -slope
    closed -= odds
    np.exp(closed, out=closed)
    size = np.abs(z) if p == 3.0 else np.abs(z) ** (p - 2.0)
    layers = np.empty((*z.shape[:-2], 4, *z.shape[-2:]))
    gates = layers[..., 0, :, :]
    np.add(closed, 1.0, out=gates)
    np.divide(1.0, gates, out=gates)
    layers[..., SQUARE, :, :] = square
    np.multiply(size, square, out=layers[..., 2, :, :])
    np.multiply(gates, square, out=layers[..., GATED, :, :])
    return closed, size, layers


def mean_of_samples(layers: FloatArray, share: Number) -> FloatArray:
    """Return the weighted mean over the samples, (..., 4, K)."""
    if isinstance(share, float):
        means: FloatArray = layers.sum(axis=-2)
        means *= share
        return means
    return np.asarray((layers * share[..., None, :, :]).sum(axis=-2))


def mean_of_all(values: FloatArray, share: Number) -> FloatArray:
    """Return the weighted mean over samples and atoms, of each problem."""
    if isinstance(share, float):
        return np.asarray(values.sum(axis=(-2, -1)) * (share / values.shape[-1]))
    return np.asarray((values * share).sum(axis=(-2, -1)) / values.shape[-1])


def gate(heard: Heard, odds: Number, slope: Number) -> FloatArray:
    """Return the probability that each coefficient belongs to the slab."""
    gates = heard.square * -slope
    gates -= odds
    np.exp(gates, out=gates)
    gates += 1.0
    return np.divide(1.0, gates, out=gates)


def score(factor: FloatArray, heard: Heard, shift: Number, unit: Number) -> FloatArray:
    """Return unit (factor - shift) z, times the weight of each sample in the mean."""
    result = factor - shift
    result *= heard.z
    result *= unit * heard.share
    return result


def gain_of_turning(heard: Heard, first: FloatArray, second: FloatArray, odds: Number, slope: Number) -> FloatArray:
    """Return by how many nats a pair of atoms would be more likely on this mini-batch, turned by 45 degrees.

    The energy of the pair stays the same, and so does all of the log-likelihood but log(1 + exp(-log-odds)).
    """
    a, b = (np.take_along_axis(heard.square, one[..., None, None], axis=-1) for one in (first, second))
    z = heard.z
    product = np.take_along_axis(z, first[..., None, None], -1) * np.take_along_axis(z, second[..., None, None], -1)
    middle = 0.5 * (a + b)
    squares = np.concatenate([a, b, middle + product, middle - product], axis=-1)
    terms = np.log1p(np.exp(-slope * squares - odds))
    counts = heard.share * heard.samples[..., None, None]
    gain = ((terms[..., :2] - terms[..., 2:]) * counts).sum(axis=(-2, -1))
    return np.asarray(np.where(first == second, 0.0, -gain))


def weakest(rows: FloatArray, row: int) -> FloatArray:
    """Return the smallest ratio of a row of means to the energy of the atom; atoms without energy do not count."""
    energy = rows[..., SQUARE, :]
    if energy.all():
        return np.asarray((rows[..., row, :] / energy).min(axis=-1))
    heard = energy > 0.0
    return np.asarray(np.where(heard, rows[..., row, :] / np.where(heard, energy, 1.0), np.inf).min(axis=-1))


def remember(
    old: FloatArray, gates: FloatArray, force: FloatArray, share: Number, gate_weight: Number, force_weight: Number
) -> FloatArray:
    """Return the running means of each pair of atoms after a mini-batch."""
    new = np.empty_like(old)
    np.matmul(gates.mT, gates * share, out=new[..., TOGETHER, :, :])
    np.subtract(force, force.mT, out=new[..., FORCE, :, :])
    np.square(new[..., FORCE, :, :], out=new[..., POWER, :, :])
    new -= old
    new[..., TOGETHER, :, :] *= gate_weight
    new[..., FORCE:, :, :] *= force_weight if isinstance(force_weight, float) else force_weight[..., None, :, :]
    new += old
    return new


def force_ratios(pairs: FloatArray, trust: Number) -> tuple[FloatArray, FloatArray]:
    """Return the squared mean force over its variance: of all pairs of atoms together, and the largest of one pair."""
    power = pairs[..., POWER, :, :]
    squares = np.square(pairs[..., FORCE, :, :])
    together = np.stack([squares, power]).sum(axis=(-2, -1))
    squares /= np.maximum(power, TINY)
    one = trust if isinstance(trust, float) else trust[..., 0, 0]
    return together[0] / np.maximum(one * together[1], TINY), squares.max(axis=(-2, -1)) / one


def most_alike(gates: FloatArray, together: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the largest correlation of two gates and which two, of each problem; -1 where there is only one gate.

    >>> correlation, first, second = most_alike(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    >>> correlation.round(3), first, second
    (np.float64(1.0), np.int64(0), np.int64(1))
    """
    atoms = gates.shape[-1]
    if atoms == 1:
        none = np.zeros(gates.shape[:-1], int)
        return np.full(gates.shape[:-1], -1.0), none, none
    covariance = together - gates[..., :, None] * gates[..., None, :]
    deviation = 1.0 / np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 1e-12))
    covariance *= deviation[..., :, None]
    covariance *= deviation[..., None, :]
    covariance[..., *np.tril_indices(atoms)] = -math.inf
    flat = covariance.reshape(*covariance.shape[:-2], atoms * atoms)
    place = flat.argmax(axis=-1)
    return np.asarray(flat.max(axis=-1)), place // atoms, place % atoms
