"""Many decimal numbers at once, from bytes."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, ByteArray, FloatArray, IntArray

# Small enough for the work of a block to stay in the cache of a core.
_BLOCK = 16_384
# A mantissa up to 2**53 and a power of ten up to 10**22 are exact, so that one division rounds once, as it should.
_LARGEST_MANTISSA = 2**53
_MOST_DIGITS = 18
_POWERS = 10.0 ** np.arange(_MOST_DIGITS + 1)
_ZERO, _PLUS, _MINUS = ord("0"), ord("+"), ord("-")


def parse_decimals(
    text: ByteArray, starts: IntArray, ends: IntArray, point: int = ord(".")
) -> tuple[FloatArray, BoolArray]:
    """Return the numbers of cells, and which cells were not plain decimals: those need another look.

    A plain decimal is an optional sign, digits and at most one decimal point, and few enough digits to be exact. An
    empty cell is NaN.

    Parameters
    ----------
    text : bytes of a table
    starts, ends : of the cells, of any one shape
    point : the decimal point

    Examples
    --------
    >>> text = np.frombuffer(b"12.5,-3,,1e5", np.uint8)
    >>> numbers, odd = parse_decimals(text, np.array([0, 5, 8, 9]), np.array([4, 7, 8, 12]))
    >>> numbers.tolist(), odd.tolist()
    ([12.5, -3.0, nan, nan], [False, False, False, True])
    """
    numbers = np.empty(starts.size)
    odd = np.zeros(starts.size, dtype=bool)
    flat_starts, flat_ends = starts.ravel(), ends.ravel()
    for begin in range(0, starts.size, _BLOCK):
        part = slice(begin, begin + _BLOCK)
        numbers[part], odd[part] = _parse_block(text, flat_starts[part], flat_ends[part], point)
    return numbers.reshape(starts.shape), odd.reshape(starts.shape)


def _parse_block(text: ByteArray, starts: IntArray, ends: IntArray, point: int) -> tuple[FloatArray, BoolArray]:
    empty = starts >= ends
    first = text.take(starts, mode="clip")
    negative = (first == _MINUS) & ~empty
    signed = negative | ((first == _PLUS) & ~empty)
    starts = starts + signed
    lengths = ends - starts
    mantissa = np.zeros(starts.size, dtype=np.int64)
    digits = np.zeros(starts.size, dtype=np.int64)
    decimals = np.zeros(starts.size, dtype=np.int64)
    points = np.zeros(starts.size, dtype=np.int64)
    for place in range(min(int(lengths.max(initial=0)), _MOST_DIGITS + 1)):
        inside = place < lengths
        letter = text.take(starts + place, mode="clip")
        digit = letter - np.uint8(_ZERO)
        is_digit = (digit < 10) & inside
        np.multiply(mantissa, 10, out=mantissa, where=is_digit)
        np.add(mantissa, digit, out=mantissa, where=is_digit)
        digits += is_digit
        decimals += is_digit & (points > 0)
        points += (letter == point) & inside
    plain = (digits + points == lengths) & (points <= 1) & (digits >= 1) & (digits <= _MOST_DIGITS)
    plain &= mantissa <= _LARGEST_MANTISSA
    numbers = mantissa / _POWERS[np.minimum(decimals, _MOST_DIGITS)]
    np.negative(numbers, out=numbers, where=negative)
    numbers[~plain] = np.nan
    return numbers, ~plain & ~empty
