"""Lattices that change between restarts, as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orthostream.compression.codecs.conditional.lattices.lattices import Lattices
from orthostream.compression.codecs.conditional.lattices.level_bytes import put_levels, read_levels
from orthostream.compression.codecs.conditional.lattices.levels import MOST_LEVELS, Levels
from orthostream.compression.codecs.conditional.lattices.sensor_lattice import SensorLattice
from orthostream.compression.codecs.conditional.lattices.wire import MOST_LEVELS_OF_ALL, put_lattice, read_lattice
from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, put_varint


class Change(NamedTuple):
    """A sensor's next lattice, or, if ``added``, levels that it has from now on beside its others."""

    sensor: int
    lattice: SensorLattice
    added: bool = False


def put_changes(out: bytearray, changes: Sequence[Change]) -> None:
    """Append changes, in the order of their sensors; neighbours with equal ones together.

    Each run is two varints, twice the sensors that were passed over since the last run, plus 1 if levels are added,
    and the sensors in the run; then the lattice, or only the levels if they are added. Zeros may follow.
    """
    start = at = 0
    while start < len(changes):
        first = changes[start]
        end = start + 1
        while end < len(changes) and changes[end] == first._replace(sensor=first.sensor + end - start):
            end += 1
        put_varint(out, 2 * (first.sensor - at) + int(first.added))
        put_varint(out, end - start)
        if first.added:
            assert isinstance(first.lattice, Levels)
            put_levels(out, first.lattice)
        else:
            put_lattice(out, first.lattice)
        at = first.sensor + end - start
        start = end


def read_changes(reader: Reader, lattices: Lattices) -> dict[int, SensorLattice]:
    """Return the next lattices of sensors; zeros may follow. Raise FrameError where they are impossible."""
    found: dict[int, SensorLattice] = {}
    at = n_levels = 0
    while reader.at < len(reader.data):
        word = reader.varint(2 * len(lattices) + 1)
        if word == 0 and not any(reader.data[reader.at :]):
            break
        at += word // 2
        run = reader.varint(max(len(lattices) - at, 0))
        if run == 0:
            raise FrameError("a change of lattices is damaged: it is that of no sensor")
        added = word % 2 == 1
        lattice = read_levels(reader) if added else read_lattice(reader)
        for sensor in range(at, at + run):
            changed = _added(lattices[sensor], lattice) if added else lattice
            found[sensor] = changed
            n_levels += len(changed.levels) if isinstance(changed, Levels) else 0
            if n_levels > MOST_LEVELS_OF_ALL:
                raise FrameError(f"sensors have more than {MOST_LEVELS_OF_ALL} levels together")
        at += run
    if not found or not lattices.replaced(found).has_room(0):
        raise FrameError("a change of lattices is damaged: it changes nothing, or has too many levels")
    return found


def _added(old: SensorLattice, levels: SensorLattice) -> Levels:
    assert isinstance(levels, Levels)
    if not isinstance(old, Levels):
        raise FrameError("levels are added to a sensor that has none")
    if len(old.levels) + len(levels.levels) > MOST_LEVELS:
        raise FrameError(f"a sensor has more than {MOST_LEVELS} levels")
    return old.merged(levels.levels)[0]
