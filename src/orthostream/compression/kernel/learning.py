"""What both sides learn from a sample: the regression in time, the spread of errors, and how they go together."""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.kernel.group_state import N_FEATURES, SAMPLES, Group
from orthostream.compression.kernel.rows import add_products, entries, factorise, move_towards_products, solve

#: First samples, in which spreads may grow faster.
_START = 16
#: Squared error, in scales, that counts as far out.
_VERY_FAR = 400.0


def learn(
    group: Group,
    features: FloatArray,
    last: FloatArray,
    position: FloatArray,
    errors: FloatArray,
    scales: FloatArray,
    trust: FloatArray,
    unlimited: FloatArray,
) -> None:
    """Take a sample in: the regression in time, the spread of each sensor's errors, and how they go together.

    ``errors`` are limited, ``unlimited`` are the same without a limit.
    """
    n = len(last)
    samples = int(group.clock[SAMPLES])
    if samples == 0:
        return
    width = group.width
    total = 0.0
    there = 0.0
    far = 0.0
    large = 0.0
    widths, spreads = entries(width), entries(group.spread)
    all_scales, all_errors, all_unlimited, trusts = entries(scales), entries(errors), entries(unlimited), entries(trust)
    for i in range(n):
        scale = all_scales[i]
        in_scales = all_unlimited[i] / scale
        error = min(max(all_errors[i] / scale, -12.0), 12.0)
        all_errors[i] = error
        if trusts[i] > 0.0:
            w = widths[i]
            square = in_scales * in_scales
            total += min(error * error, 16.0)
            large += min(square, _VERY_FAR)
            if square > _VERY_FAR:
                far += 1.0
            there += 1.0
            trusts[i] /= scale * scale * float(group.covariance[i, i]) + 0.1 * w * w
    errors[:] = all_errors
    trust[:] = trusts
    if group.mixture.ring.shape[0] > 0 and samples < _START and far + far > there:
        # At first spreads are a guess, and may be wrong by orders of magnitude.
        total = large
    features[N_FEATURES] = position - last
    add_products(group.sums, features, trust, 0.998)
    rate = max(0.002, 1.0 / (samples + 3.0))
    quick = max(0.01, 1.0 / (samples + 2.0))
    shared = 0.8 * (total / max(there, 1.0)) + 0.2
    move_towards_products(group.covariance, errors, rate)
    for i in range(n):
        w = widths[i]
        own = shared
        if trusts[i] > 0.0:
            own = 0.8 * (total / there) + 0.2 * min(all_errors[i] * all_errors[i], 16.0)
        else:
            group.covariance[i, i] += rate * float(group.pivots[i])
        spread = spreads[i]
        spreads[i] = math.sqrt(spread * spread * (1.0 + quick * (own - 1.0)) + 0.0004 * w * w)
    group.spread[:] = spreads
    # Larger groups change more slowly, and cost more: they are factorised less often once they are known.
    every = max(4, n // 12) if samples >= 128 else 4
    if samples % every == 0 or samples < (32 if n <= 64 else 8):
        solve(group.sums, 1.0, group.weights, 1.0001)
        extra = 0.0001 + 0.04 * ((width * width) / (group.spread * group.spread))
        factorise(group.covariance, 0.95, extra, group.upper, group.pivots)
        for i in range(n):
            if not (0.0 < group.pivots[i] < 1e30) or not (abs(group.weights[i % N_FEATURES]) < 1e6):
                group.covariance[:] = np.eye(n)
                group.upper[:] = np.eye(n)
                group.pivots[:] = 1.0
                group.sums[:] = 0.0
                group.weights[:] = 0.0
                break
