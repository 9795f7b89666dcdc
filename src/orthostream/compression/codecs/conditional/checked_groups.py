"""Groups of a saved state: what they say must be possible, since compiled code does not check its indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.compression.codecs.plain_state import fill_arrays
from orthostream.compression.kernel.group_state import CORRUPT, CURVE, SAMPLES, Group
from orthostream.compression.kernel.student import FOUR, TEN

#: What follows from the lattices.
_DESCRIBED = ("width", "numerator", "denominator", "offset", "powers", "single", "exact", "precision")
_LONG = 1 << 62
#: The smallest and the largest integer of each array that indices are made of.
_RANGES = {
    "missing": (0, 1),
    "age": (0, 100_000),
    "restless": (0, 1 << 18),
    "seen": (0, 1000),
    "trained": (0, 255),
    "refined": (0, (1 << 22) - 1),
    "slots": (0, (1 << 39) - 1),
    "shared": (0, (1 << 30) - 1),
    "written": (0, _LONG),
    "found": (0, _LONG),
    "long_found": (0, _LONG),
    "match": (-1, _LONG),
    "length": (0, 100_000),
    "votes": (0, 255),
    "repeats": (0, 255),
    "mixes": (0, 1),
}


def fill_groups(groups: list[Group], plain: Any) -> None:
    """Write the groups of a saved state into new ones of the same lattices; raise ValueError if they do not fit."""
    described = [[getattr(group, name).copy() for name in _DESCRIBED] for group in groups]
    fill_arrays(groups, plain)
    for group, expected in zip(groups, described, strict=True):
        for name, values in zip(_DESCRIBED, expected, strict=True):
            if not np.array_equal(getattr(group, name), values):
                raise ValueError(f"{name} is not that of the lattices.")
        for part in (group, group.presence, group.mixture):
            for name in part._fields:
                if name in _RANGES:
                    _check_range(name, getattr(part, name), *_RANGES[name])
        _check_range("the number of samples", group.clock[SAMPLES : SAMPLES + 1], 0, _LONG)
        _check_range("the shape of the bell curve", group.clock[CURVE : CURVE + 1], FOUR, TEN)
        _check_range("corrupt", group.clock[CORRUPT : CORRUPT + 1], 0, 0)
        if not (group.stir >= 0.0).all():
            raise ValueError("stir must not be below 0.")


def _check_range(name: str, values: Any, least: int, most: int) -> None:
    if values.size and not (least <= values.min() and values.max() <= most):
        raise ValueError(f"{name} must lie between {least} and {most}.")
