"""An integer range coder: symbols of known probability become bytes, and bytes symbols.

One function serves both directions, so that a model that is written once is the same on both sides: with
``coder[MODE] == ENCODING`` it takes the symbol that it is given, otherwise it ignores it and returns the one it reads.

The coder is an array of int64 (see the indices below) beside a buffer of bytes. The interval is 48 bits wide and is
widened by whole bytes as soon as fewer than 40 are left; a carry runs back into the bytes that are written already.
Frequencies add up to 65,536. The end of a stream is implied: what is missing is read as zeros, so that trailing zeros
are never written.
"""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import ByteArray, IntArray

#: Compiled without memory management: nothing here makes arrays.
ALLOCATES = False

ENCODING, DECODING = 0, 1
#: What each entry of a coder is: direction; low end (encoding) or the code less it (decoding); width; bytes written or
#: read; bytes that there are to read.
MODE, LOW, WIDTH, AT, END = 0, 1, 2, 3, 4
CODER_SIZE = 8

TOTAL_BITS = 16
TOTAL = 1 << TOTAL_BITS
_FULL = 1 << 48
_NARROW = 1 << 40
_HALF = 1 << 47
#: The highest bit of the first byte.
TOP_BIT = 128


def start_encoding(coder: IntArray) -> None:
    """Make a coder ready to write to the beginning of its buffer."""
    coder[MODE] = ENCODING
    coder[LOW] = 0
    coder[WIDTH] = _FULL
    coder[AT] = 0


def start_decoding(coder: IntArray, buffer: ByteArray, end: int) -> None:
    """Make a coder ready to read the first ``end`` bytes of a buffer."""
    coder[MODE] = DECODING
    coder[WIDTH] = _FULL
    coder[END] = end
    code = 0
    for i in range(6):
        code = code << 8
        if i < end:
            code = code + int(buffer[i])
    coder[LOW] = code
    coder[AT] = 6


def _carry(buffer: ByteArray, at: int) -> None:
    """Add 1 to the number that the first ``at`` bytes are."""
    i = at - 1
    while buffer[i] == 255:
        buffer[i] = 0
        i -= 1
    buffer[i] += 1


def code_interval(coder: IntArray, buffer: ByteArray, start: int, size: int) -> None:
    """Narrow the interval to that of a symbol, which covers ``size`` of the 65,536 from ``start`` on."""
    unit = int(coder[WIDTH]) >> TOTAL_BITS
    width = unit * size
    at = int(coder[AT])
    if coder[MODE] == ENCODING:
        low = int(coder[LOW]) + unit * start
        if low >= _FULL:
            low -= _FULL
            _carry(buffer, at)
        while width < _NARROW:
            buffer[at] = low >> 40
            at += 1
            low = (low << 8) & (_FULL - 1)
            width = width << 8
    else:
        # Bytes that no encoder wrote may lie beyond the last symbol.
        low = int(coder[LOW]) - unit * start
        if low >= width:
            low = width - 1
        end = int(coder[END])
        while width < _NARROW:
            low = low << 8
            if at < end:
                low += int(buffer[at])
            at += 1
            width = width << 8
    coder[LOW] = low
    coder[WIDTH] = width
    coder[AT] = at


def point(coder: IntArray) -> int:
    """Return which of the 65,536 a coder that reads is in."""
    at = int(coder[LOW]) // (int(coder[WIDTH]) >> TOTAL_BITS)
    return at if at < TOTAL else TOTAL - 1


def position_in_bits(coder: IntArray) -> float:
    """Return how many bits a coder has written or read: for reports and encoders, never for a decoder."""
    return 8.0 * float(coder[AT]) + 48.0 - math.log2(float(coder[WIDTH]))


def code_bits(coder: IntArray, buffer: ByteArray, value: int, n_bits: int) -> int:
    """Code the ``n_bits`` low bits of an integer as they are, the highest first."""
    result = 0
    left = n_bits
    while left > 0:
        take = min(left, 16)
        left -= take
        symbol = (value >> left) & ((1 << take) - 1)
        if coder[MODE] == DECODING:
            symbol = point(coder) >> (TOTAL_BITS - take)
        code_interval(coder, buffer, symbol << (TOTAL_BITS - take), 1 << (TOTAL_BITS - take))
        result = (result << take) | symbol
    return result


def finish_encoding(coder: IntArray, buffer: ByteArray) -> int:
    """Write as few halves of bytes as tell the interval from its neighbours; return how many bytes there are in all."""
    low = int(coder[LOW])
    width = int(coder[WIDTH])
    at = int(coder[AT])
    for kept in range(13):
        mask = (1 << (48 - 4 * kept)) - 1
        value = (low + mask) & ~mask
        if value < low + width:
            break
    if value >= _FULL:
        value -= _FULL
        _carry(buffer, at)
    for i in range((kept + 1) >> 1):
        buffer[at] = (value >> (40 - 8 * i)) & 255
        at += 1
    while at > 0 and buffer[at - 1] == 0:
        at -= 1
    coder[AT] = at
    return at


def finish_centred(coder: IntArray, buffer: ByteArray) -> int:
    """Finish, flip the top bit, drop trailing zeros; return how many bytes there are in all.

    No bytes then stand for the middle of the interval, where the likeliest readings are.
    """
    if coder[AT] == 0 and coder[LOW] <= _HALF < coder[LOW] + coder[WIDTH]:
        return 0
    at = max(finish_encoding(coder, buffer), 1)
    buffer[0] ^= TOP_BIT
    while at > 0 and buffer[at - 1] == 0:
        at -= 1
    coder[AT] = at
    return at


#: Minimum frequency of either bit, out of 65,536.
_RAREST = 24

#: Weight, of 65,536, with which a probability takes in its n-th bit.
RATES = np.array([int(65536 / (n + 1.6)) for n in range(256)], dtype=np.int64)


def code_bit(coder: IntArray, buffer: ByteArray, bits: IntArray, index: int, limit: int, bit: int) -> int:
    """Code one bit with the adaptive probability ``bits[index]``, and adapt it.

    A probability is kept as one integer: 22 bits of it above 8 bits that count what it has seen, up to ``limit``.
    """
    entry = int(bits[index])
    seen = entry & 255
    probability = entry >> 8
    ones = probability >> 6
    if ones < _RAREST:
        ones = _RAREST
    elif ones > TOTAL - _RAREST:
        ones = TOTAL - _RAREST
    if coder[MODE] == DECODING:
        bit = 1 if point(coder) < ones else 0
    if bit != 0:
        code_interval(coder, buffer, 0, ones)
        probability += ((4194303 - probability) * int(RATES[seen])) >> 16
    else:
        code_interval(coder, buffer, ones, TOTAL - ones)
        probability -= (probability * int(RATES[seen])) >> 16
    if seen < limit:
        seen += 1
    bits[index] = (probability << 8) | seen
    return bit


#: A probability of one half that has seen nothing.
EVEN = (1 << 21) << 8

#: Adaptive bits that `code_integer` uses from its ``index`` on.
INTEGER_BITS = 39


def code_integer(coder: IntArray, buffer: ByteArray, bits: IntArray, index: int, value: int) -> int:
    """Code an integer from 0 to 2**40 - 2: how many bits it has in unary, adaptively, then those bits."""
    length = 0
    rest = value + 1
    while rest > 1:
        rest = rest >> 1
        length += 1
    coded = 0
    while coded < 39 and code_bit(coder, buffer, bits, index + coded, 60, 1 if coded < length else 0) == 1:
        coded += 1
    return (1 << coded) + code_bits(coder, buffer, (value + 1) - (1 << coded), coded) - 1
