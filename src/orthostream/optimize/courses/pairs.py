"""What a hand-over asks of its atoms: which is the weakest, and which two are most alike."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.courses.layout import Row, Slot
from orthostream.optimize.objectives.spike_and_slab import SpikeAndSlab


def weakest(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least pull of either contrast along an atom, for its energy; atoms without energy have no say."""
    energy = rows[..., Row.ENERGY, :]
    heard = energy > 0.0
    energy = np.where(heard, energy, 1.0)
    bent, gated = (np.where(heard, rows[..., row, :] / energy, np.inf).min(axis=-1) for row in (Row.BENT, Row.GATED))
    return np.asarray(bent, dtype=float), np.asarray(gated, dtype=float)


def most_alike(gates: FloatArray, together: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
    """Return the largest correlation of two gates, of each problem, and which two; -1 where there is one gate alone.

    >>> correlation, pair = most_alike(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.5, 0.5]]))
    >>> correlation.round(3), pair
    (np.float64(1.0), (np.int64(0), np.int64(1)))
    """
    atoms = gates.shape[-1]
    if atoms == 1:
        none = np.zeros(gates.shape[:-1], int)
        return np.full(gates.shape[:-1], -1.0), (none, none)
    covariance = together - gates[..., :, None] * gates[..., None, :]
    deviation = np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 1e-12))
    correlation = covariance / (deviation[..., :, None] * deviation[..., None, :])
    correlation = np.where(np.triu(np.ones((atoms, atoms), bool), 1), correlation, -4.0)
    flat = correlation.reshape(*correlation.shape[:-2], atoms * atoms)
    place = flat.argmax(axis=-1)
    return np.asarray(flat.max(axis=-1)), (place // atoms, place % atoms)


def gain_of_turning(n: FloatArray, z: FloatArray, model: SpikeAndSlab, counts: FloatArray | float) -> FloatArray:
    """Return by how much the pair that is most alike would be the likelier on this mini-batch, turned by 45 degrees."""
    pair = [np.take_along_axis(z, n[..., None, [slot]].astype(int), axis=-1) for slot in (Slot.FIRST, Slot.SECOND)]
    turned = [(pair[0] + pair[1]) / math.sqrt(2.0), (pair[0] - pair[1]) / math.sqrt(2.0)]
    # The energy of the pair stays, and with it all of the log-likelihood but this.
    now, then = (
        sum((counts * np.logaddexp(0.0, -model.log_odds(one))).sum(axis=(-2, -1)) for one in two)
        for two in (pair, turned)
    )
    return np.asarray(np.where(n[..., Slot.FIRST] == n[..., Slot.SECOND], 0.0, then - now))
