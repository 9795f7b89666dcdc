"""The distribution of an error of prediction: Student's t with four or ten degrees of freedom.

Its distribution function is algebraic, so that it takes no exponential, logarithm or error function, whose last bits
differ from machine to machine. An integer n stands for the cell from n - 1/2 to n + 1/2; beyond a few scales it is
coded as an escape.
"""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import (
    DECODING,
    EVEN,
    INTEGER_BITS,
    MODE,
    TOTAL,
    code_bits,
    code_integer,
    code_interval,
    point,
)

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False


#: Adaptive bits of the escapes: how far beyond the cells that have a probability of their own.
ESCAPE_BITS = INTEGER_BITS

#: The widest scale, in cells, for which every cell has a probability; wider ones are coded as a coarse cell and bits.
_WIDEST = 64.0
#: The widest scale of all, in cells.
WIDEST_SCALE = 68719476736.0  # 2**36


#: Shapes: four degrees of freedom, or ten.
FOUR, TEN = 0, 1


def below(x: float, shape: int) -> float:
    """Return the share of the standard distribution below x."""
    if shape == TEN:
        c = 10.0 / (10.0 + x * x)
        series = 1.0 + c * (0.5 + c * (0.375 + c * (0.3125 + c * 0.2734375)))
        share = 0.5 + 0.5 * (x / math.sqrt(10.0 + x * x)) * series
        # Rounding may take it below 0 far out, where a cell would then have no share at all.
        return share if share > 0.0 else 0.0
    square = 1.0 + 0.25 * x * x
    return 0.5 + 0.375 * (x / math.sqrt(square)) * (1.0 - (x * x) / (12.0 * square))


def density(x: float, shape: int) -> float:
    """Return the density of the standard distribution."""
    if shape == TEN:
        square = 1.0 + 0.1 * x * x
        fifth = square * square * square * square * square
        return 0.38910838396603115 / (fifth * math.sqrt(square))
    square = 1.0 + 0.25 * x * x
    return 0.375 / (square * square * math.sqrt(square))


def new_escape_bits() -> IntArray:
    """Return the adaptive bits that `code_cell` needs."""
    return np.full(ESCAPE_BITS, EVEN, dtype=np.int64)


def _edge(k: int, centre: float, scale: float, reach: int, room: float, shape: int) -> int:
    """Return where, of the 65,536, the cell k begins."""
    return math.floor(below((k - 0.5 - centre) / scale, shape) * room) + k + reach + 1


def code_cell(
    coder: IntArray, buffer: ByteArray, escapes: IntArray, centre: float, scale: float, cell: int, shape: int
) -> int:
    """Code the cell, of width 1, into which a number falls that is t-distributed around ``centre`` with a ``scale``."""
    shift = 0
    while scale > _WIDEST:
        scale *= 0.5
        centre *= 0.5
        shift += 1
    half = 0.0
    if shift > 0:
        # A coarse cell k holds the fine cells from k 2**shift on; its middle is half a fine cell below its centre.
        half = 0.5 - 0.5 / float(1 << shift)
    coarse = cell >> shift
    centre -= half
    reach = int(8.0 * scale) + 3
    room = float(TOTAL - 2 * reach - 3)
    if coder[MODE] == DECODING:
        at = point(coder)
        low = -reach
        high = reach + 1
        coarse = min(max(math.floor(centre + 0.5), low), high - 1)
        # The bounds move towards each other until they enclose one cell: from the likeliest cell outwards, then by
        # halves.
        step = 1
        if at >= _edge(coarse, centre, scale, reach, room, shape):
            low = coarse
            probe = coarse + 1
            while probe < high and at >= _edge(probe, centre, scale, reach, room, shape):
                low = probe
                step *= 2
                probe = low + step
            high = min(high, probe)
        else:
            high = coarse
            probe = coarse - 1
            while probe > low and at < _edge(probe, centre, scale, reach, room, shape):
                high = probe
                step *= 2
                probe = high - step
            low = max(low, probe)
        if low == -reach and at < _edge(low, centre, scale, reach, room, shape):
            coarse = low - 1
        elif high == reach + 1 and at >= _edge(high, centre, scale, reach, room, shape):
            coarse = high
        else:
            while high - low > 1:
                middle = (low + high) >> 1
                if at >= _edge(middle, centre, scale, reach, room, shape):
                    low = middle
                else:
                    high = middle
            coarse = low
    if coarse < -reach:
        code_interval(coder, buffer, 0, _edge(-reach, centre, scale, reach, room, shape))
        coarse = -reach - 1 - code_integer(coder, buffer, escapes, 0, -reach - 1 - coarse)
    elif coarse > reach:
        start = _edge(reach + 1, centre, scale, reach, room, shape)
        code_interval(coder, buffer, start, TOTAL - start)
        coarse = reach + 1 + code_integer(coder, buffer, escapes, 0, coarse - reach - 1)
    else:
        start = _edge(coarse, centre, scale, reach, room, shape)
        code_interval(coder, buffer, start, _edge(coarse + 1, centre, scale, reach, room, shape) - start)
    if shift > 0:
        # Nothing that an encoder writes is as far away as bytes from elsewhere may say.
        farthest = 1 << (44 - shift)
        coarse = min(max(coarse, -farthest), farthest)
        return (coarse << shift) + code_bits(coder, buffer, cell & ((1 << shift) - 1), shift)
    return coarse
