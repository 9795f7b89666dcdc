"""The array operations of a hand-over in NumPy, for one problem or a stack of them.

`loops` has the same operations as loops for a compiler. At the usual sizes a call of NumPy costs more than its
arithmetic, so each call does as much as possible. A parameter called ``Number`` is a float for a single
problem, and an array of shape (*stack, 1, 1) for a stack.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from orthostream._typing import FloatArray, IntArray
from orthostream.optimize.estimates.hand_over.constants import TINY
from orthostream.optimize.estimates.hand_over.layout import (
    BENT,
    FORCE,
    GATE,
    GATED,
    POWER,
    ROWS,
    SQUARE,
    TOGETHER,
    UNIT_SIZE,
)
from orthostream.optimize.objectives.base import Batch, rows_times

Number = Any

#: Layers of numbers for each coefficient: the rows that `layout` names for the atoms, but |z|^(p-2) in the place of
#: UNIT_SIZE, which the estimate puts there before the rows are mixed.
SIZE, LAYERS = UNIT_SIZE, ROWS

#: The square root of 1/2; the signs of a pair of atoms and of the same pair turned, in a gain of log-likelihood.
HALF, _TURNED = 0.5**0.5, np.array([1.0, 1.0, -1.0, -1.0])


class Heard(NamedTuple):
    """The coefficients of a mini-batch, and how much each sample counts."""

    z: FloatArray
    layers: FloatArray
    """(..., 5, B, K); `listen` fills SQUARE and SIZE, `open_gates` the rest."""
    shares: FloatArray
    """The weight of each sample in a mean, (..., B), or (B,) if it is the same everywhere."""
    samples: list[float]
    """The sum of the weights of the samples that are not zero, of each problem."""
    energies: list[float]
    """The mean square of a coefficient, of each problem."""


def listen(batch: Batch, x: FloatArray, weights: FloatArray | None, p: float) -> Heard:
    """Return the coefficients of a mini-batch; samples of zeros get weight 0."""
    z = rows_times(batch, x)
    *stack, count, atoms = z.shape
    layers = np.empty((*stack, LAYERS, count, atoms))
    np.multiply(z, z, out=layers[..., SQUARE, :, :])
    size = np.abs(z, out=layers[..., SIZE, :, :])
    if p != 3.0:
        size **= p - 2.0
    energies = layers[..., SQUARE, :, :] @ _ones(atoms)
    each = energies.reshape(-1, count).tolist()
    if weights is None and min(min(one) for one in each) > 0.0:
        energies_now = [sum(one) / (count * atoms) for one in each]
        return Heard(z, layers, _shares(count), [float(count)] * len(each), energies_now)
    counted = (energies != 0.0) * (1.0 if weights is None else weights)  # zeros must not count as a narrow spike
    samples = counted.sum(axis=-1)
    shares = counted / np.maximum(samples, TINY)[..., None]
    return Heard(
        z, layers, shares, samples.reshape(-1).tolist(), (np.vecdot(energies, shares) / atoms).ravel().tolist()
    )


@lru_cache(maxsize=64)
def _ones(count: int) -> FloatArray:
    return np.ones(count)


@lru_cache(maxsize=64)
def _shares(count: int) -> FloatArray:
    return np.full(count, 1.0 / count)


def share_inside(batch: Batch, heard: Heard) -> list[float]:
    """Return the share of the energy of a mini-batch that its coefficients hold, of each problem."""
    z = heard.z
    dense = isinstance(batch, np.ndarray)
    totals = np.vecdot(batch, batch) if dense else np.asarray(batch.power(2).sum(axis=1)).reshape(-1)
    inside, total = np.vecdot(np.vecdot(z, z), heard.shares), np.vecdot(totals, heard.shares)
    shares: list[float] = np.reshape(inside / np.maximum(total, TINY), -1).tolist()
    return shares


def open_gates(heard: Heard, odds: Number, slope: Number) -> FloatArray:
    """Fill the layers of the gates; return the means of all layers over the samples."""
    layers = heard.layers
    square, gates = layers[..., SQUARE, :, :], layers[..., GATE, :, :]
    gates_of(square, odds, slope, gates)
    np.multiply(layers[..., SIZE, :, :], square, out=layers[..., BENT, :, :])
    np.multiply(gates, square, out=layers[..., GATED, :, :])
    return (heard.shares[..., None, None, :] @ layers)[..., 0, :]


def gates_of(square: FloatArray, odds: Number, slope: Number, out: FloatArray | None = None) -> FloatArray:
    """Return the probability of the slab, 1 / (1 + exp(-odds - slope z^2))."""
    out = np.multiply(square, slope, out=out)
    out += odds
    gates: FloatArray = expit(out, out=out)
    return gates


def mean_over_atoms(means: FloatArray) -> list[list[float]]:
    """Return the means of each layer over the atoms, of each problem."""
    over_atoms: list[list[float]] = (means @ _shares(means.shape[-1])).reshape(-1, LAYERS).tolist()
    return over_atoms


def gate(heard: Heard, odds: Number, slope: Number) -> FloatArray:
    """Return the probability that each coefficient belongs to the slab."""
    return gates_of(heard.layers[..., SQUARE, :, :], odds, slope)


def score(factor: FloatArray, heard: Heard, shift: Number, unit: Number) -> FloatArray:
    """Return unit (factor - shift) z, times the share of each sample."""
    result: FloatArray = factor - shift
    result *= heard.z
    result *= heard.shares[..., None] * unit
    return result


def misfit(heard: Heard) -> list[float]:
    """Return the mean of log(1 + exp(-log-odds)), of each problem."""
    means = heard.shares[..., None, :] @ np.log(heard.layers[..., GATE, :, :])
    losses: list[float] = (-means[..., 0, :] @ _shares(heard.z.shape[-1])).reshape(-1).tolist()
    return losses


def gain_of_turning(heard: Heard, first: IntArray, second: IntArray, odds: Number, slope: Number) -> list[float]:
    """Return the mean gain in nats of turning a pair of atoms by 45 degrees, for each sample.

    The energy of the pair stays the same, and so does all of the log-likelihood but log(1 + exp(-log-odds)).
    """
    z = heard.z
    if z.ndim == 2:
        a, b = z[:, int(first)], z[:, int(second)]
    else:
        pair = np.stack([first, second], axis=-1)[..., None, :]
        a, b = np.moveaxis(np.take_along_axis(z, pair, axis=-1), -1, 0)
    terms = np.stack([a, b, HALF * (a + b), HALF * (a - b)], axis=-1)
    terms *= terms
    terms = np.log(gates_of(terms, odds, slope, terms), out=terms) @ _TURNED
    gains: list[float] = (np.vecdot(terms, heard.shares) * (first != second)).reshape(-1).tolist()
    return gains


def count_up_to(rows: FloatArray, levels: list[float]) -> list[int]:
    """Return how many atoms have at most this energy, of each problem."""
    few: list[int] = np.reshape(
        (rows[..., SQUARE, :] <= np.reshape(levels, (*rows.shape[:-2], 1))).sum(axis=-1), -1
    ).tolist()
    return few


def weakest(rows: FloatArray, asleep: list[float]) -> list[list[float]]:
    """Return the smallest ratio of each contrast's pull along an atom to its energy; skip atoms that are asleep."""
    energy, pulls = rows[..., SQUARE : SQUARE + 1, :], rows[..., BENT : GATED + 1, :]
    awake = energy > np.reshape(asleep, (*rows.shape[:-2], 1, 1))
    ratios = pulls / energy if awake.all() else np.where(awake, pulls / np.where(awake, energy, 1.0), math.inf)
    least: list[list[float]] = ratios.min(axis=-1).reshape(-1, 2).tolist()
    return least


