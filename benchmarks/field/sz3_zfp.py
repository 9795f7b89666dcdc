"""SZ3 and zfp on levels as floats, within half a level; zfp also on floats as they are, without loss."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import zfpy

from orthostream._typing import FloatArray

from ..compression_fields import SHAPES, shaped, sz3_decode, sz3_encode, unshaped
from .attempt import Attempt
from .view import View

_ALGORITHMS = ("Lorenzo", "Lorenzo + regression", "interpolation + Lorenzo", "linear", "no prediction")


def attempts(view: View, *, quick: bool = False) -> Iterator[Attempt]:
    """Try shapes and algorithms; missing readings are held, and the mask is charged."""
    shapes = SHAPES[:1] if quick else SHAPES[2:3] if view.levels.shape[1] == 1 else SHAPES
    if view.floats:
        for shape in shapes:
            yield _zfp_exact(view, shape)
        return
    # Larger ones are not told apart by a float of 64 bits with half a level to spare.
    if int(view.levels.max()) >= 2**48:
        return
    bits = 32 if int(view.levels.max()) < 2**20 else 64
    for shape in shapes:
        values = shaped(view.levels.astype(f"f{bits // 8}"), shape)
        for algorithm in _ALGORITHMS[: 1 if quick else None]:
            yield _sz3(view, shape, values, algorithm, bits)
        for tolerance in (0.49,) if quick else (0.49, 0.98, 1.96, 3.9):
            yield _zfp(view, shape, values, tolerance)


def _finished(view: View, values: FloatArray, shape: str) -> FloatArray:
    return view.restore(np.rint(unshaped(values.astype(np.float64), shape, view.levels.shape)).astype(np.int64))


def _sz3(view: View, shape: str, values: FloatArray, algorithm: str, bits: int) -> Attempt:
    body = sz3_encode(values, algorithm, 0.49)
    return Attempt(
        "SZ3",
        f"{view.name} {shape}, {algorithm}",
        len(body) + view.mask,
        lambda: _finished(view, sz3_decode(body, bits, values.shape), shape),
    )


def _zfp(view: View, shape: str, values: FloatArray, tolerance: float) -> Attempt:
    body = zfpy.compress_numpy(values, tolerance=tolerance)
    return Attempt(
        "zfp",
        f"{view.name} {shape}, tolerance {tolerance:g}",
        len(body) + view.mask,
        lambda: _finished(view, zfpy.decompress_numpy(body), shape),
    )


def _zfp_exact(view: View, shape: str) -> Attempt:
    body = zfpy.compress_numpy(shaped(view.restore(view.levels).astype(view.name), shape))
    return Attempt(
        "zfp",
        f"{view.name} {shape}, reversible",
        len(body) + view.mask,
        lambda: unshaped(zfpy.decompress_numpy(body).astype(np.float64), shape, view.levels.shape),
    )
