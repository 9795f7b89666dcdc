"""What readings on a lattice would cost, by a simple estimate: enough to tell a good lattice from a bad one."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.compression.codecs.conditional.lattices.floats import Floats
from orthostream.compression.codecs.conditional.lattices.linear import Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.wire import put_lattice

#: Bits of a reading that is sent as it is.
RAW_BITS = 70.0
#: Bits of a reading beside the logarithm of its distance from a prediction.
_AROUND = 2.0
_CHUNKS, _CHUNK = 8, 512


def sampled(column: FloatArray) -> FloatArray:
    """Return the finite readings of a column, or some stretches of them if there are many."""
    values: FloatArray = column[np.isfinite(column)]
    if len(values) <= _CHUNKS * _CHUNK:
        return values
    starts = np.linspace(0, len(values) - _CHUNK, _CHUNKS).astype(np.int64)
    return np.concatenate([values[start : start + _CHUNK] for start in starts])


def side_bits(lattice: SensorLattice) -> float:
    """Return the bits that a lattice takes."""
    out = bytearray()
    put_lattice(out, lattice)
    return 8.0 * (len(out) + 1)


def bits_per_reading(lattice: SensorLattice, values: FloatArray, error: float) -> float:
    """Return an estimate of the bits of a reading, without what the lattice itself takes.

    Examples
    --------
    >>> import numpy as np
    >>> tenths = np.array([0.5, 0.6, 0.6, 0.9])
    >>> round(bits_per_reading(Linear(1, 1.0, 10.0), tenths, 0.0), 2)
    3.0
    """
    if not len(values):
        return 0.0
    placed = lattice.place(values)
    held = placed.held & _within(lattice, placed.positions, values, error)
    share = float(held.mean())
    positions = placed.positions[held] / lattice.width
    bits = _AROUND
    if len(positions) > 2:
        bits += min(float(np.log2(1.0 + np.abs(np.diff(positions, n))).mean()) for n in (1, 2))
    if isinstance(lattice, Floats) and held.any():
        bits += float(lattice.rest_bits(placed.positions[held].astype(np.int64)).mean())
    return share * bits + (1.0 - share) * RAW_BITS


def _within(lattice: SensorLattice, positions: FloatArray, values: FloatArray, error: float) -> BoolArray:
    """Return which readings are near enough to what they would be decoded as."""
    if lattice.exact:
        return np.ones(values.shape, dtype=bool)
    if lattice.width == 1 or not isinstance(lattice, Linear):
        cells = np.rint(positions).astype(np.int64)
        near: BoolArray = np.abs(lattice.values(cells, cells) - values) <= error
        return near
    # Middles of an even number of multiples lie between two of them.
    off = np.abs(positions - np.rint(positions) if lattice.width % 2 else positions - np.floor(positions) - 0.5)
    farthest = 0.5 * (lattice.width - 1) + off
    wide: BoolArray = farthest * (lattice.numerator / lattice.denominator) <= error * (1.0 + 1e-9)
    return wide
