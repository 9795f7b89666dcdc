"""Readings as small integers, for coders that take bytes or integers: part of `orthostream bench compression`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import BoolArray, IntArray

from .compression_case import Case, previous, row_mean

ROW_MEAN, PREVIOUS, LEFT_OUT, MARKED = "row mean", "previous", "left out", "marked"
#: The axes along which neighbours are subtracted from each other.
DELTAS: dict[str, tuple[int, ...]] = {"none": (), "time": (0,), "sensors": (1,), "both": (0, 1)}


class Layout(NamedTuple):
    """How readings become a sequence of integers."""

    fill: str = ROW_MEAN
    """What stands for a missing reading: a value; nothing at all, which takes a decoder that knows the mask; or a value
    of its own, which tells that it is missing."""
    order: str = "sensor"
    """Which readings are neighbours: those of one sensor, or those of one time."""
    delta: str = "none"
    width: int = 0
    """Bytes of an integer; 0 takes the fewest."""
    planes: bool = False
    """First all low bytes, then all high ones."""


def layouts(fills: tuple[str, ...] = (ROW_MEAN, PREVIOUS, LEFT_OUT, MARKED)) -> list[Layout]:
    """Return every sensible layout of the fewest bytes."""
    found = []
    for fill in fills:
        # Neighbours can be subtracted only if the decoder knows them before.
        deltas = {LEFT_OUT: ("none", "time"), MARKED: ("none",)}.get(fill, tuple(DELTAS))
        found += [Layout(fill, order, delta) for order in ("sensor", "time") for delta in deltas]
    return found


class Packed(NamedTuple):
    """Integers in a row, and what the decoder needs to undo it, which nobody is charged for."""

    integers: NDArray[np.unsignedinteger]
    least: int


def levels(case: Case, fill: str) -> IntArray:
    """Return the level of each reading, counted in steps, and of what stands for the missing ones."""
    if fill in (ROW_MEAN, PREVIOUS):
        rows = row_mean(case.rows) if fill == ROW_MEAN else previous(case.rows)
        return _quantised(case, rows)
    observed = case.observed
    found = _quantised(case, np.where(observed, case.rows, case.origin))
    least = int(found[observed].min())
    if fill == MARKED:
        return np.where(observed, found, least - 1)
    # What precedes a sensor's first reading is taken to be the least level: its difference is the one nobody sends.
    last = np.maximum.accumulate(np.where(observed, np.arange(len(found))[:, None], -1), axis=0)
    return np.asarray(np.where(last < 0, least, np.take_along_axis(found, np.maximum(last, 0), axis=0)))


def _quantised(case: Case, rows: NDArray[np.floating]) -> IntArray:
    return np.asarray(np.rint((rows - case.origin) / case.step), dtype=np.int64)


def pack(case: Case, layout: Layout) -> Packed:
    """Return readings as integers in a row."""
    found = levels(case, layout.fill)
    # The mark keeps its place even where there is nothing to mark.
    least = int(found.min()) - int(layout.fill == MARKED and bool(case.observed.all()))
    values = found - least
    width = max(layout.width, _width(int(values.max())))
    for axis in DELTAS[layout.delta]:
        values = np.diff(values, axis=axis, prepend=0)
    # Differences wrap around, and the decoder's sums wrap back.
    narrow = values.astype(f"u{width}")
    kept = case.observed if layout.fill == LEFT_OUT else np.ones_like(case.observed)
    row = _ordered(narrow, layout)[_ordered(kept, layout)]
    if layout.planes:
        row = np.ascontiguousarray(row.view(np.uint8).reshape(len(row), width).T).ravel()
    return Packed(row, least)


def unpack(case: Case, layout: Layout, row: NDArray[np.unsignedinteger], least: int) -> NDArray[np.floating]:
    """Undo `pack`: return readings, with some number where one was missing (NaN if it was marked)."""
    if layout.planes:
        width = len(row) // _count(case, layout)
        row = np.ascontiguousarray(row.reshape(width, -1).T).view(f"u{width}").ravel()
    n_rows, n_sensors = case.rows.shape
    ordered = np.zeros((n_rows, n_sensors) if layout.order == "time" else (n_sensors, n_rows), dtype=row.dtype)
    if layout.fill == LEFT_OUT:
        ordered[_ordered(case.observed, layout)] = row
    else:
        ordered[...] = row.reshape(ordered.shape)
    values = ordered if layout.order == "time" else ordered.T
    for axis in reversed(DELTAS[layout.delta]):
        values = np.add.accumulate(values, axis=axis, dtype=row.dtype)
    readings = case.origin + (values.astype(np.int64) + least) * case.step
    return np.where(values == 0, np.nan, readings) if layout.fill == MARKED else readings


def _count(case: Case, layout: Layout) -> int:
    return int(case.observed.sum()) if layout.fill == LEFT_OUT else case.rows.size


def _ordered(values: NDArray[np.generic] | BoolArray, layout: Layout) -> NDArray[np.generic]:
    return values if layout.order == "time" else values.T


def _width(largest: int) -> int:
    return next(width for width in (1, 2, 4, 8) if largest < 256**width)
