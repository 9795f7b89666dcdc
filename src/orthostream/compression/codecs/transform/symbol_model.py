"""The adaptive probabilities with which a payload of readings is coded; equal on both sides."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from orthostream._compile import can_compile, compiled
from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.codecs.transform import level_coder, plane_coder
from orthostream.compression.codecs.transform.block import Block
from orthostream.compression.codecs.transform.level_coder import LEVEL_BITS, MOST_ROWS, UNIT, overrun, start_level_bits
from orthostream.compression.codecs.transform.outliers import code_outlier, start_outlier_bits
from orthostream.compression.codecs.transform.plane_coder import PLANE_BITS, PLANE_ROWS, start_plane
from orthostream.compression.codecs.transform.prediction import HABITS
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel import range_coder
from orthostream.compression.kernel.range_coder import (
    AT,
    DECODING,
    EVEN,
    INTEGER_BITS,
    MODE,
    WIDTH,
    code_bit,
    code_integer,
)

_HABIT_BITS = 8
#: Where the header's adaptive bits are: as many rows as last time; how many; by how much the level changes.
_SAME_ROWS, _ROWS, _LEVEL = 0, 1, 1 + INTEGER_BITS


class SymbolModel:
    """Codes the parts of a payload, in either direction, and learns from each.

    Parameters
    ----------
    n_sensors : int
    fast : bool, optional
        Run the inner loops as machine code; by default where Numba is installed. The bytes are the same.
    """

    def __init__(self, n_sensors: int, fast: bool | None = None) -> None:
        self.header = np.full(1 + 2 * INTEGER_BITS, EVEN, dtype=np.int64)
        self.n_rows = 1
        self.habits = np.full(2 * _HABIT_BITS, EVEN, dtype=np.int64)
        self.levels = np.empty(LEVEL_BITS, dtype=np.int64)
        start_level_bits(self.levels)
        self.activity = np.full(n_sensors, UNIT // 4, dtype=np.int64)
        self.sizes = np.full((n_sensors, MOST_ROWS), UNIT // 4, dtype=np.int64)
        self.plane_bits = np.empty((2, PLANE_BITS), dtype=np.int64)
        self.planes = np.empty((2, PLANE_ROWS, n_sensors), dtype=np.int64)
        for bits, memory in zip(self.plane_bits, self.planes, strict=True):
            start_plane(bits, memory)
        self.outliers = start_outlier_bits()
        #: Bits that levels have taken so far, when encoding; a budget is controlled by them.
        self.level_bits = 0.0
        self.last_outliers = np.zeros(n_sensors)
        self._kernel: dict[str, Callable[..., Any]] = {}
        if can_compile() if fast is None else fast:
            self._kernel = compiled((range_coder, level_coder, plane_coder))

    def copy(self) -> Self:
        """Return an independent copy."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(twin, name, value.copy())
        return twin

    def habit_costs(self) -> FloatArray:
        """Return how many bits each habit would cost, of the leading atom and of the others."""
        costs = np.zeros((2, len(HABITS)))
        for which in range(2):
            for habit in range(len(HABITS)):
                for shift in (2, 1, 0):
                    entry = int(self.habits[which * _HABIT_BITS + ((habit + 8) >> (shift + 1))])
                    probability = min(max((entry >> 8) / 4194304.0, 1e-3), 1.0 - 1e-3)
                    costs[which, habit] -= np.log2(probability if (habit >> shift) & 1 else 1.0 - probability)
        return costs

    def code_header(self, coder: IntArray, buffer: ByteArray, n_rows: int, change: int) -> tuple[int, int]:
        """Code the number of samples and by how much the level of the step changes."""
        if not code_bit(coder, buffer, self.header, _SAME_ROWS, 60, int(n_rows == self.n_rows)):
            self.n_rows = 1 + code_integer(coder, buffer, self.header, _ROWS, n_rows - 1)
        folded = code_integer(coder, buffer, self.header, _LEVEL, 2 * change if change >= 0 else -2 * change - 1)
        return self.n_rows, folded >> 1 if folded % 2 == 0 else -((folded + 1) >> 1)

    def code_block(self, coder: IntArray, buffer: ByteArray, block: Block) -> Block:
        """Code a block; where the coder decodes, what is given only says how large it is, and is written to."""
        habits = (
            self._code_habit(coder, buffer, 0, block.habits[0]),
            self._code_habit(coder, buffer, 1, block.habits[1]),
        )
        code_plane = self._kernel.get("code_plane", plane_coder.code_plane)
        for plane, bits, memory in zip((block.missing, block.outliers), self.plane_bits, self.planes, strict=True):
            if not code_plane(coder, buffer, bits, memory, plane):
                raise FrameError("the mask of a block goes on beyond the end of its payload.")
        for t, s in np.argwhere(block.outliers):
            value = code_outlier(coder, buffer, self.outliers, float(self.last_outliers[s]), float(block.values[t, s]))
            self.last_outliers[s] = block.values[t, s] = value
            if overrun(coder):
                raise FrameError("the values of a block go on beyond the end of its payload.")
        code_levels = self._kernel.get("code_levels", level_coder.code_levels)
        before = _position(coder)
        if not code_levels(coder, buffer, self.levels, self.activity, self.sizes, block.levels):
            raise FrameError("the coefficients of a block are too large, or go on beyond the end of its payload.")
        self.level_bits += _position(coder) - before
        return block._replace(habits=habits)

    def _code_habit(self, coder: IntArray, buffer: ByteArray, which: int, habit: int) -> int:
        node = 1
        for shift in (2, 1, 0):
            bit = code_bit(coder, buffer, self.habits, which * _HABIT_BITS + node, 30, (habit >> shift) & 1)
            node = 2 * node + bit
        if coder[MODE] == DECODING and node - 8 >= len(HABITS):
            raise FrameError(f"there are {len(HABITS)} habits, and number {node - 8} is none of them.")
        return node - 8


def _position(coder: IntArray) -> float:
    """Return how many bits a coder has come to, up to a constant."""
    return 8.0 * float(coder[AT]) - math.log2(float(coder[WIDTH]))
