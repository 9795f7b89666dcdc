"""The comparison of spike and slab with Laplacians as loops for a compiler; `advantage_arrays` has it in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.hand_over.constants import TINY
from orthostream.optimize.estimates.hand_over.decisions import log_odds
from orthostream.optimize.estimates.hand_over.layout import SQUARE, UNIT_SIZE


def advantage(z: Any, shares: Any, rows: Any, fresh: Any, asleep: float, unit: Any) -> Any:
    """Return what `learn_advantage` learns from samples that are scaled to unit length; fill ``fresh[UNIT_SIZE]``.

    Atoms that are asleep are left out of the gain.
    """
    samples, atoms = z.shape
    sparsity, spike, slab = unit
    odds, slope = log_odds(sparsity, spike, slab)
    opened = signal = gain = awake = 0.0
    started = np.sum(rows[UNIT_SIZE]) > 0.0
    shorter, scales = np.empty(samples), np.zeros(atoms)
    for i in range(samples):
        shorter[i] = 1.0 / math.sqrt(max(np.dot(z[i], z[i]), TINY))
        for j in range(atoms):
            fresh[UNIT_SIZE, j] += shares[i] * abs(z[i, j]) * shorter[i]
    for j in range(atoms):
        scale = rows[UNIT_SIZE, j] if started else fresh[UNIT_SIZE, j]
        if rows[SQUARE, j] > asleep and scale > 0.0:
            scales[j] = 1.0 / scale
            gain += math.log(2.0 * scale)
            awake += 1.0
    for i in range(samples):
        share = shares[i]
        if share == 0.0:
            continue
        product, log_likelihood = 1.0, 0.0
        for j in range(atoms):
            size = abs(z[i, j]) * shorter[i]
            square = size * size
            log_odd = odds + slope * square
            rest = math.exp(-abs(log_odd)) if abs(log_odd) < 40.0 else 0.0
            gate = (1.0 if log_odd > 0.0 else rest) / (1.0 + rest)
            opened += share * gate
            signal += share * gate * square
            if scales[j] > 0.0:
                log_likelihood += max(-log_odd, 0.0) - 0.5 * square / slab + size * scales[j]
                product *= 1.0 + rest
                if product > 1e200:
                    log_likelihood += math.log(product)
                    product = 1.0
        gain += share * (log_likelihood + math.log(product))
    gain = math.log(sparsity) - 0.5 * math.log(2.0 * math.pi * slab) + gain / max(awake, 1.0)
    return opened / atoms, signal / atoms, gain if 2.0 * awake >= atoms else 0.0
