"""The integers of rotations through the range coder: one function for both directions.

Most rotations between two dictionaries are small, and an atom that has moved has moved in many planes: the size of an
integer is guessed from those before it in its row and in its column, and coded with probabilities that adapt.
"""

from __future__ import annotations

import numpy as np

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.range_coder import DECODING, EVEN, MODE, code_bit, code_bits

#: Digits of the largest size that can be coded, less one.
MOST_DIGITS = 20

_LIMIT = 120
_CONTEXTS = 24
#: Probabilities of a context: whether a size has one more digit, and from here on its second digit.
_SECOND_DIGIT = 32
_PER_CONTEXT = 64


def new_probabilities() -> IntArray:
    """Return the probabilities to begin with: those of a geometric distribution around the guessed size.

    They count as if they had been seen eight times.
    """
    bits = np.full(_CONTEXTS * _PER_CONTEXT, EVEN, dtype=np.int64)
    for context in range(_CONTEXTS):
        mean = float(1 << context) / 8.0
        ratio = mean / (1.0 + mean)
        power, half_power = ratio, 1.0  # the ratio to the power of how many sizes have as many digits, and half as many
        for digits in range(MOST_DIGITS + 1):
            bits[_PER_CONTEXT * context + digits] = _probability(power)
            bits[_PER_CONTEXT * context + _SECOND_DIGIT + digits] = _probability(half_power / (1.0 + half_power))
            half_power, power = power, power * power
    return bits


def _probability(probability: float) -> int:
    return (int(min(max(probability, 0.004), 0.996) * 4194304.0) << 8) | 8


def code_levels(
    coder: IntArray, buffer: ByteArray, bits: IntArray, levels: IntArray, n_rows: int, n_columns: int
) -> None:
    """Code the integers of the rotations of an N x K matrix, column after column; reading, fill them in."""
    reading = coder[MODE] == DECODING
    row_sizes = np.zeros(n_rows, dtype=np.int64)
    place = 0
    for column in range(n_columns):
        column_size = int(row_sizes[column])
        for row in range(column + 1, n_rows):
            level = int(levels[place])
            base = _PER_CONTEXT * _context(int(row_sizes[row]) + column_size)
            size = _code_size(coder, buffer, bits, base, abs(level))
            negative = 0
            if size > 0:
                negative = code_bits(coder, buffer, 1 if level < 0 else 0, 1)
            if reading:
                levels[place] = -size if negative == 1 else size
            place += 1
            row_sizes[row] += ((size << 12) - int(row_sizes[row])) >> 3
            column_size += ((size << 12) - column_size) >> 3


def _context(guess: int) -> int:
    """Return how many digits a guess of a size has."""
    rest = guess >> 10
    digits = 0
    while rest > 0:
        rest = rest >> 1
        digits += 1
    return min(digits, _CONTEXTS - 1)


def _code_size(coder: IntArray, buffer: ByteArray, bits: IntArray, base: int, size: int) -> int:
    """Code an integer of at least 0: its number of digits, its second digit, the rest as it is."""
    length = 0
    rest = size + 1
    while rest > 1:
        rest = rest >> 1
        length += 1
    coded = 0
    while coded < MOST_DIGITS and code_bit(coder, buffer, bits, base + coded, _LIMIT, 1 if coded < length else 0) == 1:
        coded += 1
    if coded == 0:
        return 0
    tail = size + 1 - (1 << coded)
    second = code_bit(coder, buffer, bits, base + _SECOND_DIGIT + coded, _LIMIT, (tail >> (coded - 1)) & 1)
    low = code_bits(coder, buffer, tail, coded - 1)
    return (1 << coded) + (second << (coded - 1)) + low - 1
