"""A sensor's own few values: the integer is the rank of a reading among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import Placed, SensorLattice
from orthostream.compression.errors import FrameError

#: Levels of one sensor, at most.
MOST_LEVELS = 1 << 16


def can_be_levels(column: FloatArray) -> BoolArray:
    """Return which readings can be levels: all finite ones but -0.0, which is sent as it is."""
    found: BoolArray = np.isfinite(column) & ~((column == 0.0) & np.signbit(column))
    return found


@dataclass(frozen=True, eq=False)
class Levels(SensorLattice):
    """The integer c stands for the number of rank c, counted from 0.

    Parameters
    ----------
    levels : array of float
        Finite, strictly increasing, without -0.0; at least one.

    Examples
    --------
    >>> import numpy as np
    >>> found = Levels.of(np.array([2.5, 0.1, 2.5, np.nan]))
    >>> found.levels
    array([0.1, 2.5])
    >>> larger, ranks = found.merged(np.array([1.0]))
    >>> larger.levels, ranks
    (array([0.1, 1. , 2.5]), array([0, 2]))
    """

    levels: FloatArray
    exact = True

    def __post_init__(self) -> None:
        levels = np.array(self.levels, dtype=np.float64)
        if levels.ndim != 1 or not 1 <= len(levels) <= MOST_LEVELS:
            raise ValueError(f"levels must be 1 to {MOST_LEVELS} numbers in a row, got shape {levels.shape}.")
        if not (can_be_levels(levels).all() and (levels[1:] > levels[:-1]).all()):
            raise ValueError("levels must be finite, strictly increasing and not -0.0.")
        levels.setflags(write=False)
        object.__setattr__(self, "levels", levels)

    @classmethod
    def of(cls, column: FloatArray) -> Levels:
        """Return the levels that occur among readings; there must be one, and not too many."""
        return cls(np.unique(column[can_be_levels(column)]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Levels) and np.array_equal(self.levels, other.levels)

    def __hash__(self) -> int:
        return hash(self.levels.tobytes())

    def merged(self, column: FloatArray) -> tuple[Levels, IntArray]:
        """Return levels that hold some readings too, and the new rank of each old level.

        Where they would be too many, nothing changes.
        """
        new = self.new_among(column)
        if not len(new) or len(self.levels) + len(new) > MOST_LEVELS:
            return self, np.arange(len(self.levels), dtype=np.int64)
        larger = Levels(np.insert(self.levels, np.searchsorted(self.levels, new), new))
        return larger, np.searchsorted(larger.levels, self.levels).astype(np.int64)

    def new_among(self, column: FloatArray) -> FloatArray:
        """Return, in order, the readings that could be levels and are none."""
        values = np.unique(column[can_be_levels(column)])
        return values[~self.place(values).held]

    def place(self, column: FloatArray) -> Placed:
        ranks = np.minimum(np.searchsorted(self.levels, column), len(self.levels) - 1)
        held = can_be_levels(column) & (self.levels[ranks] == column)
        return Placed(np.where(held, ranks, 0).astype(np.float64), np.zeros(column.shape, dtype=np.int64), held)

    def values(self, cells: IntArray, rests: IntArray) -> FloatArray:
        if cells.size and not (cells.min() >= 0 and cells.max() < len(self.levels)):
            raise FrameError("a reading is a level that its sensor does not have")
        found: FloatArray = self.levels[cells]
        return found
