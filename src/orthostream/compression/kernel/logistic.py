"""Probabilities of one bit from several sources, mixed in the logistic domain; integers only.

A probability of 1 is an integer of 65,536; its *logit* is ln(p / (1 - p)) in units of 1/256. Sources are weighted, and
the weights follow how well each source did lately. Integers and table look-ups give the same bits on every machine.
"""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import DECODING, MODE, TOTAL, code_interval, point

#: A coder in this mode codes nothing: the models only learn what a value would have cost.
REHEARSING = 2

#: The largest logit: 12 in units of 1/256.
LARGEST_LOGIT = 3072

#: 65,536 times the logistic function at -12, -11.75, ..., 12.
_KNOTS = np.array(
    [round(65536.0 / (1.0 + math.exp(-k / 4.0)) * 16.0) for k in range(-48, 49)],
    dtype=np.int64,
)


def _squash_table() -> IntArray:
    """Return the probability of each logit, by straight lines between the knots."""
    table = np.zeros(2 * LARGEST_LOGIT + 1, dtype=np.int64)
    for x in range(2 * LARGEST_LOGIT + 1):
        knot = min(x // 64, 95)
        along = x - 64 * knot
        value = (int(_KNOTS[knot]) * (64 - along) + int(_KNOTS[knot + 1]) * along) >> 10
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


def squash(logit: int) -> int:
    """Return the probability of a logit, of 65,536."""
    if logit > LARGEST_LOGIT:
        logit = LARGEST_LOGIT
    elif logit < -LARGEST_LOGIT:
        logit = -LARGEST_LOGIT
    return int(SQUASH[logit + LARGEST_LOGIT])


def log2_of(x: float) -> float:
    """Return the logarithm to the base 2 of a positive number, to two decimals, by exact operations only."""
    fraction, exponent = math.frexp(x)
    rest = 2.0 * fraction - 1.0
    return float(exponent - 1) + rest * (1.3465553 - 0.3465553 * rest)


def code_known(coder: IntArray, buffer: ByteArray, ones: int, bit: int) -> int:
    """Code a bit whose probability of being 1 is ``ones`` of 65,536; in a rehearsal, return it."""
    if coder[MODE] == REHEARSING:
        return bit
    if coder[MODE] == DECODING:
        bit = 1 if point(coder) < ones else 0
    if bit == 1:
        code_interval(coder, buffer, 0, ones)
    else:
        code_interval(coder, buffer, ones, TOTAL - ones)
    return bit
