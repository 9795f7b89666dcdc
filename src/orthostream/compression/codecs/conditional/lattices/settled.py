"""Whether a sensor's lattice fits its readings so well that no search can find a cheaper one."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted

#: Latest readings that are checked, and the minimum number to judge by.
_LATEST, _FEWEST = 256, 12
#: A coarser step would be a multiple by one of these primes.
_PRIMES = np.array([2, 3, 5, 7, 11, 13])
#: Share of steps between readings that must be no multiple of a prime.
_SHARE = 0.05
#: Distance from a multiple that is only rounding, in units of the lattice.
_NEAR = 1e-6
#: Integers in the range of the readings for each that was met: with more of them, levels could be cheaper.
_SPARSE = 1.4


def is_settled(lattice: SensorLattice, column: FloatArray, wanted: Wanted) -> bool:
    """Return True if readings are multiples of the lattice's unit and of no coarser one.

    Much cheaper than a search. False means that only a search can tell.

    Examples
    --------
    >>> import numpy as np
    >>> is_settled(Linear(), np.arange(64.0) % 7, Wanted())
    True
    >>> is_settled(Linear(), np.arange(64.0) % 7 * 2, Wanted())
    False
    >>> is_settled(Linear(), np.arange(64.0) / 2, Wanted())
    False
    """
    if not isinstance(lattice, Linear):
        return False
    values = column[-_LATEST:]
    values = values[np.isfinite(values)]
    if len(values) < _FEWEST:
        return False
    placed = lattice.place(values)
    # The integers of cells of even width lie between the multiples of the resolution that they were made of.
    multiples = placed.positions + (0.5 if lattice.width % 2 == 0 else 0.0)
    cells = np.rint(multiples).astype(np.int64)
    if not placed.held.all() or np.any(np.abs(multiples - cells) > _NEAR):
        return False
    steps = np.diff(cells)
    if np.any(np.count_nonzero(steps[:, None] % _PRIMES, axis=0) <= _SHARE * len(steps)):
        return False
    if wanted.error > 0.0:
        return True
    # Without an error, readings must be exact multiples, and may also be coded as levels.
    if not np.array_equal(lattice.values(cells, placed.rests), values):
        return False
    return bool(np.ptp(cells) + 1 <= _SPARSE * len(np.unique(cells)))
