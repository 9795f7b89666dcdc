"""Samples that a guarded hand-over has seen before: its course learns from them again, its guard does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate
from orthostream.optimize.estimates.guarded import arrays
from orthostream.optimize.estimates.guarded.constants import AGAIN
from orthostream.optimize.estimates.guarded.layout import LIMIT
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch

if TYPE_CHECKING:
    from orthostream.optimize.estimates.guarded.estimate import Guarded


class Rehearsal(GradientEstimate):
    """The same memory as that of a `Guarded`, for samples that are no fresh evidence.

    The door cuts them, but they do not move its limit, and nothing is compared on them.
    """

    def __init__(self, guarded: Guarded) -> None:
        self._guarded = guarded
        self.objective = guarded.objective
        self.power, self.degree = guarded.power, guarded.degree

    def layout(self, shape: tuple[int, ...]) -> Layout:
        return self._guarded.layout(shape)

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        return self._guarded.rescaled(memory, factor)

    def energy(self, memory: ArrayBlock) -> FloatArray:
        return self._guarded.energy(memory)

    @property
    def kernel(self) -> Kernel | None:
        return self._guarded.kernel

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        *others, sparse = self._guarded.settings(memory, atoms, samples)
        return others[0], others[1], others[2], sparse + AGAIN

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        """Return the course's gradient, gamma, and the memory, in which only that of the course has changed."""
        limits = np.exp(memory["guard"][..., LIMIT])
        squares = np.broadcast_to(arrays.squared_lengths(batch), (*x.shape[:-2], batch.shape[-2]))
        door = arrays.admit(squares, weights, limits)
        course = self._guarded.course
        inner = course.layout(x.shape[-2:])
        before = ArrayBlock(inner, memory.array[..., : inner.size])
        gradient, gamma, after = course.update(before, x, arrays.shortened(batch, door.factors), door.weights)
        new = ArrayBlock(memory.layout, memory.array.copy())
        new.array[..., : inner.size] = after.array
        return gradient, gamma, new
