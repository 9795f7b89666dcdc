"""Readings that the model cannot hold: the first cell of a sensor, the low bits of a float, all 64 bits of a number."""

from __future__ import annotations

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.group_state import Group
from orthostream.compression.kernel.range_coder import INTEGER_BITS, code_bit, code_bits, code_integer

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False
#: Functions with this parameter are inlined: it is many arrays, which a call would copy.
INLINES = "group"


#: Adaptive bits of `rare`: whether a reading is raw, and whether a first one is; those of the first cell; whether the
#: top bits of a raw reading are those of the last one, and whether its low bits are zeros.
RAW_BIT, FIRST_BITS, SAME_TOP, ZERO_END = 0, 2, 2 + INTEGER_BITS, 3 + INTEGER_BITS

#: Bits of a raw reading: its top (sign, exponent and a little more), and those that a number of 32 bits has not.
_TOP, _END = 16, 29


def code_first(coder: IntArray, buffer: ByteArray, group: Group, reference: int, cell: int) -> int:
    """Code the first cell of a sensor: its distance from one that is known."""
    apart = cell - reference
    folded = 2 * apart if apart >= 0 else -2 * apart - 1
    folded = code_integer(coder, buffer, group.rare, FIRST_BITS, folded)
    return reference + ((folded >> 1) if folded & 1 == 0 else -((folded + 1) >> 1))


def code_pattern(coder: IntArray, buffer: ByteArray, pattern: int) -> int:
    """Code the 64 bits of a number, as format version 1 does."""
    high = code_bits(coder, buffer, (pattern >> 32) & 0xFFFFFFFF, 32)
    low = code_bits(coder, buffer, pattern & 0xFFFFFFFF, 32)
    if high >= 0x80000000:
        high -= 0x100000000
    return (high << 32) | low


def code_raw(coder: IntArray, buffer: ByteArray, group: Group, i: int, pattern: int) -> int:
    """Code the 64 bits of a number: one bit if its top is that of the last raw reading, one if its end is zero."""
    last = (int(group.last_raw[i]) >> (64 - _TOP)) & ((1 << _TOP) - 1)
    top = (pattern >> (64 - _TOP)) & ((1 << _TOP) - 1)
    end = pattern & ((1 << _END) - 1)
    if code_bit(coder, buffer, group.rare, SAME_TOP, 60, 1 if top == last else 0) == 1:
        top = last
    else:
        top = code_bits(coder, buffer, top, _TOP)
    middle = code_bits(coder, buffer, (pattern >> _END) & ((1 << (64 - _TOP - _END)) - 1), 64 - _TOP - _END)
    if code_bit(coder, buffer, group.rare, ZERO_END, 60, 1 if end == 0 else 0) == 1:
        end = 0
    else:
        end = code_bits(coder, buffer, end, _END)
    if top >= 1 << (_TOP - 1):
        top -= 1 << _TOP
    pattern = (top << (64 - _TOP)) | (middle << _END) | end
    group.last_raw[i] = pattern
    return pattern


def rest_bits(precision: int, cell: int) -> int:
    """Return how many low bits follow a cell as they are."""
    size = abs(cell)
    if size == 0:
        return 0
    while size > 0 and precision > 0:
        size >>= 1
        precision -= 1
    return precision
