"""The update of mixed memories for one problem.

Python runs this text with the operations of `arrays`, and Numba compiles it with those of `loops`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.mixed_memories.arrays import agreement, deviating, own_weights
from orthostream.optimize.estimates.mixed_memories.constants import (
    ACCOUNT,
    FAINT,
    FRESH,
    GROUPS,
    LARGEST,
    LEADING,
    LEAST_FRESH,
    LESS,
    LOOK,
    MEMORIES,
    MOST_FRESH,
    OTHERS,
    REACH,
    SMALLEST,
)
from orthostream.optimize.estimates.mixed_memories.decisions import (
    averaged_samples,
    chosen_samples,
    forgetting_rates,
    largest_part,
    learnt_shares,
    sample_shares,
)
from orthostream.optimize.estimates.mixed_memories.layout import parts
from orthostream.optimize.objectives.rank_weights import rank_weights


def mixed_memories_update(
    block: Any, x: Any, batch: Any, weights: Any, power: float, shrink: float, head: float, per_feature: float
) -> Any:
    """Return the gradient, gamma and the next block; gamma is -1 for what only the plain update can do."""
    features, atoms = x.shape
    room = int(per_feature) * features
    old = parts(block, features, atoms, room)
    energies = (batch * batch).sum(axis=1)
    counted = np.where(energies > 0.0, weights, 0.0)
    samples = counted.sum()
    mean = np.dot(counted, energies) / (features * samples) if samples > 0.0 else 0.0
    young = np.count_nonzero(old[2]) < features
    if young or len(batch) > largest_part(features) or not SMALLEST < mean < LARGEST:
        return old[0], -1.0, block
    if counted.min() > 0.0:
        return next_memory(block, x, batch, counted, power, shrink, head, room)
    live = counted > 0.0
    return next_memory(block, x, batch[live], counted[live], power, shrink, head, room)


def next_memory(
    block: Any, x: Any, rows: Any, weights: Any, power: float, shrink: float, head: float, room: int
) -> Any:
    """Return the gradient, 1 and the next block, given samples with a positive weight and enough of them before."""
    features, atoms = x.shape
    new_block = remembered(block, x, rows, weights, room)
    old, new = parts(block, features, atoms, room), parts(new_block, features, atoms, room)
    gradient, held_rows, held_weights, _, totals, evidence, shares, pull, leads, steps = new
    samples = weights.sum()

    z, pulls = np.dot(rows, x), np.empty((MEMORIES, features, atoms))
    for m in range(MEMORIES):
        np.dot(old[3][m], x, pulls[m])
    evidence[:] = math.exp(-samples / ACCOUNT) * old[5] + samples * predicted(pulls, x, z, weights, old)
    shares[:] = learnt_shares(evidence, old[6])

    rates = forgetting_rates(features)
    look, held = LOOK * features, int(np.count_nonzero(held_weights))
    averaged = averaged_samples(shares, totals, rates)
    ages, counts = chosen_samples(held, look, min(max(REACH * averaged, 2.0 * look), 1.0 * room), steps[0])
    counts = counts * held_weights[room - 1 - ages]
    chosen = held_rows[room - 1 - ages]
    table = rank_weights(atoms, power, head)
    coefficients = np.dot(chosen, x)
    own = own_weights(coefficients, table)
    mean = np.dot(counts, own) / counts.sum()
    leads[:] = (mean / table[0]) ** 2
    found = sample_shares(shares, totals, rates, ages, counts)
    looked = np.dot(chosen.T, deviating(coefficients, own, mean, leads, found))
    fresh = min(max(FRESH * look / averaged, LEAST_FRESH), MOST_FRESH) if steps[0] > 0.0 else 1.0
    pull[:] = (1.0 - fresh) * old[7] + fresh * looked
    steps[0] += 1.0

    gradient[:] = (shrink - 1.0) * pull
    weight = mean - LESS * mean.min()
    came = np.dot(rows.T * weights, z)
    for m in range(MEMORIES):
        factor = (shares[LEADING, m] * leads + shares[OTHERS, m] * (1.0 - leads)) * weight / totals[m]
        gradient -= (math.exp(-rates[m] * samples) * pulls[m] + came) * factor
    return gradient, 1.0, new_block


def remembered(block: Any, x: Any, rows: Any, weights: Any, room: int) -> Any:
    """Return the next block with the samples in the buffer and in the moments, and all else as it was."""
    features, atoms = x.shape
    new_block = np.empty_like(block)
    old, new = parts(block, features, atoms, room), parts(new_block, features, atoms, room)
    count = min(len(rows), room)
    new[1][: room - count], new[1][room - count :] = old[1][count:], rows[len(rows) - count :]
    new[2][: room - count], new[2][room - count :] = old[2][count:], weights[len(rows) - count :]
    second, samples, rates = np.dot(rows.T * weights, rows), weights.sum(), forgetting_rates(features)
    for m in range(MEMORIES):
        keep = math.exp(-rates[m] * samples)
        new[3][m] = keep * old[3][m] + second
        new[4][m] = keep * old[4][m] + samples
    new[0][:], new[5][:], new[6][:], new[7][:] = old[0], old[5], old[6], old[7]
    new[8][:], new[9][:] = old[8], old[9]
    return new_block


def predicted(pulls: Any, x: Any, z: Any, weights: Any, old: Any) -> Any:
    """Return how well each memory predicted the correlations of a mini-batch's coefficients: see `agreement`.

    Coefficients are divided by their standard deviations. Long samples are shortened: no outlier should decide alone.
    """
    totals, shares, leads = old[4], old[6], old[8]
    atoms = x.shape[1]
    products = np.empty((MEMORIES + 1, atoms, atoms))
    energy = np.zeros(atoms)
    for m in range(MEMORIES):
        np.dot(x.T, pulls[m], products[m])
        energy += (0.5 * (shares[LEADING, m] + shares[OTHERS, m]) / totals[m]) * np.diag(products[m])
    if not energy.max() > 0.0:  # no sample has reached the span of the atoms
        return np.zeros((GROUPS, MEMORIES, MEMORIES + 1))
    scale = 1.0 / np.sqrt(np.maximum(energy, FAINT * energy.max()))
    standard = z * scale
    length = 0.5 + 0.5 * (standard * standard).sum(axis=1) / atoms
    products[MEMORIES] = np.dot((standard.T * (weights / length / weights.sum())), standard)
    return agreement(products, totals, scale, leads)
