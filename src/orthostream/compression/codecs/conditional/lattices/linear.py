"""Multiples of a unit, from an offset on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import LARGEST_CELL, Placed, SensorLattice

#: Integers in a cell, at most.
WIDEST = 126


@dataclass(frozen=True)
class Linear(SensorLattice):
    """The integer c stands for ``(c * numerator + offset) / denominator``, then rounded to 32 bits if ``single``.

    Parameters
    ----------
    width : int
        Integers in a cell.
    numerator, denominator : float
        Above 0.
    offset : float
        Of either sign.
    single : bool
        Whether readings are of 32 bits.

    Examples
    --------
    Tenths of a degree, in Kelvin:

    >>> import numpy as np
    >>> kelvin = Linear(1, 2.0, 20.0, 5463.0)
    >>> kelvin.values(np.array([0, 1, -5]), np.zeros(3, dtype=np.int64))
    array([273.15, 273.25, 272.65])
    """

    width: int = 1
    numerator: float = 1.0
    denominator: float = 1.0
    offset: float = 0.0
    single: bool = False

    @property
    def cell_size(self) -> float:
        """How far the middles of neighbouring cells are apart."""
        return self.numerator / self.denominator * self.width

    def place(self, column: FloatArray) -> Placed:
        with np.errstate(all="ignore"):
            positions = (column * self.denominator - self.offset) / self.numerator
            held = np.abs(positions) < LARGEST_CELL / 2
        return Placed(np.where(held, positions, 0.0), np.zeros(column.shape, dtype=np.int64), held)

    def values(self, cells: IntArray, rests: IntArray) -> FloatArray:
        with np.errstate(over="ignore", under="ignore"):
            found: FloatArray = (cells.astype(np.float64) * self.numerator + self.offset) / self.denominator
            return found.astype(np.float32).astype(np.float64) if self.single else found
