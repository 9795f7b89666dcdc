"""Quantised coefficients as adaptive bits: atoms that are predicted well cost next to nothing.

For the kernel: the same text runs plain and compiled (see `orthostream.compression.kernel`), in one space with the
other modules there, so that no two of them may use a name for different things. A block of coefficients is an array
(atoms, frequencies). Each atom first says whether it has any level other than zero. Where it has, each level is coded
in unary, in a context of how large levels have been at this place and are at its neighbours.
"""

from __future__ import annotations

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import (
    AT,
    DECODING,
    END,
    EVEN,
    INTEGER_BITS,
    MODE,
    code_bit,
    code_bits,
    code_integer,
)

#: Frequencies that sizes of levels are remembered for; a block of fewer rows uses them thinned out.
MOST_ROWS = 32
#: A level of one in the memory of sizes, and certainty in that of activity.
UNIT = 1024
_ACTIVITIES = 16
_SIZES = 14
_UNARY = 14
_LEVEL_MEMORY = 120
#: Places of the adaptive bits: is an atom active; is a level zero; larger than 1, 2, ...; and what is beyond.
_NOT_ZERO = _ACTIVITIES * 4
_LARGER = _NOT_ZERO + _SIZES * 3
_BEYOND = _LARGER + _SIZES * _UNARY
LEVEL_BITS = _BEYOND + INTEGER_BITS
#: No level may be larger: a float still tells it from the next.
LARGEST_LEVEL = 1 << 48


def start_level_bits(bits: IntArray) -> None:
    """Fill in the probabilities that a new coder starts with."""
    for i in range(LEVEL_BITS):
        bits[i] = EVEN


def overrun(coder: IntArray) -> bool:
    """Return whether a coder has read more than its encoder can have written."""
    return bool(coder[MODE] == DECODING and coder[AT] > coder[END] + 6)


def _size_context(size: int) -> int:
    """Return one of 14 classes of an expected size, finer where it is small."""
    context = 0
    bound = UNIT // 32
    while context < _SIZES - 1 and size > bound:
        context += 1
        bound = bound + (bound >> 1) + 8
    return context


def code_levels(
    coder: IntArray, buffer: ByteArray, bits: IntArray, activity: IntArray, sizes: IntArray, levels: IntArray
) -> bool:
    """Code a block of levels and adapt; return False if the payload is corrupt.

    Parameters
    ----------
    coder, buffer
        Of the range coder.
    bits : array of LEVEL_BITS integers
    activity : array of n_atoms integers
        How often each atom has been active.
    sizes : array (n_atoms, MOST_ROWS) of integers
        How large levels have been.
    levels : array (n_atoms, n_rows)
        Read where the coder encodes, written where it decodes.
    """
    n_atoms, n_rows = levels.shape
    before = 0
    for k in range(n_atoms):
        active = 0
        for f in range(n_rows):
            if levels[k, f] != 0:
                active = 1
        context = min(int(activity[k]) * _ACTIVITIES // UNIT, _ACTIVITIES - 1) * 4 + before
        active = code_bit(coder, buffer, bits, context, _LEVEL_MEMORY, active)
        before = ((before << 1) | active) & 3
        activity[k] += (active * UNIT - int(activity[k])) >> 4
        for f in range(n_rows):
            place = f * MOST_ROWS // n_rows
            magnitude = 0
            if active == 1:
                near = 0
                if f > 0:
                    near += 2 * min(abs(int(levels[k, f - 1])), 64)
                if f > 1:
                    near += min(abs(int(levels[k, f - 2])), 64)
                above = 0
                if k > 0:
                    above = min(abs(int(levels[k - 1, f])), 64)
                    near += above
                size = _size_context((int(sizes[k, place]) * 2 + near * (UNIT // 4)) >> 1)
                level = int(levels[k, f])
                magnitude = abs(level)
                index = _NOT_ZERO + size * 3 + min(above, 2)
                if code_bit(coder, buffer, bits, index, _LEVEL_MEMORY, 1 if magnitude > 0 else 0) == 0:
                    magnitude = 0
                else:
                    length = 1
                    while length < _UNARY and code_bit(
                        coder,
                        buffer,
                        bits,
                        _LARGER + size * _UNARY + length - 1,
                        _LEVEL_MEMORY,
                        1 if magnitude > length else 0,
                    ):
                        length += 1
                    if length == _UNARY:
                        length += code_integer(coder, buffer, bits, _BEYOND, max(magnitude - _UNARY, 0))
                    magnitude = length
                    negative = code_bits(coder, buffer, 1 if level < 0 else 0, 1)
                    levels[k, f] = -magnitude if negative == 1 else magnitude
            sizes[k, place] += (min(magnitude, 1024) * UNIT - int(sizes[k, place])) >> 4
            if magnitude > LARGEST_LEVEL:
                return False
        if overrun(coder):
            return False
    return True
