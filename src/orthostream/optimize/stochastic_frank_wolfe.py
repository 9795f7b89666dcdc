"""Algorithm 1: stochastic Frank-Wolfe for nonconvex objectives over convex sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthostream._typing import FloatArray
from orthostream.optimize.callbacks import Callback, Progress, Result, Status, notify
from orthostream.optimize.courses.base import Course
from orthostream.optimize.courses.hand_over import HandOver
from orthostream.optimize.fused import FusedHandOver, FusedStep, fused_hand_over, fused_step
from orthostream.optimize.gap import frank_wolfe_gap
from orthostream.optimize.objectives.base import Batch, CallableObjective, Objective, batch_size
from orthostream.optimize.objectives.lp_contrast import LpContrast
from orthostream.optimize.post_step import PolarStep, PostStep
from orthostream.optimize.schedules import PaperSchedule, Schedule
from orthostream.optimize.sets import ConvexSet, SpectralBall
from orthostream.optimize.state import State

#: The running mean of the iterates weighs the i-th of them by about i^_AVERAGING_POWER.
_AVERAGING_POWER = 3.0


class StochasticFrankWolfe:
    """Minimise the expectation of an objective over a convex set, one mini-batch at a time.

    At step t, with the schedule's weights rho and gamma::

        G <- (1 - rho) G + rho * gradient of the mini-batch at X
        S <- lmo(G)
        X <- P[(1 - gamma) X + gamma S]

    The solver itself has no state: `init` makes one, `step` maps it to the next.

    Parameters
    ----------
    feasible : ConvexSet
    objective : Objective or Course, or a pair of functions (value, gradient) of (x, batch)
        A course is a schedule of objectives: it decides as it goes what is minimised, and with which weights.
    schedule : Schedule, default the paper's
        Of no effect where a course is followed.
    post_step : PostStep, optional
        The operation P. None leaves the point as it is.
    average : bool, default False
        Also keep a running mean of the points that favours the late ones, in ``State.average``.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import L1Ball, LeastSquares
    >>> rng = np.random.default_rng(0)
    >>> truth = np.array([0.8, 0.0, 0.0, -0.2])
    >>> solver = StochasticFrankWolfe(L1Ball(), LeastSquares())
    >>> state = solver.init(np.zeros(4))
    >>> for _ in range(2000):
    ...     rows = rng.standard_normal((10, 4))
    ...     state = solver.step(state, (rows, rows @ truth))
    >>> state.x.round(1) + 0.0
    array([ 0.8,  0. ,  0. , -0.2])
    """

    def __init__(
        self,
        feasible: ConvexSet,
        objective: Objective | tuple[Callable[..., Any], Callable[..., Any]],
        schedule: Schedule | None = None,
        post_step: PostStep | None = None,
        average: bool = False,
    ) -> None:
        if isinstance(objective, tuple) and len(objective) == 2:
            objective = CallableObjective(*objective)
        self.feasible = feasible
        self.objective = objective
        self.schedule = PaperSchedule() if schedule is None else schedule
        self.post_step = post_step
        self.average = average
        self._check_parts()

    def _check_parts(self) -> None:
        parts = (
            (self.feasible, ("lmo", "oracle", "memory", "contains", "check_shape"), "feasible", "ConvexSet"),
            (self.objective, ("value", "gradient"), "objective", "Objective"),
            (self.schedule, ("weights",), "schedule", "Schedule"),
        )
        for part, methods, name, base in parts:
            if isinstance(part, type):
                raise TypeError(f"{name} is the class {part.__name__}, not an object: write {part.__name__}(...).")
            missing = [method for method in methods if not callable(getattr(part, method, None))]
            if missing:
                raise TypeError(
                    f"{name} is a {type(part).__name__} without {', '.join(missing)}; "
                    f"subclass orthostream.optimize.{base} or add the missing methods."
                )
        if self.post_step is not None and not isinstance(self.post_step, PostStep):
            raise TypeError(f"post_step must be an object derived from PostStep, or None, got {self.post_step!r}.")
        wanted = self.feasible.core_ndim
        for other in (self.objective, self.post_step):
            has = getattr(other, "core_ndim", None)
            if has is not None and has != wanted:
                raise ValueError(
                    f"{type(self.feasible).__name__} holds points of {wanted} axes, "
                    f"{type(other).__name__} wants points of {has}: they cannot be combined."
                )

    def init(self, x: ArrayLike) -> State:
        """Return the state before the first step, from a feasible point or a stack of them."""
        point = np.array(x)
        if point.dtype not in (np.float32, np.float64):
            point = point.astype(np.float64)
        self.feasible.check_shape(point.shape)
        tolerance = 1e-8 if point.dtype == np.float64 else 1e-4
        if not np.isfinite(point).all() or not self.feasible.contains(point, tolerance):
            hint = "; project it first" if hasattr(self.feasible, "project") else ""
            raise ValueError(f"the starting point lies outside of {type(self.feasible).__name__}{hint}.")
        if self.post_step is not None:
            self.post_step.check_start(self.feasible, point)
        memory = self.feasible.memory(point)
        course = self.objective.begin(point) if isinstance(self.objective, Course) else None
        return State(0, point, np.zeros_like(point), memory, point.copy() if self.average else None, course)

    def step(self, state: State, batch: Batch, weights: FloatArray | None = None) -> State:
        """Return the state after one mini-batch."""
        if weights is None and self.fused is not None and (taken := self.fused(state, batch)) is not None:
            return taken
        t = state.t + 1
        samples = batch_size(batch)
        if samples == 0:
            raise ValueError("the mini-batch holds no samples.")
        if isinstance(self.objective, Course):
            return self._follow(self.objective, state, batch, weights)
        rho, gamma = self.schedule.weights(t, samples)
        gradient = rho * self.objective.gradient(state.x, batch, weights)
        gradient += (1.0 - rho) * state.gradient
        if self.feasible.core_ndim == 1 and not np.isfinite(gradient).all():  # the others' oracles refuse it
            raise ValueError(f"the gradient at step {t} is not finite: look for NaN or infinity in the mini-batch.")
        x, memory = self._move(state.x, gradient, gamma, state.memory)
        return State(t, x, gradient, memory, self._averaged(state.average, x, t))

    def _follow(self, course: Course, state: State, batch: Batch, weights: FloatArray | None) -> State:
        if state.course is None:
            raise ValueError("this state belongs to a solver without a course: make one with init.")
        t, x, gradient, memory, average, kept = state
        for i in range(course.rounds):
            decision = course.decide(kept, x, batch, weights, i > 0)  # type: ignore[arg-type]
            rho = np.asarray(decision.rho, dtype=x.dtype)[..., None, None]
            gradient = rho * decision.gradient + (1 - rho) * gradient
            x, memory = self._move(x, gradient, decision.gamma, memory)
            kept = decision.memory
        return State(t + 1, x, gradient, memory, self._averaged(average, x, t + 1), kept)

    def _move(
        self, x: FloatArray, gradient: FloatArray, gamma: float, memory: FloatArray | float
    ) -> tuple[FloatArray, FloatArray | float]:
        vertex, memory = self.feasible.oracle(gradient, x, memory)
        mixed = gamma * vertex
        mixed += (1.0 - gamma) * x
        return (mixed if self.post_step is None else self.post_step(mixed, gamma)), memory

    def _averaged(self, average: FloatArray | None, x: FloatArray, t: int) -> FloatArray | None:
        if average is None:
            return None
        weight = (1.0 + _AVERAGING_POWER) / (t + _AVERAGING_POWER)
        return (1.0 - weight) * average + weight * x

    @cached_property
    def fused(self) -> FusedStep | FusedHandOver | None:
        """The compiled step, where this is Algorithm 2 or a hand-over on the orthogonal group, and Numba is there."""
        if (
            type(self.post_step) is not PolarStep
            or type(self.feasible) is not SpectralBall
            or self.feasible.radius != 1.0
            or self.average
        ):
            return None
        if type(self.objective) is HandOver:
            return fused_hand_over(self.objective)
        return fused_step(self.schedule, self.objective.p) if type(self.objective) is LpContrast else None

    def __getstate__(self) -> dict[str, Any]:
        """Leave compiled code out of pickles; it is found again where it is there."""
        return {name: value for name, value in vars(self).items() if name != "fused"}

    def gap(self, state: State, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        """Return the Frank-Wolfe gap at the current point, on a mini-batch or on a held-out sample."""
        return frank_wolfe_gap(self.feasible, state.x, self.objective.gradient(state.x, batch, weights))

    def run(
        self,
        state: State,
        batches: Iterable[Batch],
        *,
        callbacks: Sequence[Callback] = (),
        held_out: Batch | None = None,
        max_steps: int | None = None,
        max_seconds: float | None = None,
    ) -> Result:
        """Take a step for each mini-batch until the stream, a budget or a callback's patience ends.

        Parameters
        ----------
        state : State
        batches : iterable of mini-batches
        callbacks : functions of a `Progress`; one that returns True stops the run
        held_out : a sample on which `Progress` measures gap and objective, instead of the mini-batch itself
        max_steps, max_seconds : budgets for this call
        """
        start, first = time.monotonic(), state.t
        stream = iter(batches)
        while True:
            if max_steps is not None and state.t - first >= max_steps:
                return Result(state, Status.STEP_BUDGET)
            if max_seconds is not None and time.monotonic() - start >= max_seconds:
                return Result(state, Status.TIME_BUDGET)
            try:
                batch = next(stream)
            except StopIteration:
                return Result(state, Status.STREAM_ENDED)
            state = self.step(state, batch)
            if notify(callbacks, Progress(self, state, batch if held_out is None else held_out)):
                return Result(state, Status.STOPPED)
