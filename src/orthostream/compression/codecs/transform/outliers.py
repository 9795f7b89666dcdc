"""Outliers, which are sent exactly: infinite readings, and those so far off that they would disturb the rest."""

from __future__ import annotations

import math
import struct

import numpy as np

from orthostream._typing import BoolArray, ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.range_coder import (
    DECODING,
    EVEN,
    INTEGER_BITS,
    MODE,
    code_bit,
    code_bits,
    code_integer,
)

#: An outlier is further off than this many times the usual distance.
_FAR = 200.0
#: A reading further from zero than this many steps is an outlier too: a float could not hold its error.
MOST_STEPS = float(1 << 34)
_DOUBLE = struct.Struct("<d")
_WORD = struct.Struct("<Q")
_SAME, _WHOLE = 0, 1
_INTEGER = 2
OUTLIER_BITS = _INTEGER + INTEGER_BITS
_LARGEST_WHOLE = 1 << 40


def find_outliers(rows: FloatArray, expected: FloatArray | None, step: float) -> BoolArray:
    """Return which readings are outliers; NaN never is.

    Parameters
    ----------
    rows : array of shape (n_rows, n_sensors)
    expected : array of shape (n_sensors,), or None
        What samples are about; None takes the median of all readings.
    step : float
        Of the quantiser.

    Examples
    --------
    >>> find_outliers(np.array([[1.0, 2.0, 1e9, np.inf, np.nan]]), np.zeros(5), 0.1)
    array([[False, False,  True,  True, False]])
    """
    finite = np.isfinite(rows)
    outliers: BoolArray = np.isinf(rows) | (np.abs(np.where(finite, rows, 0.0)) > MOST_STEPS * step)
    kept = finite & ~outliers
    if kept.any():
        usual = np.median(rows[kept]) if expected is None else expected
        distance = np.abs(np.where(kept, rows, usual) - usual)
        outliers |= distance > _FAR * max(float(np.median(distance[kept])), step)
    return outliers


def start_outlier_bits() -> IntArray:
    """Return the probabilities that a new coder starts with."""
    return np.full(OUTLIER_BITS, EVEN, dtype=np.int64)


def code_outlier(coder: IntArray, buffer: ByteArray, bits: IntArray, last: float, value: float) -> float:
    """Code a float to its last bit: the same as last time, or a whole number, or 64 bits as they are."""
    word, last_word = (_WORD.unpack(_DOUBLE.pack(number))[0] for number in (value, last))
    if code_bit(coder, buffer, bits, _SAME, 60, int(word == last_word)):
        return last
    is_whole = False
    if coder[MODE] != DECODING and math.isfinite(value) and abs(value) < _LARGEST_WHOLE:
        is_whole = value == math.floor(value) and math.copysign(1.0, value) == (1.0 if value >= 0.0 else -1.0)
    if code_bit(coder, buffer, bits, _WHOLE, 60, int(is_whole)):
        number = int(value) if is_whole else 0
        coded = code_integer(coder, buffer, bits, _INTEGER, 2 * number if number >= 0 else -2 * number - 1)
        return float(coded >> 1) if coded % 2 == 0 else -float((coded + 1) >> 1)
    coded = code_bits(coder, buffer, word, 64)
    result: float = _DOUBLE.unpack(_WORD.pack(coded))[0]
    return result
