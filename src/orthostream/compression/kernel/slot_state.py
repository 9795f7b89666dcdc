"""What both sides know after each sample, and what an integer of a sensor's lattice stands for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.kernel.memory import Memory, new_memory
from orthostream.compression.kernel.mixture import Mixture, new_mixture
from orthostream.compression.kernel.presence import Presence, new_presence
from orthostream.compression.kernel.range_coder import EVEN, INTEGER_BITS
from orthostream.compression.kernel.student import new_escape_bits

N_FEATURES = 8
#: Factors of the scale: by the level of a sensor, and by how much it was stirred up lately.
LEVELS, STIRS = 10, 8

#: What `clock` holds: samples, the running hash of the integers that were coded, and whether what was read cannot have
#: been written.
SAMPLES, HASH, BROKEN = 0, 1, 2


class Slot(NamedTuple):
    """What both sides know after each sample; every field is an array, changed in place."""

    width: FloatArray
    numerator: FloatArray
    denominator: FloatArray
    offset: FloatArray
    powers: FloatArray
    single: IntArray
    clock: IntArray
    history: FloatArray
    seen: IntArray
    mean: FloatArray
    variance: FloatArray
    spread: FloatArray
    ratio: FloatArray
    stir: FloatArray
    level_factors: FloatArray
    stir_factors: FloatArray
    sums: FloatArray
    weights: FloatArray
    covariance: FloatArray
    upper: FloatArray
    pivots: FloatArray
    rare: IntArray
    escapes: IntArray
    spent: FloatArray
    shapes: FloatArray
    presence: Presence
    mixture: Mixture
    memory: Memory


def new_slot(
    width: FloatArray,
    numerator: FloatArray,
    denominator: FloatArray,
    offset: FloatArray,
    powers: FloatArray,
    single: IntArray,
    period: int,
) -> Slot:
    """Return what is known before the first sample.

    ``powers`` holds, for each sensor, the powers 1, 2, 4, ... of the ratio of a geometric lattice, or zeros for a
    linear one, in which the integer c stands for ``(c * numerator + offset) / denominator``. ``period`` is that of the
    day in samples, or 0.
    """
    n = len(width)
    return Slot(
        width=width,
        numerator=numerator,
        denominator=denominator,
        offset=offset,
        powers=powers,
        single=single,
        clock=np.zeros(4, dtype=np.int64),
        history=np.zeros((max(period + 2, 4), n)),
        seen=np.zeros(n, dtype=np.int64),
        mean=np.zeros(n),
        variance=4.0 * width * width,
        spread=2.0 * width,
        ratio=np.ones(n),
        stir=np.ones(n),
        level_factors=np.ones(LEVELS),
        stir_factors=np.ones(STIRS),
        sums=np.zeros((N_FEATURES + 1, N_FEATURES + 1)),
        weights=np.zeros(N_FEATURES),
        covariance=np.eye(n),
        upper=np.eye(n),
        pivots=np.ones(n),
        rare=np.full(2 * INTEGER_BITS + 2, EVEN, dtype=np.int64),
        escapes=new_escape_bits(),
        spent=np.zeros(3),
        shapes=np.zeros(2),
        presence=new_presence(n),
        mixture=new_mixture(n),
        memory=new_memory(n),
    )


def value_of(slot: Slot, i: int, cell: int) -> float:
    """Return the reading that an integer of a sensor's lattice stands for."""
    if slot.powers[i, 0] > 0.0:
        rest = abs(cell)
        if rest == 0:
            return 0.0
        value = float(slot.numerator[i])
        rest -= 1
        k = 0
        while rest > 0 and k < slot.powers.shape[1]:
            if rest & 1:
                value *= float(slot.powers[i, k])
            rest >>= 1
            k += 1
        if cell < 0:
            value = -value
    else:
        value = (float(cell) * float(slot.numerator[i]) + float(slot.offset[i])) / float(slot.denominator[i])
    if slot.single[i] == 1:
        value = float(np.float32(value))
    return value
