"""Powers of a ratio, for errors that are relative to a reading."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import LARGEST_CELL, Placed, SensorLattice

#: Bits of the exponent that count: 2**20 steps reach from the smallest double to the largest with a ratio of 1.0014.
N_POWERS = 32


@dataclass(frozen=True)
class Geometric(SensorLattice):
    """The integer c stands for 0 and for ``numerator * ratio ** (|c| - 1)`` with the sign of c.

    Parameters
    ----------
    numerator : float
        The smallest positive number.
    ratio : float
        Above 1 and below 16.
    single : bool
        Whether readings are of 32 bits.

    Examples
    --------
    >>> import numpy as np
    >>> Geometric(0.5, 2.0).values(np.array([-2, 0, 1, 4]), np.zeros(4, dtype=np.int64))
    array([-1. ,  0. ,  0.5,  4. ])
    """

    numerator: float
    ratio: float
    single: bool = False

    def place(self, column: FloatArray) -> Placed:
        with np.errstate(all="ignore"):
            logarithm = np.log(np.abs(column) / self.numerator) / math.log(self.ratio)
            positions = np.where(column == 0.0, 0.0, np.copysign(np.maximum(logarithm, -0.5) + 1.0, column))
            held = ((column == 0.0) | (logarithm >= -0.5)) & (np.abs(positions) < LARGEST_CELL / 2)
        return Placed(np.where(held, positions, 0.0), np.zeros(column.shape, dtype=np.int64), held)

    def values(self, cells: IntArray, rests: IntArray) -> FloatArray:
        left = np.maximum(np.abs(cells) - 1, 0)
        found: FloatArray = np.full(cells.shape, self.numerator, dtype=np.float64)
        with np.errstate(over="ignore", under="ignore"):
            power = np.float64(self.ratio)
            for _ in range(N_POWERS):
                found = np.where(left & 1 == 1, found * power, found)
                left = left >> 1
                power = power * power
            found = np.where(cells == 0, 0.0, np.where(cells < 0, -found, found))
            return found.astype(np.float32).astype(np.float64) if self.single else found
