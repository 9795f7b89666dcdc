"""The decisions of mixed memories: which samples are looked at again, and how much each memory counts.

Python runs these functions as they stand, and Numba compiles the same text.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.mixed_memories.constants import (
    DOUBT,
    FEATURES_PER_SAMPLE,
    FEWEST,
    FLOOR,
    GOLDEN,
    GROUPS,
    LEVELS,
    MEMORIES,
    PART,
    RATES,
    SWEEPS,
)


def forgetting_rates(features: int) -> Any:
    """Return how fast each memory forgets: a sample that n others follow has the weight exp(-rate n).

    >>> forgetting_rates(80)[:2]
    array([0.25, 0.05])
    """
    return RATES / max(features, FEWEST)


def largest_part(features: int) -> int:
    """Return how many samples a step may have; larger mini-batches take several, or the dictionary would lag behind.

    >>> largest_part(10), largest_part(100)
    (12, 25)
    """
    return max(PART, features // FEATURES_PER_SAMPLE)


def averaged_samples(shares: Any, totals: Any, rates: Any) -> float:
    """Return how many samples of equal weight would tell as much as the mixture of memories.

    >>> never = np.array([[0.0, 0.0, 0.0, 0.0, 1.0]] * 2)
    >>> float(averaged_samples(never, np.full(5, 30.0), np.array([3.0, 2.0, 1.0, 0.5, 0.0])))
    30.0
    """
    whole, power = totals[MEMORIES - 1], 0.0
    for m in range(MEMORIES):
        for k in range(MEMORIES):
            rate = rates[m] + rates[k]
            span = -math.expm1(-rate * whole) / rate if rate > 0.0 else whole
            both = (shares[0, m] + shares[1, m]) * (shares[0, k] + shares[1, k])
            power += 0.25 * span * both / (totals[m] * totals[k])
    return 1.0 / power


def chosen_samples(held: int, look: int, reach: float, steps: float) -> Any:
    """Return the ages of the samples to look at, and for how many samples each of them stands.

    Age groups grow geometrically up to the reach and give equally many samples, other ones at each step. The newest
    group is complete.

    >>> ages, counts = chosen_samples(held=50, look=10, reach=40.0, steps=0.0)
    >>> ages.tolist()
    [0, 1, 2, 3, 4, 6, 9, 14, 19, 29]
    >>> float(counts.sum())
    40.0
    """
    if held <= look:
        return np.arange(held), np.ones(held)
    each = max(look // LEVELS, 1)
    ages, counts = np.empty(LEVELS * each, np.int64), np.empty(LEVELS * each)
    turn = steps * GOLDEN % 1.0
    low = found = 0
    for level in range(LEVELS):
        high = min(math.floor(each * (reach / each) ** (level / (LEVELS - 1.0)) + 0.5), held)
        size = high - low
        take = min(each, size)
        first = math.floor(turn * size)
        for i in range(take):
            ages[found] = low + (first + i * size // take) % size
            counts[found] = size / take
            found += 1
        low = high
    return ages[:found], counts[:found]


def learnt_shares(evidence: Any, shares: Any) -> Any:
    """Return the shares of the memories in each group, given how their predictions overlap and match what came.

    They minimise the squared error of the mixed prediction, and are not negative.

    >>> evidence = np.zeros((2, 5, 6))
    >>> evidence[:, 0, 0], evidence[:, 1, 1], evidence[:, 0, 5] = 1.0, 1.0, 0.5  # the first one matches
    >>> learnt_shares(evidence, np.full((2, 5), 0.2)).round(2)[0]
    array([1., 0., 0., 0., 0.])
    """
    learnt = shares.copy()
    for group in range(GROUPS):
        table, p = evidence[group], learnt[group]
        trace = 0.0
        for m in range(MEMORIES):
            trace += table[m, m]
        if not trace > 0.0:
            continue
        for _ in range(SWEEPS):
            for m in range(MEMORIES):
                rest = table[m, MEMORIES] - np.dot(table[m, :MEMORIES], p) + table[m, m] * p[m]
                p[m] = max(rest / (table[m, m] + DOUBT * trace), FLOOR)
        p /= p.sum()
    return learnt


def sample_shares(shares: Any, totals: Any, rates: Any, ages: Any, counts: Any) -> Any:
    """Return the share of each chosen sample in the mixture of memories of each group."""
    fading = np.exp(-np.outer(rates, 1.0 * ages))
    found = np.dot(shares / totals, fading) * counts
    for group in range(GROUPS):
        found[group] /= found[group].sum()
    return found
