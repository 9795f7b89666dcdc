"""Which readings there are: for every sensor, whether its state (there, or missing) is what it was before.

A change is likelier where the sensor changed lately or often, and where others change in the same sample; each such
circumstance has an adaptive probability of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import code_bit
from orthostream.compression.kernel.rows import entries

_CONTEXTS = 2 * 6 * 4 * 2 * 3


class Presence(NamedTuple):
    """What both sides know of the readings that were missing."""

    #: 1 for each sensor that was missing in the last sample.
    missing: IntArray
    #: Samples since a sensor's last change.
    age: IntArray
    #: How often a sensor changes, of 65,536.
    restless: IntArray
    #: Adaptive bits.
    bits: IntArray


def new_presence(n_sensors: int) -> Presence:
    """Return what is known before the first sample: every sensor is there, and changes are rare."""
    return Presence(
        np.zeros(n_sensors, dtype=np.int64),
        np.full(n_sensors, 1000, dtype=np.int64),
        np.zeros(n_sensors, dtype=np.int64),
        np.full(_CONTEXTS, (83886 << 8), dtype=np.int64),
    )


def _recency(age: int) -> int:
    if age <= 3:
        return 0 if age <= 1 else 1
    if age <= 48:
        return 2 if age <= 12 else 3
    return 4 if age <= 200 else 5


def code_presence(coder: IntArray, buffer: ByteArray, presence: Presence, row: IntArray) -> None:
    """Code which readings of a sample are missing: 1 in ``row``, which is written when decoding."""
    missing, age, restless, bits = presence
    went = 0
    came = 0
    states = entries(missing)
    ages = entries(age)
    rates = entries(restless)
    wanted = entries(row)
    for i in range(len(row)):
        before = states[i]
        ago = ages[i]
        rate = rates[i]
        alike = came if before == 1 else went
        other = 1 if went + came > alike else 0
        often = rate >> 13
        recency = 5 if ago > 200 else _recency(ago)
        context = (((before * 6 + recency) * 4 + (alike if alike < 3 else 3)) * 2 + other) * 3 + (
            often if often < 2 else 2
        )
        change = code_bit(coder, buffer, bits, context, 250, wanted[i] ^ before)
        rate -= rate >> 5
        if change == 1:
            went += 1 - before
            came += before
            rate += 8192
            age[i] = 1
            missing[i] = 1 - before
        elif ago < 1000:
            age[i] = ago + 1
        if rate != rates[i]:
            restless[i] = rate
        row[i] = before ^ change
