"""Integers in a row, for coders of bytes or of integers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import IntArray

from .view import View

HELD, LEFT_OUT, MARKED = "held", "left out", "marked"
#: How often neighbours in time, and of a sample, are subtracted from each other.
DELTAS = {"none": (0, 0), "time": (1, 0), "time twice": (2, 0), "sensors": (0, 1), "both": (1, 1)}
#: Of the bits of floats: those that differ from the sample before.
XOR = "xor"


class Layout(NamedTuple):
    """How a matrix of integers becomes a row of them."""

    fill: str = HELD
    """What stands for a missing reading: the last one; nothing at all; or a level of its own, which says that it is
    missing."""
    order: str = "sensor"
    """Which readings are neighbours: those of one sensor, or those of one time."""
    delta: str = "none"
    width: int = 0
    """Bytes of an integer; 0 takes the fewest."""
    planes: bool = False
    """First all low bytes, then all high ones."""
    zigzag: bool = False
    """Signs in the lowest bit."""

    @property
    def words(self) -> str:
        """The layout without what is as usual."""
        said = [f"by {self.order}"]
        said += [self.fill] if self.fill != HELD else []
        said += [f"delta {self.delta}"] if self.delta != "none" else []
        said += [f"{self.width} bytes"] if self.width else []
        return ", ".join(said + ["planes"] * self.planes + ["zigzag"] * self.zigzag)


def layouts(view: View) -> list[Layout]:
    """Return every sensible layout of the fewest bytes."""
    one = view.levels.shape[1] == 1
    found = []
    for fill in (HELD, LEFT_OUT, MARKED) if view.gaps else (HELD,):
        if fill == MARKED and view.floats:
            continue
        deltas = {MARKED: ["none"], LEFT_OUT: list(DELTAS)[:3]}.get(fill, list(DELTAS)[: 3 if one else None])
        found += [
            Layout(fill, order, delta) for order in (("sensor",) if one else ("sensor", "time")) for delta in deltas
        ]
    if view.floats:
        found += [Layout(HELD, order, XOR) for order in (("sensor",) if one else ("sensor", "time"))]
    return found


def charged(view: View, layout: Layout) -> int:
    """Return the bytes of the mask that a layout needs beside it."""
    return 0 if layout.fill == MARKED else view.mask


def width_of(view: View, layout: Layout) -> int:
    """Return the bytes of an integer."""
    if view.floats:
        return 4 if view.name == "float32" else 8
    largest = int(view.levels.max()) + (layout.fill == MARKED)
    return max(layout.width, next(width for width in (1, 2, 4, 8) if largest < 256**width))


def differences(view: View, layout: Layout) -> IntArray:
    """Return the row before it is cut to bytes: signed numbers."""
    levels = view.levels
    if layout.delta == XOR:
        before = np.concatenate([np.zeros_like(levels[:1]), levels[:-1]])
        return _ordered(levels ^ before, layout).ravel()
    in_time, in_sample = DELTAS[layout.delta]
    if layout.fill == MARKED:
        return _ordered(np.where(view.observed, levels + 1, 0), layout).ravel()
    if layout.fill == LEFT_OUT:
        found = np.zeros_like(levels)
        for sensor, there in enumerate(view.observed.T):
            found[there, sensor] = _diff(levels[there, sensor], in_time, 0)
        return _ordered(found, layout)[_ordered(view.observed, layout)]
    return _ordered(_diff(_diff(levels, in_time, 0), in_sample, 1), layout).ravel()


def restored(view: View, layout: Layout, row: IntArray) -> IntArray:
    """Undo `differences` up to multiples of 256**width: return the matrix, with zeros for readings left out."""
    in_time, in_sample = DELTAS.get(layout.delta, (0, 0))
    shape = view.levels.shape if layout.order == "time" else view.levels.shape[::-1]
    matrix = np.zeros(shape, dtype=np.int64)
    if layout.fill == LEFT_OUT:
        matrix[_ordered(view.observed, layout)] = row
        matrix = _ordered(matrix, layout).copy()
        for sensor, there in enumerate(view.observed.T):
            matrix[there, sensor] = _sum(matrix[there, sensor], in_time, 0)
        return matrix
    matrix[...] = row.reshape(shape)
    matrix = _ordered(matrix, layout)
    if layout.fill == MARKED:
        if not np.array_equal(matrix > 0, view.observed):
            raise AssertionError("marks of missing readings were lost")
        return matrix - 1
    if layout.delta == XOR:
        return np.bitwise_xor.accumulate(matrix, axis=0)
    return _sum(_sum(matrix, in_sample, 1), in_time, 0)


def packed(view: View, layout: Layout, row: IntArray) -> bytes:
    """Return the bytes of a row."""
    width = width_of(view, layout)
    narrow = row.astype(f"i{width}")
    if layout.zigzag:
        narrow = (narrow << 1) ^ (narrow >> (8 * width - 1))
    if layout.planes:
        return np.ascontiguousarray(narrow.view(np.uint8).reshape(-1, width).T).tobytes()
    return narrow.tobytes()


def unpacked(view: View, layout: Layout, body: bytes) -> IntArray:
    """Undo `packed` and `differences`: return the matrix of levels."""
    width = width_of(view, layout)
    raw = np.frombuffer(body, np.uint8)
    if layout.planes:
        raw = np.ascontiguousarray(raw.reshape(width, -1).T).ravel()
    narrow: NDArray[np.signedinteger] = raw.view(f"i{width}")
    if layout.zigzag:
        unsigned = narrow.view(f"u{width}")
        narrow = (unsigned >> 1).view(f"i{width}") ^ -(narrow & 1)
    found = restored(view, layout, narrow.astype(np.int64) if layout.fill != MARKED else _positive(narrow, width))
    if view.floats:
        return _signed(found, width)
    return _positive(found, width)


def _positive(values: NDArray[np.signedinteger], width: int) -> IntArray:
    wide = values.astype(np.int64)
    return wide if width == 8 else wide & np.int64(256**width - 1)


def _signed(values: IntArray, width: int) -> IntArray:
    return values.astype(f"i{width}").astype(np.int64)


def _ordered(values: NDArray[np.generic], layout: Layout) -> NDArray[np.generic]:
    return values if layout.order == "time" else values.T


def _diff(values: IntArray, times: int, axis: int) -> IntArray:
    for _ in range(times):
        values = np.diff(values, axis=axis, prepend=0)
    return values


def _sum(values: IntArray, times: int, axis: int) -> IntArray:
    for _ in range(times):
        values = np.add.accumulate(values, axis=axis)
    return values
