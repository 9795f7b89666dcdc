"""What stands before the first samples of a payload that begins anew: the lattices of all sensors, and their groups."""

from __future__ import annotations

from orthostream._typing import IntArray
from orthostream.compression.codecs.conditional.groups import groups_to_bytes, read_groups
from orthostream.compression.codecs.conditional.lattice import Lattice
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices, from_plain
from orthostream.compression.codecs.conditional.lattices.wire import put_lattices, read_lattices
from orthostream.compression.codecs.conditional.work import WorkLimit
from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader


def opening_to_bytes(lattices: Lattices, groups: IntArray, version: int) -> bytes:
    """Return lattices and the group of each sensor, as a version of the format writes them."""
    out = bytearray()
    if version == 1:
        out += lattices.plain.to_bytes()
    else:
        put_lattices(out, lattices.all)
    return bytes(out) + groups_to_bytes(groups)


def read_opening(reader: Reader, n_sensors: int, version: int) -> tuple[Lattices, IntArray]:
    """Return the lattices and the group of each sensor; raise FrameError if they are impossible."""
    if version == 1:
        lattices = from_plain(Lattice.read(reader, n_sensors))
    else:
        lattices = Lattices(read_lattices(reader, n_sensors))
    return lattices, read_groups(reader, n_sensors)


def read_affordable_opening(
    body: bytes, n_sensors: int, version: int, limit: WorkLimit
) -> tuple[Lattices, IntArray, bytes]:
    """Return the lattices and groups at the beginning of a payload, and its rest; raise FrameError if it is too short.

    How long it must be depends on the sensors, which are known before it is read, and on its groups.
    """
    afforded = limit.afforded(len(body))
    if limit.of_start(n_sensors, 1) > afforded:
        raise FrameError(f"{len(body)} bytes cannot begin a stream of {n_sensors} sensors")
    reader = Reader(body)
    lattices, groups = read_opening(reader, n_sensors, version)
    n_groups = int(groups.max()) + 1
    if limit.of_start(n_sensors, n_groups) > afforded:
        raise FrameError(f"{len(body)} bytes cannot begin {n_groups} groups of sensors")
    return lattices, groups, reader.rest()
