"""Which sensors measure the same thing, so that they are worth coding together, and how groups of them are sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.conditional.lattice import Lattice
from orthostream.compression.errors import FrameError
from orthostream.compression.schema import Column
from orthostream.compression.varint import Reader, put_varint

#: Sensors of a group at most, since the work grows with the cube.
LARGEST_GROUP = 160
#: Samples below which readings do not tell what a sensor measures.
_FEWEST = 16
#: Sensors whose steps are this many times larger than those of another, or that lie this many of its deviations away,
#: measure something else.
_STEPS, _DEVIATIONS = 5.0, 10.0
#: Unless they move at the same times: this correlated, and neither nearly always nor nearly never.
_TOGETHER, _BOTH = 0.7, 0.05


def labels_of(columns: Sequence[Column]) -> list[str]:
    """Return what the unit and the name of each column say that it measures; "" where names are all different.

    Examples
    --------
    >>> names = ["t1", "t2", "humidity 1", "humidity 2"]
    >>> labels_of([Column(name) for name in names])
    ['/t', '/t', '/humidity', '/humidity']
    >>> labels_of([Column("Oslo"), Column("Bergen"), Column("Tromso")])
    ['/', '/', '/']
    """
    stems = [" ".join(re.findall(r"[^\W\d_]+", column.name.lower())) for column in columns]
    if len(set(stems)) > len(stems) / 2:
        stems = [""] * len(stems)
    return [f"{column.unit}/{stem}" for column, stem in zip(columns, stems, strict=True)]


def groups_of(rows: FloatArray, labels: Sequence[str], lattice: Lattice, largest: int = LARGEST_GROUP) -> IntArray:
    """Return the number of the group that each sensor belongs to; no group has more than ``largest`` members.

    Sensors of a group have the same label and the same bound, and, where there are enough samples to tell, steps and
    levels that are not far apart.
    """
    cells = lattice.numerator / lattice.denominator * lattice.width
    keys = list(zip(labels, cells.tolist(), lattice.ratio.tolist(), strict=True))
    typical = [_typical(rows[:, i]) for i in range(rows.shape[1])]
    members: list[list[int]] = []
    # Sensors of which little is known join those of their kind last, where there are most.
    order = sorted(range(rows.shape[1]), key=lambda i: typical[i] is None)
    for i in order:
        fitting = [
            group
            for group in members
            if keys[i] == keys[group[0]] and len(group) < largest and _similar(typical[i], typical[group[0]])
        ]
        if fitting:
            max(fitting, key=len).append(i)
        else:
            members.append([i])
    groups = np.zeros(rows.shape[1], dtype=np.int64)
    for number, group in enumerate(members):
        groups[group] = number
    return groups


def groups_to_bytes(groups: IntArray) -> bytes:
    """Return how many groups there are, and, if several, runs of neighbours in one group."""
    out = bytearray()
    count = int(groups.max()) + 1
    put_varint(out, count)
    if count > 1:
        ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))
        for start, end in zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True):
            put_varint(out, end - start)
            put_varint(out, int(groups[start]))
    return bytes(out)


def read_groups(reader: Reader, n_sensors: int) -> IntArray:
    """Return the group of each sensor that `groups_to_bytes` wrote; raise FrameError if there is none."""
    count = reader.varint(n_sensors)
    groups = np.zeros(n_sensors, dtype=np.int64)
    start = 0
    while count > 1 and start < n_sensors:
        run = reader.varint(n_sensors - start)
        groups[start : start + run] = reader.varint(count - 1)
        start += run
        if run == 0:
            raise FrameError("groups of sensors are damaged")
    sizes = np.bincount(groups, minlength=count)
    if len(sizes) != count or sizes.min() == 0 or sizes.max() > LARGEST_GROUP:
        raise FrameError("groups of sensors are damaged, or larger than they may be")
    return groups


class _Typical(NamedTuple):
    """What is usual for a sensor."""

    step: float
    level: float
    deviation: float
    moves: FloatArray
    """1 for each sample that differs from the one before or is missing, 0 for the others."""


def _typical(column: FloatArray) -> _Typical | None:
    """Return what is usual for a sensor, None where there are too few readings."""
    values = column[np.isfinite(column)]
    if len(values) < _FEWEST or not np.abs(values).max() < 1e150:
        return None
    return _Typical(
        step=float(np.abs(np.diff(values)).mean()),
        level=float(np.median(values)),
        deviation=float(values.std()),
        moves=(column[1:] != column[:-1]).astype(np.float64),
    )


def _similar(one: _Typical | None, other: _Typical | None) -> bool:
    if one is None or other is None:
        return True
    small, large = sorted((one.step, other.step))
    if large > _STEPS * small:
        return False
    if abs(one.level - other.level) <= _DEVIATIONS * max(one.deviation, other.deviation):
        return True
    return _move_together(one.moves, other.moves)


def _move_together(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two sensors stand still at the same times, as both coordinates of something that stops do.

    >>> moves = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    >>> _move_together(moves, moves), _move_together(moves, 1.0 - moves), _move_together(np.ones(6), np.ones(6))
    (True, False, False)
    """
    if min(one.var(), other.var()) < _BOTH:
        return False
    return bool(np.corrcoef(one, other)[0, 1] > _TOGETHER)
