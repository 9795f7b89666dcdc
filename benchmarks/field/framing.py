"""Readings cut into frames of bytes, before any peer compresses them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, IntArray

from .layout import Layout, width_of
from .view import View


class Framing(NamedTuple):
    """How the samples of a frame become bytes."""

    size: int
    """Samples in a frame."""
    delta: str = "none"
    """"time" subtracts the sample before, "sensors" the reading beside."""
    order: str = "time"
    varint: bool = False
    """Seven bits in a byte, as many bytes as needed; otherwise the same number of bytes for each."""
    memory: bool = False
    """Whether the first sample of a frame is subtracted from the last one of the frame before."""

    @property
    def words(self) -> str:
        """The framing without what is as usual."""
        said = [f"by {self.order}", *([f"delta {self.delta}"] if self.delta != "none" else [])]
        return ", ".join(said + ["varint"] * self.varint + ["across frames"] * self.memory)


def framings(view: View, size: int) -> list[Framing]:
    """Return the ways to try."""
    one = view.levels.shape[1] == 1
    orders = ("time",) if one or size == 1 else ("time", "sensor")
    found = []
    for delta in ("none", "time") if one else ("none", "time", "sensors"):
        for memory in (False, True) if delta == "time" else (False,):
            found += [Framing(size, delta, order, varint, memory) for order in orders for varint in (False, True)]
    return found


def frames(view: View, framing: Framing) -> list[bytes]:
    """Return the frames; the mask comes first where the stream has gaps."""
    size, width = framing.size, width_of(view, Layout())
    values = _differences(view, framing)
    masks, rows = [], []
    for start in range(0, len(values), size):
        part, there = values[start : start + size], view.observed[start : start + size]
        masks.append(np.packbits(there).tobytes() if view.gaps else b"")
        rows.append(_ordered(part, framing)[_ordered(there, framing)])
    if not framing.varint:
        return [mask + row.astype(f"i{width}").tobytes() for mask, row in zip(masks, rows, strict=True)]
    body, lengths = varints(np.concatenate(rows))
    ends = np.concatenate([[0], np.cumsum(lengths)])[np.cumsum([0, *map(len, rows)])].tolist()
    return [mask + body[begin:end] for mask, begin, end in zip(masks, ends[:-1], ends[1:], strict=True)]


def _differences(view: View, framing: Framing) -> IntArray:
    """Return differences from the last reading that the decoder has, and zero where a reading is missing."""
    if framing.delta == "none":
        return view.levels
    if framing.delta == "sensors":
        return np.diff(_held(view.levels.T, view.observed.T), axis=0, prepend=0).T
    if framing.memory:
        return np.diff(_held(view.levels, view.observed), axis=0, prepend=0)
    parts = [slice(start, start + framing.size) for start in range(0, len(view.levels), framing.size)]
    held = [_held(view.levels[part], view.observed[part]) for part in parts]
    return np.concatenate([np.diff(part, axis=0, prepend=0) for part in held])


def _held(levels: IntArray, observed: BoolArray) -> IntArray:
    """Return the last reading where one is missing, and zero before the first."""
    if observed.all():
        return levels
    last = np.maximum.accumulate(np.where(observed, np.arange(len(levels))[:, None], -1), axis=0)
    return np.where(last < 0, 0, np.take_along_axis(levels, np.maximum(last, 0), axis=0))


def unframed(view: View, framing: Framing, bodies: list[bytes]) -> IntArray:
    """Undo `frames`: return levels, and anything where a reading was missing."""
    n, k = view.levels.shape
    width = width_of(view, Layout())
    values, observed = np.zeros((n, k), np.int64), np.ones((n, k), bool)
    for start, body in zip(range(0, n, framing.size), bodies, strict=True):
        shape = (min(framing.size, n - start), k)
        there = observed[start : start + shape[0]]
        if view.gaps:
            n_mask = -(-there.size // 8)
            there[...] = np.unpackbits(np.frombuffer(body[:n_mask], np.uint8))[: there.size].reshape(shape)
            body = body[n_mask:]
        row = unvarints(body) if framing.varint else np.frombuffer(body, f"i{width}").astype(np.int64)
        part = np.zeros(shape, np.int64)
        _ordered(part, framing)[_ordered(there, framing)] = row
        values[start : start + shape[0]] = part
    if not np.array_equal(observed, view.observed):
        raise AssertionError("the mask of missing readings was lost")
    return _narrowed(_summed(framing, values), view, framing, width)


def _summed(framing: Framing, values: IntArray) -> IntArray:
    if framing.delta == "none":
        return values
    if framing.delta == "sensors" or framing.memory:
        return np.add.accumulate(values, axis=1 if framing.delta == "sensors" else 0)
    parts = [values[start : start + framing.size] for start in range(0, len(values), framing.size)]
    return np.concatenate([np.add.accumulate(part, axis=0) for part in parts])


def _narrowed(values: IntArray, view: View, framing: Framing, width: int) -> IntArray:
    if width == 8 or framing.varint:
        return values
    return values.astype(f"i{width}").astype(np.int64) if view.floats else values & np.int64(256**width - 1)


def _ordered(values: IntArray | BoolArray, framing: Framing) -> IntArray | BoolArray:
    return values if framing.order == "time" else values.T


def varints(row: IntArray) -> tuple[bytes, IntArray]:
    r"""Return integers with their sign in the lowest bit, seven bits in a byte, and how many bytes each takes.

    >>> varints(np.array([0, -1, 64]))[0], unvarints(varints(np.array([5, -70000, 2**62]))[0]).tolist()
    (b'\x00\x01\x80\x01', [5, -70000, 4611686018427387904])
    """
    folded = ((row << 1) ^ (row >> 63)).view(np.uint64)
    shifted = folded[:, None] >> np.arange(0, 70, 7, dtype=np.uint64).clip(0, 63)
    # The tenth group of seven bits is the highest bit alone.
    needed = shifted > 0
    needed[:, 0] = True
    more = np.zeros_like(needed)
    more[:, :-1] = needed[:, 1:]
    found = ((shifted & np.uint64(127)) | (more.astype(np.uint64) << np.uint64(7))).astype(np.uint8)
    return found[needed].tobytes(), needed.sum(axis=1)


def unvarints(body: bytes) -> IntArray:
    """Undo `varints`."""
    raw = np.frombuffer(body, np.uint8)
    ends = np.flatnonzero(raw < 128)
    starts = np.concatenate([[0], ends[:-1] + 1])
    folded = np.zeros(len(ends), np.uint64)
    for place in range(10):
        at = starts + place
        there = at <= ends
        folded[there] |= (raw[at[there]] & np.uint8(127)).astype(np.uint64) << np.uint64(7 * place)
    return (folded >> np.uint64(1)).astype(np.int64) ^ -(folded & np.uint64(1)).astype(np.int64)
