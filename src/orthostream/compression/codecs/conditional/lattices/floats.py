"""Readings of which nearly all are different: their leading bits are predicted, the others are sent beside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import Placed, SensorLattice

#: Exponents of the unit for which every decoded number is a normal double, and exact.
LOWEST_EXPONENT, HIGHEST_EXPONENT = -1022, 973
#: Significant bits of a double.
MOST_PRECISION = 53
#: Bits of an integer, at most.
_LONGEST = 50


@dataclass(frozen=True)
class Floats(SensorLattice):
    """The integer c stands for the numbers from ``|c| * u`` on, below the next multiple of u, with the sign of c.

    The unit u is ``2 ** unit_exponent``. Which of the numbers it is, is told by a rest of
    ``max(0, precision - bit_length(|c|))`` bits; 0 stands for 0.0 alone, without a rest. Readings that are smaller than
    u, -0.0, not finite, of more significant bits than ``precision``, or of integers of more than 50 bits are sent as
    they are.

    Parameters
    ----------
    unit_exponent : int
        -1022 to 973: all numbers are exact then.
    precision : int
        Significant bits of a reading, 1 to 53; 24 for numbers of 32 bits.

    Notes
    -----
    A decoder in C; every operation is exact::

        f64 value_of(i64 cell, u64 rest)             // rest has max(0, precision - bit_length(|cell|)) bits, or 0
        {
            u64 size = cell < 0 ? -cell : cell;      // at most 2^50
            if (size == 0) return 0.0;
            int length = 64 - clz(size);             // bit_length
            int bits = precision > length ? precision - length : 0;
            f64 value = ldexp((f64)(size << bits | rest), unit_exponent - bits);
            return cell < 0 ? -value : value;
        }

    and an encoder::

        if (x == 0.0 && !signbit(x)) { cell = 0; return; }
        f64 mantissa = frexp(fabs(x), &exponent);    // 0.5 <= mantissa < 1
        int length = exponent - unit_exponent;       // bit_length of the cell
        f64 scaled = ldexp(mantissa, precision);
        if (!(isfinite(x) && 1 <= length && length <= 50 && scaled == floor(scaled))) send_raw(x);
        u64 digits = (u64)scaled;
        int bits = precision - length;
        u64 size = bits > 0 ? digits >> bits : digits << -bits;
        u64 rest = bits > 0 ? digits & ((1 << bits) - 1) : 0;
        i64 cell = x < 0 ? -size : size;

    Examples
    --------
    >>> import numpy as np
    >>> lattice = Floats(unit_exponent=-1, precision=53)
    >>> cells, rests, held = lattice.cells_and_rests(np.array([3.25, -1.0, 0.0]))
    >>> cells, held
    (array([ 6, -2,  0]), array([ True,  True,  True]))
    >>> lattice.values(cells, rests)
    array([ 3.25, -1.  ,  0.  ])
    """

    unit_exponent: int
    precision: int
    exact = True

    def rest_bits(self, cells: IntArray) -> IntArray:
        """Return how many bits the rests beside integers have."""
        lengths = np.frexp(np.abs(cells).astype(np.float64))[1].astype(np.int64)
        return np.where(cells == 0, 0, np.maximum(self.precision - lengths, 0))

    def cells_and_rests(self, column: FloatArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Return integers, rests, and which readings they stand for to the bit; both are 0 where they do not."""
        mantissa, exponent = np.frexp(np.where(np.isfinite(column), np.abs(column), 0.0))
        lengths = exponent.astype(np.int64) - self.unit_exponent
        scaled = np.ldexp(mantissa, self.precision)
        held = (mantissa > 0.0) & (lengths >= 1) & (lengths <= _LONGEST) & (scaled == np.floor(scaled))
        digits = np.where(held, scaled, 0.0).astype(np.int64)
        bits = np.where(held, self.precision - lengths, 0)
        down, up = np.maximum(bits, 0), np.maximum(-bits, 0)
        sizes = (digits >> down) << up
        rests = digits & ((np.int64(1) << down) - 1)
        zero = (column == 0.0) & ~np.signbit(column)
        return np.where(column < 0.0, -sizes, sizes), rests, held | zero

    def place(self, column: FloatArray) -> Placed:
        cells, rests, held = self.cells_and_rests(column)
        return Placed(cells.astype(np.float64), rests, held)

    def values(self, cells: IntArray, rests: IntArray) -> FloatArray:
        bits = self.rest_bits(cells)
        digits = (np.abs(cells) << bits) | np.where(cells == 0, 0, rests)
        found: FloatArray = np.ldexp(digits.astype(np.float64), (self.unit_exponent - bits).astype(np.int32))
        return np.where(cells < 0, -found, found)
