"""What both sides know of a group of sensors after each sample, and what an integer of a lattice stands for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP, Memory, new_memory
from orthostream.compression.kernel.mixture import Mixture, new_mixture
from orthostream.compression.kernel.presence import Presence, new_presence
from orthostream.compression.kernel.range_coder import EVEN, INTEGER_BITS
from orthostream.compression.kernel.student import new_escape_bits

#: Compiled without memory management: what is compiled of this file makes no arrays.
ALLOCATES = False

N_FEATURES = 8
#: Factors of the scale: by the level of a sensor, and by how large its errors were lately.
LEVELS, STIRS = 10, 8

#: What `clock` holds: samples, the running hash of the integers that were coded, whether the payload is corrupt, and
#: the shape of the bell curve.
SAMPLES, HASH, CORRUPT, CURVE = 0, 1, 2, 3


class Group(NamedTuple):
    """What both sides know after each sample; every field is an array, changed in place."""

    width: FloatArray
    numerator: FloatArray
    denominator: FloatArray
    offset: FloatArray
    powers: FloatArray
    single: IntArray
    #: 1 where the encoder knows that an integer stands for just the reading, and the bound need not be checked.
    exact: IntArray
    #: Significant bits of readings whose low bits follow the cell as they are; 0 for all other sensors.
    precision: IntArray
    clock: IntArray
    history: FloatArray
    seen: IntArray
    mean: FloatArray
    variance: FloatArray
    spread: FloatArray
    ratio: FloatArray
    stir: FloatArray
    #: What part of the last step was a jump, and by how many spreads predictions did better without jumps lately.
    jump: FloatArray
    jump_account: FloatArray
    level_factors: FloatArray
    stir_factors: FloatArray
    sums: FloatArray
    weights: FloatArray
    covariance: FloatArray
    upper: FloatArray
    pivots: FloatArray
    #: By how many bits lighter tails did better lately.
    shape_account: FloatArray
    rare: IntArray
    escapes: IntArray
    #: The last readings that were sent as they are.
    last_raw: IntArray
    spent: FloatArray
    presence: Presence
    mixture: Mixture
    memory: Memory


def new_group(
    width: FloatArray,
    numerator: FloatArray,
    denominator: FloatArray,
    offset: FloatArray,
    powers: FloatArray,
    single: IntArray,
    exact: IntArray,
    precision: IntArray,
    period: int,
    version: int,
) -> Group:
    """Return what is known before the first sample.

    ``powers`` holds, for each sensor, the powers 1, 2, 4, ... of the ratio of a geometric lattice, or zeros for a
    linear one, in which the integer c stands for ``(c * numerator + offset) / denominator``. ``period`` is that of the
    day in samples, or 0. Groups of format version 1 have neither mixture nor memory.
    """
    n = len(width)
    return Group(
        width=width,
        numerator=numerator,
        denominator=denominator,
        offset=offset,
        powers=powers,
        single=single,
        exact=exact,
        precision=precision,
        clock=np.zeros(4, dtype=np.int64),
        history=np.zeros((max(period + 2, 4), n)),
        seen=np.zeros(n, dtype=np.int64),
        mean=np.zeros(n),
        variance=4.0 * width * width,
        spread=2.0 * width,
        ratio=np.ones(n),
        stir=np.ones(n),
        jump=np.zeros(n),
        jump_account=np.zeros(1),
        level_factors=np.ones(LEVELS),
        stir_factors=np.ones(STIRS),
        sums=np.zeros((N_FEATURES + 1, N_FEATURES + 1)),
        weights=np.zeros(N_FEATURES),
        covariance=np.eye(n),
        upper=np.eye(n),
        pivots=np.ones(n),
        shape_account=np.zeros(1),
        rare=np.full(2 * INTEGER_BITS + 2, EVEN, dtype=np.int64),
        escapes=new_escape_bits(),
        last_raw=np.zeros(n, dtype=np.int64),
        spent=np.zeros(3),
        presence=new_presence(n),
        mixture=new_mixture(0 if version == 1 else n),
        memory=new_memory(0 if version == 1 or n > LARGEST_SMALL_GROUP else n),
    )


def value_of(group: Group, i: int, cell: int) -> float:
    """Return the reading that an integer of a sensor's lattice stands for."""
    if group.powers[i, 0] > 0.0:
        rest = abs(cell)
        if rest == 0:
            return 0.0
        value = float(group.numerator[i])
        rest -= 1
        k = 0
        while rest > 0 and k < group.powers.shape[1]:
            if rest & 1:
                value *= float(group.powers[i, k])
            rest >>= 1
            k += 1
        if cell < 0:
            value = -value
    else:
        value = (float(cell) * float(group.numerator[i]) + float(group.offset[i])) / float(group.denominator[i])
    if group.single[i] == 1:
        value = float(np.float32(value))
    return value
