"""Probabilities of a bit from several sources, mixed in the logistic domain; integers only.

A probability of 1 is an integer of 65,536; its *logit* is ln(p / (1 - p)) in units of 1/256. Integers and table look-ups
give the same bits on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import DECODING, MODE, TOTAL, code_interval, point

#: A coder in this mode writes and reads nothing: the models learn what a value would have cost.
REHEARSING = 2

#: The largest logit: 12 in units of 1/256.
LARGEST_LOGIT = 3072

#: 2**20 times the logistic function at -12, -11.75, ..., 0; the other half follows by symmetry.
_KNOTS = (
    *(6, 8, 11, 14, 18, 22, 29, 37, 48, 61, 78, 101, 129, 166, 213, 274, 352, 451, 580, 744, 955, 1226, 1574, 2020),
    *(2593, 3327, 4268, 5474, 7018, 8994, 11521, 14747, 18860, 24094, 30736, 39140, 49730, 63005, 79543, 99981),
    *(124993, 155239, 191287, 233518, 282006, 336406, 395880, 459091, 524288),
)


def _squash_table() -> IntArray:
    """Return the probability of each logit, by straight lines between the knots."""
    knots = [*_KNOTS, *((1 << 20) - knot for knot in reversed(_KNOTS[:-1]))]
    table = np.zeros(2 * LARGEST_LOGIT + 1, dtype=np.int64)
    for x in range(2 * LARGEST_LOGIT + 1):
        knot = min(x // 64, 95)
        along = x - 64 * knot
        value = (knots[knot] * (64 - along) + knots[knot + 1] * along) >> 10
        table[x] = min(max(value, 1), TOTAL - 1)
    return table


SQUASH = _squash_table()


def _logit_table() -> IntArray:
    """Return the logit of each probability: the smallest whose probability is not below it."""
    table = np.zeros(TOTAL, dtype=np.int64)
    x = 0
    for p in range(TOTAL):
        while x < 2 * LARGEST_LOGIT and SQUASH[x] < p:
            x += 1
        table[p] = x - LARGEST_LOGIT
    return table


LOGIT = _logit_table()


def logit_of(share: float) -> int:
    """Return the logit of a probability."""
    p = math.floor(share * 65536.0)
    if p < 1:
        p = 1
    elif p > 65535:
        p = 65535
    return int(LOGIT[p])


def log2_of(x: float) -> float:
    """Return the logarithm to the base 2 of a positive number within 0.01, by exact operations only."""
    fraction, exponent = math.frexp(x)
    rest = 2.0 * fraction - 1.0
    return float(exponent - 1) + rest * (1.3465553 - 0.3465553 * rest)


def code_known(coder: IntArray, buffer: ByteArray, ones: int, bit: int) -> int:
    """Code a bit that is 1 with a probability of ``ones`` of 65,536; in a rehearsal, return it."""
    if coder[MODE] == REHEARSING:
        return bit
    if coder[MODE] == DECODING:
        bit = 1 if point(coder) < ones else 0
    if bit == 1:
        code_interval(coder, buffer, 0, ones)
    else:
        code_interval(coder, buffer, ones, TOTAL - ones)
    return bit
