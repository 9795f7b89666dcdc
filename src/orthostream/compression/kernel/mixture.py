"""What the mixture knows: adaptive bits in many contexts, and how much each of them is to be trusted.

The mixture is the second way of coding a cell, for sensors that a bell curve does not fit: `questions` asks whether the
cell is one of a few candidates, `halving` finds it otherwise. Each yes or no is coded with a probability that is mixed
from several sources. This file mixes them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.logistic import LARGEST_LOGIT, LOGIT, SQUASH, code_known, log2_of
from orthostream.compression.kernel.range_coder import EVEN, INTEGER_BITS, RATES, TOTAL

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False


#: Sources of a bit: the bell curve first, then contexts.
N_SOURCES = 13
#: Sets of weights: 48 for questions, 16 for halvings.
N_SETS, HALVINGS = 64, 48
#: Refinements of the mixed probability, for each set of weights.
N_REFINED = 25
#: Adaptive bits that all sensors of a group share.
N_SHARED = 7168
#: Contexts of single sensors are looked up in a table of this many adaptive bits.
N_SLOTS = 1 << 16
#: Cells that are remembered: of each sensor, and at most of all sensors of a group together.
_RING, _RINGS = 8192, 1 << 17
N_MATCHES = 1 << 14

#: What else is known of a cell, as entries of ``around``: the cell of the sensor before in this sample, the sensor's
#: own cell a period ago, the phase of the period, how many sensors of this sample were asked and how many repeated
#: their last cell, bins of the recent error and of the level, the shape of the bell curve.
NEIGHBOUR, AGO, PHASE, ASKED, REPEATED, STIR, LEVEL, SHAPE = range(8)


_UNREFINED = 64 * SQUASH[::256]


class Mixture(NamedTuple):
    """What both sides know after each sample; every field is an array, changed in place."""

    weights: IntArray
    trained: IntArray
    refined: IntArray
    slots: IntArray
    shared: IntArray
    escapes: IntArray
    #: The last cells of each sensor, and how many were written.
    ring: IntArray
    written: IntArray
    #: Running hashes of the last few cells and of the last 32, where each hash was met last, and the match that is
    #: followed.
    trail: IntArray
    found: IntArray
    long_trail: IntArray
    long_found: IntArray
    match: IntArray
    length: IntArray
    #: The most frequent cell, by a vote.
    mode: IntArray
    votes: IntArray
    #: Whether each of the last cells repeated the one before, and for how long the last one has stood.
    repeats: IntArray
    age: IntArray
    #: By how many bits the mixture did better than the bell curve lately, and whether it is used.
    account: FloatArray
    mixes: IntArray
    #: How often the bell curve was surprised lately.
    surprise: FloatArray
    #: Work space.
    inputs: IntArray
    places: IntArray
    candidates: IntArray
    masses: FloatArray
    cost: FloatArray
    around: IntArray


def new_mixture(n_sensors: int) -> Mixture:
    """Return what is known before the first sample; of no sensors if the format has no mixture."""
    some = 1 if n_sensors > 0 else 0
    ring = _RING
    while ring * n_sensors > _RINGS and ring > 256:
        ring >>= 1
    weights = np.full((N_SETS * some, N_SOURCES), 5000, dtype=np.int64)
    weights[:, 0] = 52000
    return Mixture(
        weights=weights,
        trained=np.zeros(N_SETS * some, dtype=np.int64),
        refined=np.tile(_UNREFINED, N_SETS * some),
        slots=np.zeros(N_SLOTS * some, dtype=np.int64),
        shared=np.full(N_SHARED * some, EVEN, dtype=np.int64),
        escapes=np.full((INTEGER_BITS + 1) * some, EVEN, dtype=np.int64),
        ring=np.zeros((n_sensors, ring), dtype=np.int64),
        written=np.zeros(n_sensors, dtype=np.int64),
        trail=np.zeros(n_sensors, dtype=np.int64),
        found=np.zeros(N_MATCHES * some, dtype=np.int64),
        long_trail=np.zeros(n_sensors, dtype=np.int64),
        long_found=np.zeros(N_MATCHES * some, dtype=np.int64),
        match=np.full(n_sensors, -1, dtype=np.int64),
        length=np.zeros(n_sensors, dtype=np.int64),
        mode=np.zeros(n_sensors, dtype=np.int64),
        votes=np.zeros(n_sensors, dtype=np.int64),
        repeats=np.zeros(n_sensors, dtype=np.int64),
        age=np.zeros(n_sensors, dtype=np.int64),
        account=np.zeros(n_sensors),
        mixes=np.zeros(n_sensors, dtype=np.int64),
        surprise=np.zeros(1),
        inputs=np.zeros(N_SOURCES, dtype=np.int64),
        places=np.zeros(N_SOURCES, dtype=np.int64),
        candidates=np.zeros(3, dtype=np.int64),
        masses=np.zeros(3),
        cost=np.zeros(1),
        around=np.zeros(8, dtype=np.int64),
    )


def hash_of(value: int, before: int) -> int:
    """Return 32 bits made of an integer and of 32 bits before it."""
    value = ((value ^ before) & 0xFFFFFFFF) * 0x2C1B3C6D & 0xFFFFFFFF
    value ^= value >> 15
    value = value * 0x297A2D39 & 0xFFFFFFFF
    return value ^ (value >> 14)


def slot_of(slots: IntArray, key: int) -> int:
    """Return the place of a context in the table; it starts anew where another context was."""
    place = key & (N_SLOTS - 1)
    check = ((key >> 16) & 0xFF) + 1
    if slots[place] >> 30 != check:
        slots[place] = (check << 30) | EVEN
    return place


def moved(entry: int, bit: int, limit: int) -> int:
    """Return an adaptive bit after it has seen one more."""
    seen = entry & 255
    p = entry >> 8
    if bit == 1:
        p += ((4194303 - p) * int(RATES[seen])) >> 16
    else:
        p -= (p * int(RATES[seen])) >> 16
    if seen < limit:
        seen += 1
    return (p << 8) | seen


def mixed_bit(coder: IntArray, buffer: ByteArray, mixture: Mixture, which: int, n_sources: int, bit: int) -> int:
    """Code a bit, and learn from it.

    The logit of the first source is in ``inputs``. The others are adaptive bits at ``places``: slots from 0 on, shared
    ones at -1, -2, ... ``which`` is the set of weights.
    """
    inputs = mixture.inputs
    places = mixture.places
    weights = mixture.weights[which]
    total = int(weights[0]) * int(inputs[0])
    for j in range(1, n_sources):
        place = int(places[j])
        entry = int(mixture.slots[place]) & 0x3FFFFFFF if place >= 0 else int(mixture.shared[-1 - place])
        inputs[j] = LOGIT[entry >> 14]
        total += int(weights[j]) * int(inputs[j])
    logit = min(max(total >> 16, -LARGEST_LOGIT), LARGEST_LOGIT - 1)
    mixed = int(SQUASH[logit + LARGEST_LOGIT])
    place = which * N_REFINED + ((logit + LARGEST_LOGIT) >> 8)
    along = (logit + LARGEST_LOGIT) & 255
    refined = mixture.refined
    close = (int(refined[place]) * (256 - along) + int(refined[place + 1]) * along) >> 14
    ones = min(max((mixed + close + 1) >> 1, 1), TOTAL - 1)
    bit = code_known(coder, buffer, ones, bit)
    mixture.cost[0] -= log2_of((ones if bit == 1 else TOTAL - ones) / 65536.0)

    place += along >> 7
    if bit == 1:
        refined[place] += (4194303 - int(refined[place])) >> 6
    else:
        refined[place] -= int(refined[place]) >> 6
    trained = int(mixture.trained[which])
    pace = 8 + 60 // (trained + 2)
    if trained < 255:
        mixture.trained[which] = trained + 1
    error = ((TOTAL if bit == 1 else 0) - mixed) * pace
    limit = 250
    weights[0] = min(max(int(weights[0]) + ((int(inputs[0]) * error) >> 18), -1048576), 1048576)
    for j in range(1, n_sources):
        weights[j] = min(max(int(weights[j]) + ((int(inputs[j]) * error) >> 18), -1048576), 1048576)
        place = int(places[j])
        if place >= 0:
            whole = int(mixture.slots[place])
            mixture.slots[place] = (whole >> 30 << 30) | moved(whole & 0x3FFFFFFF, bit, limit)
        else:
            mixture.shared[-1 - place] = moved(int(mixture.shared[-1 - place]), bit, 250)
    return bit
