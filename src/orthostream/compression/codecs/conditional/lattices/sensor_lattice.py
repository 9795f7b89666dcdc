"""What every lattice of a sensor can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from orthostream._typing import BoolArray, FloatArray, IntArray

#: No integer of a lattice lies farther from 0.
LARGEST_CELL = 1 << 50


class Placed(NamedTuple):
    """Where readings lie on a lattice."""

    positions: FloatArray
    """In units of the lattice, not rounded; 0 where a reading must be sent as it is."""
    rests: IntArray
    """What the integers do not tell; 0 for all lattices but `Floats`."""
    held: BoolArray
    """False where a reading must be sent as it is: missing, infinite, or no number of the lattice."""


class SensorLattice(ABC):
    """Numbers of one sensor, each named by an integer."""

    #: Integers in a cell: a decoded integer is a whole number of widths from the rounded prediction.
    width: int = 1
    #: Whether a held reading is decoded to the bit, so that no error needs to be checked.
    exact: bool = False
    #: Significant bits of a reading of which those below the integer are sent beside it; 0 if there are none.
    precision: int = 0

    @abstractmethod
    def place(self, column: FloatArray) -> Placed:
        """Return where some readings lie."""

    @abstractmethod
    def values(self, cells: IntArray, rests: IntArray) -> FloatArray:
        """Return the readings that integers, and what they do not tell, stand for."""
