"""The running mean of gradients with a schedule: the estimate of Algorithm 1."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate
from orthostream.optimize.kernel import Kernel
from orthostream.optimize.objectives.base import Batch, Objective, batch_size
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.schedules import PaperSchedule, Schedule
from orthostream.optimize.state import State


class RunningMean(GradientEstimate):
    """G <- (1 - rho) G + rho * gradient of the mini-batch, with rho and gamma from a schedule.

    Parameters
    ----------
    objective : Objective
    schedule : Schedule, default the paper's

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import ConstantSchedule, LeastSquares
    >>> mean = RunningMean(LeastSquares(), ConstantSchedule(rho=0.5, gamma=0.1))
    >>> x = np.zeros(2)
    >>> gradient, gamma, memory = mean.update(mean.begin(x), x, (np.eye(2), np.array([4.0, 0.0])), None)
    >>> gradient, gamma
    (array([-1.,  0.]), 0.1)
    """

    def __init__(self, objective: Objective, schedule: Schedule | None = None) -> None:
        self.objective = objective
        self.schedule = PaperSchedule() if schedule is None else schedule
        self.power = self.degree = float(getattr(objective, "degree", 2.0))

    def layout(self, shape: tuple[int, ...]) -> Layout:
        return Layout(gradient=shape, steps=())

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        t = _next_step(memory)
        rho, gamma = self.schedule.weights(t, batch_size(batch))
        gradient = rho * self.objective.gradient(x, batch, weights)
        gradient += (1.0 - rho) * memory["gradient"]
        if not np.isfinite(gradient).all():
            raise ValueError(f"the gradient at step {t} is not finite: look for NaN or infinity in the mini-batch.")
        stack = memory.array.shape[:-1]
        return gradient, gamma, memory.layout.block(stack, {"gradient": gradient, "steps": np.full(stack, float(t))})

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        stack = memory.array.shape[:-1]
        return memory.layout.block(stack, dict(memory) | {"gradient": memory["gradient"] * factor**self.power})

    def energy(self, memory: ArrayBlock) -> FloatArray | None:
        return None

    def adopted(self, state: State, other: GradientEstimate) -> ArrayBlock:
        """Return the memory to continue with: the same gradient, scaled to the usual norm for this objective."""
        gradient = state.gradient
        energy = other.energy(state.memory)
        norm = float(np.linalg.norm(gradient))
        if energy is not None and norm > 0.0:
            length = self.degree * float(np.mean(energy)) ** (0.5 * self.degree) * state.x.shape[-1] ** 0.5
            gradient = gradient * (length / norm) if length > 0.0 else gradient
        begun = self.begin(state.x)
        steps = np.full(begun["steps"].shape, float(state.t))
        return begun.layout.block(begun.array.shape[:-1], {"gradient": gradient, "steps": steps})

    @property
    def kernel(self) -> Kernel | None:
        if type(self) is not RunningMean or type(self.objective) is not LpContrast:
            return None
        return Kernel("lp_running_mean", ("orthostream.optimize.estimates.running_mean_loops",))

    def settings(self, memory: ArrayBlock, atoms: int, samples: int) -> tuple[float, float, float, float]:
        rho, gamma = self.schedule.weights(_next_step(memory), samples)
        return float(rho), float(gamma), self.degree, 0.0


def _next_step(memory: ArrayBlock) -> int:
    """Return the number of the next step, from 1; it is the same for all problems of a stack."""
    return int(memory.array.item(memory.layout.size - 1)) + 1
