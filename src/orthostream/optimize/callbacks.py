"""What callbacks receive, and why runs end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.estimates.base import Report
from orthostream.optimize.objectives.base import Batch, batch_size
from orthostream.optimize.state import State

if TYPE_CHECKING:
    from orthostream.optimize.stochastic_frank_wolfe import StochasticFrankWolfe


class Progress:
    """The last step. Gap and objective are computed on first access, so that a callback pays only for what it uses."""

    def __init__(
        self, solver: StochasticFrankWolfe, state: State, batch: Batch, weights: FloatArray | None = None
    ) -> None:
        self.solver, self.state, self.batch, self.weights = solver, state, batch, weights

    @property
    def t(self) -> int:
        """The number of steps taken."""
        return self.state.t

    @cached_property
    def gap(self) -> FloatArray:
        """The Frank-Wolfe gap at the new point, on the mini-batch or the held-out sample."""
        return self.solver.gap(self.state, self.batch, self.weights)

    @cached_property
    def objective(self) -> FloatArray:
        """The objective at the new point, on the same sample."""
        return self.solver.objective.value(self.state.x, self.batch, self.weights)

    @property
    def report(self) -> Report | None:
        """The estimate's report: contrast, half-life in samples, abrupt changes; None if it has no report."""
        return self.solver.estimate.report(self.state.memory, batch_size(self.batch))


#: A callback takes a `Progress` and stops the run by returning True, or an array whose entries are all True.
Callback: TypeAlias = Callable[[Progress], "bool | np.bool | FloatArray | None"]


def notify(callbacks: Sequence[Callback], progress: Progress) -> bool:
    """Call every callback; return whether one of them stops the run."""
    answers = [np.asarray(callback(progress)) for callback in callbacks]
    return any(answer.dtype == np.bool_ and bool(answer.all()) for answer in answers)


class Status(Enum):
    """Why a run ended."""

    STREAM_ENDED = "the stream ended"
    STEP_BUDGET = "the step budget is spent"
    TIME_BUDGET = "the time budget is spent"
    STOPPED = "a callback stopped the run"
    CONVERGED = "the tolerance is reached"


class Result(NamedTuple):
    """The state a run ended in, and why it ended."""

    state: State
    status: Status
