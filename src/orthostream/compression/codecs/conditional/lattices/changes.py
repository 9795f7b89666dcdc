"""Lattices that change between restarts, as bytes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from orthostream.compression.codecs.conditional.lattices.lattices import Lattices
from orthostream.compression.codecs.conditional.lattices.level_bytes import levels_afforded, put_levels, read_levels
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


def put_changes(out: bytearray, changes: Sequence[Change]) -> int:
    """Append changes, equal ones together; return how many levels are among them.

    Each part is a varint, twice the number of runs of sensors plus 1 if levels are added; for each run two varints, the
    sensors that are passed over since the last run and those in the run; then the lattice, or only the levels if they
    are added. Zeros may follow.
    """
    sensors: defaultdict[tuple[SensorLattice, bool], list[int]] = defaultdict(list)
    for change in changes:
        sensors[change.lattice, change.added].append(change.sensor)
    n_levels = 0
    for (lattice, added), members in sensors.items():
        runs = _runs(sorted(members))
        put_varint(out, 2 * len(runs) + int(added))
        for passed, length in runs:
            put_varint(out, passed)
            put_varint(out, length)
        if isinstance(lattice, Levels):
            n_levels += len(lattice.levels)
        if added:
            assert isinstance(lattice, Levels)
            put_levels(out, lattice)
        else:
            put_lattice(out, lattice)
    return n_levels


def read_changes(reader: Reader, lattices: Lattices) -> dict[int, SensorLattice]:
    """Return the next lattices of sensors; raise FrameError where they are impossible."""
    found: dict[int, SensorLattice] = {}
    n_levels = n_read = 0
    while reader.at < len(reader.data):
        word = reader.varint(2 * len(lattices) + 1)
        if word == 0 and not any(reader.data[reader.at :]):
            break
        sensors = _read_runs(reader, word // 2, len(lattices))
        added = word % 2 == 1
        lattice = read_levels(reader) if added else read_lattice(reader)
        n_read += len(lattice.levels) if isinstance(lattice, Levels) else 0
        if n_read > levels_afforded(len(reader.data)):
            raise FrameError(f"{len(reader.data)} bytes cannot be {n_read} levels")
        for sensor in sensors:
            if sensor in found:
                raise FrameError("a sensor's lattice changes twice at once")
            changed = _added(lattices[sensor], lattice) if added else lattice
            found[sensor] = changed
            n_levels += len(changed.levels) if isinstance(changed, Levels) else 0
            if n_levels > MOST_LEVELS_OF_ALL:
                raise FrameError(f"sensors have more than {MOST_LEVELS_OF_ALL} levels together")
    if not found or not lattices.replaced(found).has_room(0):
        raise FrameError("a change of lattices is damaged: it changes nothing, or has too many levels")
    return found


def _runs(sensors: list[int]) -> list[tuple[int, int]]:
    """Return runs of neighbours: how many are passed over since the last run, and how many are in it."""
    found: list[tuple[int, int]] = []
    at = 0
    for sensor in sensors:
        if found and sensor == at:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((sensor - at, 1))
        at = sensor + 1
    return found


def _read_runs(reader: Reader, count: int, n_sensors: int) -> list[int]:
    found: list[int] = []
    at = 0
    for _ in range(count):
        at += reader.varint(n_sensors - at)
        run = reader.varint(n_sensors - at)
        found += range(at, at + run)
        at += run
    if not found:
        raise FrameError("a change of lattices is damaged: it is that of no sensor")
    return found


def _added(old: SensorLattice, levels: SensorLattice) -> Levels:
    assert isinstance(levels, Levels)
    if not isinstance(old, Levels):
        raise FrameError("levels are added to a sensor that has none")
    if len(old.levels) + len(levels.levels) > MOST_LEVELS:
        raise FrameError(f"a sensor has more than {MOST_LEVELS} levels")
    return old.merged(levels.levels)[0]
