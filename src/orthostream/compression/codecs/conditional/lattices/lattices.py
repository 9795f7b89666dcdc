"""The lattices of all sensors, as the kernel wants them: a column for each of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattice import Lattice
from orthostream.compression.codecs.conditional.lattices.geometric import Geometric
from orthostream.compression.codecs.conditional.lattices.levels import Levels
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.wire import MOST_LEVELS_OF_ALL


class PlacedRows(NamedTuple):
    """Where samples lie on the lattices of their sensors."""

    positions: FloatArray
    rests: IntArray
    held: BoolArray


class Lattices:
    """One lattice per sensor, any of which may be replaced.

    Parameters
    ----------
    lattices : sequence of SensorLattice

    Attributes
    ----------
    plain : Lattice
        What the kernel knows of them; exact lattices are whole numbers to it.
    exact, precision : arrays of int
        What else it knows of each sensor: see `SensorLattice`.
    levels : list of int
        The sensors whose lattices are `Levels`.
    """

    def __init__(self, lattices: Sequence[SensorLattice]) -> None:
        self._lattices = list(lattices)
        self.plain = _plain(self._lattices)
        self._exact = [i for i, each in enumerate(self._lattices) if each.exact]
        self.exact: IntArray = np.array([int(each.exact) for each in self._lattices], dtype=np.int64)
        self.precision: IntArray = np.array([each.precision for each in self._lattices], dtype=np.int64)
        self.levels = [i for i in self._exact if isinstance(self._lattices[i], Levels)]

    def __len__(self) -> int:
        return len(self._lattices)

    def __getitem__(self, sensor: int) -> SensorLattice:
        return self._lattices[sensor]

    @property
    def all(self) -> list[SensorLattice]:
        """The lattices in the order of their sensors."""
        return list(self._lattices)

    def replaced(self, changes: dict[int, SensorLattice]) -> Lattices:
        """Return lattices of which some are others."""
        return Lattices([changes.get(i, each) for i, each in enumerate(self._lattices)])

    def has_room(self, more: int) -> bool:
        """Return whether all sensors together may have some more levels."""
        return more + sum(len(each.levels) for each in self._lattices if isinstance(each, Levels)) <= MOST_LEVELS_OF_ALL

    def place(self, rows: FloatArray) -> PlacedRows:
        """Return where samples lie."""
        positions = self.plain.positions(rows)
        held = ~np.isnan(positions)
        rests = np.zeros(rows.shape, dtype=np.int64)
        for i in self._exact:
            positions[:, i], rests[:, i], held[:, i] = self._lattices[i].place(rows[:, i])
        return PlacedRows(np.where(held, positions, 0.0), rests, held)

    def values(self, cells: IntArray, rests: IntArray) -> FloatArray:
        """Return the samples that integers stand for."""
        found = self.plain.values(cells)
        for i in self._exact:
            found[:, i] = self._lattices[i].values(cells[:, i], rests[:, i])
        return found


def from_plain(lattice: Lattice) -> Lattices:
    """Return linear and geometric lattices one by one."""
    columns = (lattice.width, lattice.numerator, lattice.denominator, lattice.offset, lattice.ratio, lattice.single)
    found: list[SensorLattice] = []
    for width, numerator, denominator, offset, ratio, single in zip(*(c.tolist() for c in columns), strict=True):
        if ratio > 0.0 and width == 1 and denominator == 1.0 and offset == 0.0:
            found.append(Geometric(numerator, ratio, single))
        else:
            found.append(Linear(width, numerator, denominator, offset, single))
    lattices = Lattices(found)
    lattices.plain = lattice
    return lattices


def _plain(lattices: list[SensorLattice]) -> Lattice:
    n = len(lattices)
    width, single = np.ones(n, dtype=np.int64), np.zeros(n, dtype=bool)
    numerator, denominator, offset, ratio = np.ones(n), np.ones(n), np.zeros(n), np.zeros(n)
    for i, each in enumerate(lattices):
        width[i] = each.width
        if isinstance(each, Linear):
            numerator[i], denominator[i], offset[i], single[i] = (
                each.numerator,
                each.denominator,
                each.offset,
                each.single,
            )
        elif isinstance(each, Geometric):
            numerator[i], ratio[i], single[i] = each.numerator, each.ratio, each.single
    return Lattice(width, numerator, denominator, offset, ratio, single)
