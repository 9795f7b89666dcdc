"""The contract of an estimate of the gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch, Objective
from orthostream.optimize.state import State


class Report(NamedTuple):
    """What an estimate has measured of the stream, one number for each problem."""

    contrast: FloatArray
    """0 for the first objective of the estimate, 1 for the second."""
    half_life: FloatArray
    """The number of samples in which the running mean of gradients forgets half of its content."""
    changes: FloatArray
    """The number of abrupt changes of the stream, after which learning started again."""
    trusted: FloatArray | float = 1.0
    """1 if the current point is reported, 0 if a more cautious one is."""


class GradientEstimate(ABC):
    """Turns mini-batches into an estimate of the gradient and the weight gamma of the step.

    Its memory is an `ArrayBlock` of named arrays, one of them called ``gradient``. The solver keeps it in its state.
    """

    objective: Objective
    """The objective that value and Frank-Wolfe gap are computed with, the same for the whole run."""

    power: float = 2.0
    """Its gradients are proportional to this power of the data."""

    degree: float = 2.0
    """The largest power of the data that an update computes."""

    @property
    def core_ndim(self) -> int | None:
        """The number of axes of a point; None if any number is allowed."""
        return getattr(self.objective, "core_ndim", None)

    @abstractmethod
    def layout(self, shape: tuple[int, ...]) -> Layout:
        """Return the names and shapes of the memory of one problem, whose point has this shape."""

    def begin(self, x: FloatArray) -> ArrayBlock:
        """Return the memory before the first mini-batch."""
        core = x.ndim if self.core_ndim is None else self.core_ndim
        split = x.ndim - core
        return self.layout(x.shape[split:]).zeros(x.shape[:split])

    @abstractmethod
    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        """Return the estimate after a mini-batch, the weight gamma of the oracle's vertex, and the next memory."""

    @abstractmethod
    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        """Return the memory of a stream whose samples are all ``factor`` times as large."""

    @abstractmethod
    def energy(self, memory: ArrayBlock) -> FloatArray | None:
        """Return the mean square of a coefficient of each problem; None if that is not known."""

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return a number for each atom of a point that grows with its energy, to sort atoms by.

        Unless an estimate knows the mean squares of coefficients, that is the pull of the gradient along each atom: for
        the contrast lp, the mean of |z|^p.
        """
        return np.asarray(-(x * memory["gradient"]).sum(axis=-2))

    def answer(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the point to report: the current one, unless the estimate knows a better one."""
        return x

    def for_completion(self, memory: ArrayBlock, x: FloatArray, missing: float) -> tuple[FloatArray, float | None]:
        """Return the point to complete rows with, given the share of readings that are missing.

        Also return the mean square of a coefficient that is only noise, as a share of that of all; None if that is not
        known.
        """
        return x, None

    def limited(self, memory: ArrayBlock, batch: Batch, unit: float) -> Batch:
        """Return the mini-batch without samples so long that they would set the scale for all others.

        The memory is that of samples multiplied by ``unit``.
        """
        return batch

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        """Return the memory made of named arrays that were saved."""
        begun = self.begin(x)
        for name, array in begun.items():
            if name not in arrays or np.shape(arrays[name]) != array.shape:
                raise ValueError(f"{type(self).__name__} remembers {name} of shape {array.shape}, which is missing.")
        return begun.layout.block(begun.array.shape[:-1], arrays)

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Return the memory to continue from a state of another estimate; an empty one if that does not fit."""
        begun = self.begin(state.x)
        fits = state.memory.layout.shapes == begun.layout.shapes
        return state.memory if fits else begun

    def report(self, memory: ArrayBlock, samples: int) -> Report | None:
        """Return what was measured of the stream, for mini-batches of this many samples; None if nothing was."""
        return None

    @property
    def kernel(self) -> Kernel | None:
        """The update of one problem as a function that Numba can compile; None if there is none."""
        return None

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        """Return the four numbers that the kernel is called with."""
        return 0.0, 0.0, 0.0, 0.0
