"""Lattices as bytes: runs of neighbouring sensors with equal ones."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from orthostream.compression.codecs.conditional.lattices.floats import (
    HIGHEST_EXPONENT,
    LOWEST_EXPONENT,
    MOST_PRECISION,
    Floats,
)
from orthostream.compression.codecs.conditional.lattices.geometric import Geometric
from orthostream.compression.codecs.conditional.lattices.level_bytes import levels_afforded, put_levels, read_levels
from orthostream.compression.codecs.conditional.lattices.levels import Levels
from orthostream.compression.codecs.conditional.lattices.linear import WIDEST, Linear
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, fold, put_varint, unfold

#: The lowest two bits of a tag; above them, flags.
LINEAR, GEOMETRIC, LEVELS, FLOATS = range(4)
#: Flags of linear and geometric lattices: numbers are whole (linear only), readings are of 32 bits.
WHOLE, SINGLE = 4, 8
_LARGEST_WHOLE = 2**53
#: Levels of all sensors together, at most.
MOST_LEVELS_OF_ALL = 1 << 22


def put_lattices(out: bytearray, lattices: Sequence[SensorLattice]) -> None:
    """Append one lattice per sensor."""
    start = 0
    while start < len(lattices):
        end = start + 1
        while end < len(lattices) and lattices[end] == lattices[start]:
            end += 1
        put_varint(out, end - start)
        put_lattice(out, lattices[start])
        start = end


def read_lattices(reader: Reader, n_sensors: int) -> list[SensorLattice]:
    """Return the lattices of all sensors that a reader holds next; raise FrameError where they are impossible."""
    found: list[SensorLattice] = []
    n_levels = n_read = 0
    while len(found) < n_sensors:
        run = reader.varint(n_sensors - len(found))
        if run == 0:
            raise FrameError("a lattice is damaged: it is that of no sensor")
        lattice = read_lattice(reader)
        if isinstance(lattice, Levels):
            n_levels += run * len(lattice.levels)
            n_read += len(lattice.levels)
            if n_read > levels_afforded(len(reader.data)):
                raise FrameError(f"{len(reader.data)} bytes cannot be {n_read} levels")
            if n_levels > MOST_LEVELS_OF_ALL:
                raise FrameError(f"sensors have more than {MOST_LEVELS_OF_ALL} levels together")
        found += [lattice] * run
    return found


def n_levels_written(lattices: Sequence[SensorLattice]) -> int:
    """Return how many levels are written, those of equal neighbours once."""
    first = [each for i, each in enumerate(lattices) if i == 0 or each != lattices[i - 1]]
    return sum(len(each.levels) for each in first if isinstance(each, Levels))


def put_lattice(out: bytearray, lattice: SensorLattice) -> None:
    """Append one lattice: its tag, then its numbers."""
    if isinstance(lattice, Linear):
        numbers = (lattice.numerator, lattice.denominator, lattice.offset)
        whole = all(number.is_integer() and abs(number) <= _LARGEST_WHOLE for number in numbers)
        out.append(LINEAR | (WHOLE if whole else 0) | (SINGLE if lattice.single else 0))
        put_varint(out, lattice.width)
        if whole:
            put_varint(out, int(lattice.numerator))
            put_varint(out, int(lattice.denominator))
            put_varint(out, fold(int(lattice.offset)))
        else:
            out += struct.pack("<3d", *numbers)
    elif isinstance(lattice, Geometric):
        out.append(GEOMETRIC | (SINGLE if lattice.single else 0))
        out += struct.pack("<2d", lattice.numerator, lattice.ratio)
    elif isinstance(lattice, Levels):
        out.append(LEVELS)
        put_levels(out, lattice)
    elif isinstance(lattice, Floats):
        out.append(FLOATS)
        put_varint(out, fold(lattice.unit_exponent))
        put_varint(out, lattice.precision)
    else:
        raise TypeError(f"{type(lattice).__name__} is no lattice that can be written.")


def read_lattice(reader: Reader) -> SensorLattice:
    """Return the lattice that a reader holds next; raise FrameError where it is impossible."""
    tag = reader.byte()
    kind, flags = tag & 3, tag & ~3
    if flags & ~{LINEAR: WHOLE | SINGLE, GEOMETRIC: SINGLE, LEVELS: 0, FLOATS: 0}[kind]:
        raise FrameError("a lattice is damaged: its flags are impossible")
    if kind == LINEAR:
        return _read_linear(reader, flags)
    if kind == GEOMETRIC:
        numerator, ratio = reader.double(), reader.double()
        if not (0.0 < numerator < math.inf and 1.0 < ratio < 16.0):
            raise FrameError("a lattice is damaged: its numbers are impossible")
        return Geometric(numerator, ratio, bool(flags & SINGLE))
    if kind == LEVELS:
        return read_levels(reader)
    exponent, precision = unfold(reader.varint(4096)), reader.varint(MOST_PRECISION)
    if not (LOWEST_EXPONENT <= exponent <= HIGHEST_EXPONENT and precision >= 1):
        raise FrameError("a lattice is damaged: its numbers are impossible")
    return Floats(exponent, precision)


def _read_linear(reader: Reader, flags: int) -> Linear:
    width = reader.varint(WIDEST)
    if flags & WHOLE:
        numerator, denominator = float(reader.varint(_LARGEST_WHOLE)), float(reader.varint(_LARGEST_WHOLE))
        offset = float(unfold(reader.varint(2 * _LARGEST_WHOLE)))
    else:
        numerator, denominator, offset = reader.double(), reader.double(), reader.double()
    if not (width >= 1 and 0.0 < numerator < math.inf and 0.0 < denominator < math.inf and math.isfinite(offset)):
        raise FrameError("a lattice is damaged: its numbers are impossible")
    return Linear(width, numerator, denominator, offset, bool(flags & SINGLE))
