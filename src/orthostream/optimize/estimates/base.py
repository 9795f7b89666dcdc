"""What an estimate of the gradient is to the solver."""

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
    """What an estimate has found out about the stream, a number for each problem."""

    contrast: FloatArray
    """0 for the first objective of the estimate, 1 for the second."""
    half_life: FloatArray
    """In how many samples the running mean of gradients forgets half of what it holds."""
    changes: FloatArray
    """How often the stream has changed so abruptly that learning started again."""


class GradientEstimate(ABC):
    """Turns mini-batches into an estimate of the gradient, and says how far the step should go.

    Its memory is a `ArrayBlock` of named arrays, one of which is called ``gradient``. The solver keeps it in its state.
    """

    objective: Objective
    """What value and Frank-Wolfe gap are measured with, from the first step to the last."""

    power: float = 2.0
    """The power of the data that its gradients grow with."""

    degree: float = 2.0
    """The largest power of the data that an update computes."""

    @property
    def core_ndim(self) -> int | None:
        """How many axes a point has; None where any number will do."""
        return getattr(self.objective, "core_ndim", None)

    @abstractmethod
    def layout(self, shape: tuple[int, ...]) -> Layout:
        """Return the names and shapes of what it remembers of one problem, whose point has this shape."""

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

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        """Return the memory of a point from its named arrays, as they were saved."""
        begun = self.begin(x)
        for name, array in begun.items():
            if name not in arrays or np.shape(arrays[name]) != array.shape:
                raise ValueError(f"{type(self).__name__} remembers {name} of shape {array.shape}, which is not there.")
        return begun.layout.block(begun.array.shape[:-1], arrays)

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Return the memory with which this estimate goes on from a state of another one; it begins anew if it must."""
        begun = self.begin(state.x)
        fits = state.memory.layout.shapes == begun.layout.shapes
        return state.memory if fits else begun

    def report(self, memory: ArrayBlock, samples: int) -> Report | None:
        """Return what was found out about the stream, for mini-batches of this many samples; None if nothing is."""
        return None

    @property
    def kernel(self) -> Kernel | None:
        """The update for one problem as a function that Numba can compile, if there is one."""
        return None

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        """Return the four numbers that the kernel is called with."""
        return 0.0, 0.0, 0.0, 0.0