def mix(old: FloatArray, new: FloatArray, weight: Number) -> None:
    """Move an array towards another by a fraction of the distance, in place."""
    step = new - old
    step *= weight
    old += step


def remember(pairs: FloatArray, heard: Heard, score: FloatArray, gate_weight: Number, force_weight: Number) -> None:
    """Add a mini-batch to the running means of pairs of atoms, in place."""
    gates = heard.layers[..., GATE, :, :]
    mix(pairs[..., TOGETHER, :, :], gates.mT @ (gates * heard.shares[..., None]), gate_weight)
    force = heard.z.mT @ score
    pull = np.empty((*force.shape[:-2], 2, *force.shape[-2:]))
    np.subtract(force, force.mT, out=pull[..., 0, :, :])
    np.square(pull[..., 0, :, :], out=pull[..., 1, :, :])
    mix(pairs[..., FORCE:, :, :], pull, force_weight if isinstance(force_weight, float) else force_weight[..., None])


def force_ratios(pairs: FloatArray, trusts: list[float], least: list[float]) -> list[tuple[float, float]]:
    """Return the squared mean force over its variance, of each problem: of all pairs together, and the largest.

    A squared force below ``least`` is rounding.
    """
    flat = pairs.reshape(*pairs.shape[:-2], -1)
    force, power = flat[..., FORCE, :], flat[..., POWER, :]
    squares, powers = np.vecdot(force, force), np.vecdot(power, _ones(power.shape[-1]))
    ratio = np.maximum(power, np.maximum(np.reshape(least, (*power.shape[:-1], 1)), TINY))
    np.divide(force, ratio, out=ratio)
    ratio *= force
    found = [part.reshape(-1).tolist() for part in (squares, powers, ratio.max(axis=-1))]
    return [
        (a / max(trust * b, floor * power.shape[-1], TINY), most / trust)
        for a, b, most, trust, floor in zip(*found, trusts, least, strict=True)
    ]


