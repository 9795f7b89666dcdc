"""The comparison of spike and slab with Laplacians in NumPy, for one problem or a stack of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.estimates.hand_over.advantage import learn_advantage, unit_mixture
from orthostream.optimize.estimates.hand_over.arrays import Heard, Number, gates_of, spread
from orthostream.optimize.estimates.hand_over.constants import SILENT, TINY
from orthostream.optimize.estimates.hand_over.decisions import log_odds
from orthostream.optimize.estimates.hand_over.layout import ENERGY, SQUARE, UNIT_SIZE


def compare_with_laplacians(
    known: list[tuple[list[float], float, float]], rows: FloatArray, heard: Heard
) -> FloatArray:
    """Add a mini-batch to the comparison; return the mean |z| of each atom for samples of unit length.

    ``known`` has, for each problem, its numbers, the energy up to which an atom is asleep, and the samples per atom.
    """
    stack = rows.shape[:-2]
    sizes, fresh = _unit_sizes(heard)
    scales = np.where(rows[..., UNIT_SIZE, :].sum(axis=-1, keepdims=True) > 0.0, rows[..., UNIT_SIZE, :], fresh)
    levels = [max(asleep, SILENT * n[ENERGY]) for n, asleep, _ in known]
    awake = (rows[..., SQUARE, :] > np.reshape(levels, (*stack, 1))) & (scales > 0.0)
    units = []
    for n, _, _ in known:
        sparsity, spike, slab = unit_mixture(n, rows.shape[-1])
        units.append((sparsity, slab, *log_odds(sparsity, spike, slab)))
    learnt = _advantage(sizes, heard.shares, scales, awake, spread(units, stack))
    for (n, _, per_atom), numbers in zip(known, learnt, strict=True):
        learn_advantage(n, *numbers, per_atom)
    return fresh


def _unit_sizes(heard: Heard) -> tuple[FloatArray, FloatArray]:
    """Return |z| for samples of unit length, and its mean over the samples for each atom."""
    lengths = np.sqrt(np.maximum(np.vecdot(heard.z, heard.z), TINY))
    sizes = np.abs(heard.z)
    sizes /= lengths[..., None]
    return sizes, (heard.shares[..., None, :] @ sizes)[..., 0, :]


def _advantage(
    sizes: FloatArray, shares: FloatArray, scales: FloatArray, awake: BoolArray, unit: Sequence[Number]
) -> list[tuple[float, float, float]]:
    """Return what `learn_advantage` learns from samples of unit length, of each problem.

    ``scales`` are those of the Laplacians of the atoms, and ``unit`` is the mixture as sparsity, slab, odds and slope.
    """
    sparsity, slab, odds, slope = unit
    squares = sizes * sizes
    gates = gates_of(squares, odds, slope)
    closed = gates.mean(axis=-1), (gates * squares).mean(axis=-1)
    heights = np.logaddexp(0.0, -odds - slope * squares) - 0.5 * squares / slab
    heights += (
        sizes / np.where(awake, scales, 1.0)[..., None, :] + np.log(2.0 * np.where(awake, scales, 1.0))[..., None, :]
    )
    counts = awake.sum(axis=-1)
    likelihood = (heights * awake[..., None, :]).sum(axis=-1)
    sums = [np.reshape(np.vecdot(one, shares), -1).tolist() for one in (*closed, likelihood)]
    first = np.broadcast_to(np.log(sparsity) - 0.5 * np.log(2.0 * math.pi * slab), (*counts.shape, 1, 1)).reshape(-1)
    return [
        (opened, signal, constant + gain / count if 2 * count >= awake.shape[-1] else 0.0)
        for opened, signal, gain, constant, count in zip(
            *sums, first.tolist(), np.reshape(counts, -1).tolist(), strict=True
        )
    ]
