"""pcodec on integers, and on floats in the modes that it has for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pcodec import ChunkConfig, DeltaSpec, ModeSpec, standalone

from orthostream._typing import FloatArray, IntArray

from .attempt import Attempt
from .layout import LEFT_OUT, MARKED, Layout, charged, differences, layouts, restored
from .view import View

_DELTAS: dict[str, Callable[[], Any]] = {
    "auto": DeltaSpec.auto,
    "none": DeltaSpec.no_op,
    "lookback": DeltaSpec.try_lookback,
    "order 1": lambda: DeltaSpec.try_consecutive(1),
    "order 2": lambda: DeltaSpec.try_consecutive(2),
    "convolution 2": lambda: DeltaSpec.try_conv1(2),
    "convolution 8": lambda: DeltaSpec.try_conv1(8),
    "convolution 24": lambda: DeltaSpec.try_conv1(24),
}


def attempts(view: View, *, quick: bool = False) -> Iterator[Attempt]:
    """Try layouts, then predictions with the best ones."""
    return _of_floats(view, quick) if view.floats else _of_integers(view, quick)


def _squeeze(numbers: NDArray[np.generic], mode: Any, delta: str, level: int) -> bytes:
    # A convolution that is longer than the last batch of 256 integers makes pcodec 1.0.4 panic.
    # It takes none of 64 bits.
    if delta.startswith("convolution") and (
        numbers.dtype.itemsize == 8 or 0 < numbers.size % 256 < int(delta.split()[1])
    ):
        delta = "auto"
    options = ChunkConfig(compression_level=level, mode_spec=mode, delta_spec=_DELTAS[delta](), enable_8_bit=True)
    return bytes(standalone.simple_compress(numbers, options))


def _narrow(row: IntArray) -> NDArray[np.integer]:
    least, largest = int(row.min()), int(row.max())
    kinds = ("u1", "u2", "u4", "u8") if least >= 0 else ("i1", "i2", "i4", "i8")
    return row.astype(next(k for k in kinds if np.iinfo(k).min <= least and largest <= np.iinfo(k).max))


def _of_integers(view: View, quick: bool) -> Iterator[Attempt]:
    sizes: dict[tuple[Layout, str], int] = {}
    rows = {layout: _narrow(differences(view, layout)) for layout in layouts(view)}
    for layout, row in rows.items():
        for delta in ("none", "order 1", "lookback"):
            sizes[layout, delta] = len(_squeeze(row, ModeSpec.auto(), delta, 8)) + charged(view, layout)
    ranked = sorted(sizes, key=sizes.__getitem__)
    yield _integers(view, *ranked[0], 12, rows[ranked[0][0]])
    for layout in list(dict.fromkeys(layout for layout, _ in ranked))[: 1 if quick else 2]:
        for delta in _DELTAS:
            yield _integers(view, layout, delta, 8 if quick else 12, rows[layout])


def _integers(view: View, layout: Layout, delta: str, level: int, row: NDArray[np.integer]) -> Attempt:
    body = _squeeze(row, ModeSpec.auto(), delta, level)

    def decode() -> FloatArray:
        back = np.asarray(standalone.simple_decompress(body)).astype(np.int64)
        return view.restore(restored(view, layout, back))

    said = f"{view.name} {layout.words}, {delta}"
    return Attempt("pcodec", said, len(body) + charged(view, layout), decode)


def _of_floats(view: View, quick: bool) -> Iterator[Attempt]:
    kind = view.name
    sizes: dict[tuple[Layout, str], int] = {}
    modes = {"auto": ModeSpec.auto(), "classic": ModeSpec.classic()}
    chosen = [layout for layout in layouts(view) if layout.delta == "none" and layout.fill != MARKED]
    rows = {layout: _floats(view, layout).astype(kind) for layout in chosen}
    for layout, row in rows.items():
        for mode in modes:
            sizes[layout, mode] = len(_squeeze(row, modes[mode], "auto", 8)) + charged(view, layout)
    for layout, mode in sorted(sizes, key=sizes.__getitem__)[: 1 if quick else 2]:
        for delta in list(_DELTAS)[: 1 if quick else 5]:
            yield _float_attempt(view, layout, mode, delta, _squeeze(rows[layout], modes[mode], delta, 12))


def _float_attempt(view: View, layout: Layout, mode: str, delta: str, body: bytes) -> Attempt:
    def decode() -> FloatArray:
        values = np.asarray(standalone.simple_decompress(body)).astype(np.float64)
        shape = view.levels.shape if layout.order == "time" else view.levels.shape[::-1]
        matrix = np.full(shape, np.nan)
        there = view.observed if layout.order == "time" else view.observed.T
        matrix[there if layout.fill == LEFT_OUT else np.ones_like(there)] = values
        return matrix if layout.order == "time" else matrix.T

    said = f"{view.name} {layout.words}, {mode}, {delta}"
    return Attempt("pcodec", said, len(body) + charged(view, layout), decode)


def _floats(view: View, layout: Layout) -> FloatArray:
    values = view.restore(view.levels)
    ordered = values if layout.order == "time" else values.T
    if layout.fill != LEFT_OUT:
        return np.ascontiguousarray(ordered).ravel()
    return np.ascontiguousarray(ordered[view.observed if layout.order == "time" else view.observed.T])
