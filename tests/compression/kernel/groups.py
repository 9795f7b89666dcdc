"""Groups of whole numbers, the way there and back, and what it means that two of them know the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from orthostream.compression.kernel.group_state import Group, new_group
from orthostream.compression.kernel.range_coder import CODER_SIZE, finish_encoding, start_decoding, start_encoding
from orthostream.compression.kernel.readings import CELL, MISSING, RAW
from orthostream.compression.kernel.sample import code_samples

#: Squares of which only one half means anything.
UPPER, LOWER = ("covariance", "upper"), ("sums",)


def whole_group(n_sensors: int, width: float = 1.0, period: int = 0, version: int = 2) -> Group:
    """Return a group whose lattices are the whole numbers."""
    ones, nothing = np.ones(n_sensors), np.zeros(n_sensors, dtype=np.int64)
    powers = np.zeros((n_sensors, 32))
    return new_group(
        width * ones,
        ones.copy(),
        ones.copy(),
        0.0 * ones,
        powers,
        nothing.copy(),
        nothing.copy(),
        nothing.copy(),
        period,
        version,
    )


def encode(
    group: Group, rows: np.ndarray, limit: float = 0.0, code: Callable[..., Any] = code_samples
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bytes of some rows, and the kinds and cells that were coded."""
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(96 * rows.size + 64, dtype=np.uint8)
    start_encoding(coder)
    kinds = np.where(np.isnan(rows), MISSING, np.where(np.isinf(rows), RAW, CELL)).astype(np.int64)
    cells, rests = (np.zeros(rows.shape, dtype=np.int64) for _ in range(2))
    known = np.where(np.isfinite(rows), rows, 0.0)
    limits, patterns = np.full(rows.shape, limit), rows.view(np.int64).copy()
    with np.errstate(all="ignore"):
        code(coder, buffer, group, kinds, cells, rests, known, rows, limits, patterns)
    return buffer[: finish_encoding(coder, buffer)].copy(), kinds, cells


def decode(group: Group, data: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the kinds, cells and patterns that some bytes hold."""
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_decoding(coder, data, len(data))
    kinds, cells, rests, patterns = (np.zeros(shape, dtype=np.int64) for _ in range(4))
    nothing = np.zeros(shape)
    with np.errstate(all="ignore"):
        code_samples(coder, data, group, kinds, cells, rests, nothing, nothing, nothing, patterns)
    return kinds, cells, patterns


def assert_same_state(one: Any, other: Any, *, halves: bool = False) -> None:
    """Check that both know the same, to the bit; of squares, where ``halves``, only in the half that is of use."""
    for name in one._fields:
        mine, yours = getattr(one, name), getattr(other, name)
        if hasattr(mine, "_fields"):
            assert_same_state(mine, yours, halves=halves)
            continue
        if name in ("spent", "exact"):
            # For people, and for the encoder alone.
            continue
        if halves and name in UPPER:
            mine, yours = np.triu(mine), np.triu(yours)
        elif halves and name in LOWER:
            mine, yours = np.tril(mine), np.tril(yours)
        np.testing.assert_array_equal(mine, yours, err_msg=name)