def most_alike(rows: FloatArray, together: FloatArray, asleep: list[float]) -> list[tuple[float, int, int]]:
    """Return the largest correlation of two gates, and the two atoms, of each problem; -1 if fewer than two are awake.

    >>> rows = np.array([[0.5, 0.5], [1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    >>> [(correlation, first, second)] = most_alike(rows, np.array([[0.5, 0.5], [0.5, 0.5]]), [0.0])
    >>> round(correlation, 3), first, second
    (1.0, 0, 1)
    """
    gates, atoms = rows[..., GATE, :], rows.shape[-1]
    if atoms == 1:
        return [(-1.0, 0, 0)] * math.prod(gates.shape[:-1])
    covariance = together - gates[..., :, None] * gates[..., None, :]
    deviation = 1.0 / np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 1e-12))
    covariance *= deviation[..., :, None]
    covariance *= deviation[..., None, :]
    covariance[..., *_below(atoms)] = -1.0
    sleeps = rows[..., SQUARE, :] <= np.reshape(asleep, (*rows.shape[:-2], 1))
    if sleeps.any():
        covariance[sleeps[..., :, None] | sleeps[..., None, :]] = -1.0
    flat = covariance.reshape(-1, atoms * atoms)
    places = flat.argmax(axis=-1).tolist()
    return [
        (float(one[place]), *(divmod(place, atoms) if one[place] > -1.0 else (0, 0)))
        for one, place in zip(flat, places, strict=True)
    ]


@lru_cache(maxsize=16)
def _below(atoms: int) -> tuple[Any, Any]:
    """Return the indices on and below the diagonal of a matrix."""
    return np.tril_indices(atoms)


def spread(values: Sequence[tuple[float, ...]], stack: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the numbers of all problems: floats for a single problem, arrays of shape (*stack, 1, 1) for a stack."""
    return values[0] if not stack else tuple(np.array(values).T.reshape(-1, *stack, 1, 1))
