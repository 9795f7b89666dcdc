"""A cell by halving an interval: the way where no candidate holds."""

from __future__ import annotations

import math

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.logistic import REHEARSING, code_known, log2_of, logit_of
from orthostream.compression.kernel.mixture import (
    AGO,
    HALVINGS,
    LEVEL,
    NEIGHBOUR,
    SHAPE,
    STIR,
    Mixture,
    hash_of,
    mixed_bit,
    moved,
    slot_of,
)
from orthostream.compression.kernel.questions import NONE, ask_candidates, bits_of
from orthostream.compression.kernel.range_coder import INTEGER_BITS, MODE, TOTAL, code_bits, code_integer
from orthostream.compression.kernel.repeats import last_cell
from orthostream.compression.kernel.student import below

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False

#: Halvings that are mixed; the bits below them are coded as they are.
_DEEPEST = 12


def code_mixed(
    coder: IntArray, buffer: ByteArray, mixture: Mixture, i: int, centre: float, scale: float, cell: int
) -> int:
    """Code a cell, of width 1, that the bell curve expects around ``centre`` with a ``scale``."""
    mixture.cost[0] = 0.0
    which = ask_candidates(coder, buffer, mixture, i, centre, scale, cell)
    if which != NONE:
        return int(mixture.candidates[which])
    block = 3
    while float(1 << block) < 8.0 * scale + 3.0 and block < 44:
        block += 1
    # Aligned to powers of two, so that the same halves are met again.
    middle = math.floor(centre / float(1 << block) + 0.5)
    low = (middle - 1) << block
    high = (middle + 1) << block
    entry = int(mixture.escapes[INTEGER_BITS])
    ones = min(max(entry >> 14, 4), TOTAL - 4)
    outside = code_known(coder, buffer, ones, 0 if low <= cell < high else 1)
    mixture.cost[0] -= log2_of((ones if outside == 1 else TOTAL - ones) / 65536.0)
    mixture.escapes[INTEGER_BITS] = moved(entry, outside, 250)
    if outside == 1:
        return _code_outside(coder, buffer, mixture, low, high, cell)
    return _code_inside(coder, buffer, mixture, i, centre, scale, low, block + 1, cell)


def _code_outside(coder: IntArray, buffer: ByteArray, mixture: Mixture, low: int, high: int, cell: int) -> int:
    """Code a cell below ``low``, or from ``high`` on."""
    above = 1 if cell >= high else 0
    apart = cell - high if above == 1 else low - 1 - cell
    if coder[MODE] != REHEARSING:
        above = code_bits(coder, buffer, above, 1)
        apart = code_integer(coder, buffer, mixture.escapes, 0, apart)
    mixture.cost[0] += 1.0 + 2.0 * float(bits_of(apart))
    return high + apart if above == 1 else low - 1 - apart


def _share_above(mixture: Mixture, centre: float, scale: float, low: int, edge: int, high: int) -> float:
    """Return which share of the bell curve between low and high lies from ``edge`` on, without the candidates."""
    shape = int(mixture.around[SHAPE])
    at_edge = below((float(edge) - 0.5 - centre) / scale, shape)
    over = below((float(high) - 0.5 - centre) / scale, shape) - at_edge + 1e-12
    under = at_edge - below((float(low) - 0.5 - centre) / scale, shape) + 1e-12
    least = 1e-9 * (over + under)
    for j in range(NONE):
        if low <= mixture.candidates[j] < high:
            if mixture.candidates[j] >= edge:
                over -= float(mixture.masses[j])
            else:
                under -= float(mixture.masses[j])
    over = max(over, least)
    under = max(under, least)
    return over / (over + under)


def _code_inside(
    coder: IntArray,
    buffer: ByteArray,
    mixture: Mixture,
    i: int,
    centre: float,
    scale: float,
    low: int,
    size: int,
    cell: int,
) -> int:
    """Code a cell from ``low`` on, below ``low + 2**size``."""
    slots = mixture.slots
    places = mixture.places
    around = mixture.around
    last = last_cell(mixture, i, 1)
    before = last_cell(mixture, i, 2)
    nearest = math.floor(centre + 0.5)
    depth = 0
    while size > 0 and depth < _DEEPEST:
        size -= 1
        edge = low + (1 << size)
        share = _share_above(mixture, centre, scale, low, edge, edge + (1 << size))
        mixture.inputs[0] = logit_of(share)
        step = depth * 32 + int(share * 31.999)
        node = hash_of(low, size + 64)
        own = hash_of(i, node)
        places[1] = -1 - (4096 + step * 8 + int(around[STIR]))
        places[2] = slot_of(slots, own)
        places[3] = slot_of(slots, hash_of(last, own + 1))
        places[4] = slot_of(slots, hash_of(before, hash_of(last, own + 2)))
        places[5] = slot_of(slots, hash_of(int(around[NEIGHBOUR]), own + 3))
        places[6] = slot_of(slots, hash_of(int(around[AGO]), own + 4))
        places[7] = slot_of(slots, hash_of(int(around[NEIGHBOUR]), node + 5))
        places[8] = slot_of(slots, hash_of(last, node + 6))
        places[9] = slot_of(slots, node)
        places[10] = slot_of(slots, hash_of(int(around[LEVEL]), hash_of(step, i + 1000)))
        places[11] = slot_of(slots, hash_of(low - last, hash_of(size + 1, i + 2000)))
        places[12] = slot_of(slots, hash_of(low - nearest, hash_of(size + 1, i + 3000)))
        if mixed_bit(coder, buffer, mixture, HALVINGS + min(size, 15), 13, 1 if cell >= edge else 0) == 1:
            low = edge
        depth += 1
    if size > 0:
        mixture.cost[0] += float(size)
        if coder[MODE] == REHEARSING:
            return cell
        low += code_bits(coder, buffer, cell - low, size)
    return low
