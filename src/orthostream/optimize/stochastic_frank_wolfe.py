"""Algorithm 1: stochastic Frank-Wolfe for nonconvex objectives over convex sets."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from orthostream._compile import can_compile
from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.callbacks import Callback, Progress, Result, Status, notify
from orthostream.optimize.estimates import GradientEstimate, SparseRunningMean
from orthostream.optimize.estimates.given import check_part, estimate_of
from orthostream.optimize.gap import frank_wolfe_gap
from orthostream.optimize.kernel import CompiledStep, compiled_step
from orthostream.optimize.objectives.base import Batch, Objective, batch_size
from orthostream.optimize.post_step import PolarStep, PostStep
from orthostream.optimize.schedules import Schedule
from orthostream.optimize.sets import ConvexSet
from orthostream.optimize.state import State, named_arrays, polar_factor
from orthostream.optimize.tall import PolarFactor

_DOUBLE = np.dtype(np.float64)

#: The weight of the i-th point in the running mean is proportional to about i^_AVERAGING_POWER.
_AVERAGING_POWER = 3.0


class StochasticFrankWolfe:
    """Minimise the expectation of an objective over a convex set, one mini-batch at a time.

    At step t, with the schedule's weights rho and gamma::

        G <- (1 - rho) G + rho * gradient of the mini-batch at X
        S <- lmo(G)
        X <- P[(1 - gamma) X + gamma S]

    The solver itself has no state: `init` returns the first one, `step` maps a state to the next.

    Parameters
    ----------
    feasible : ConvexSet
    objective : Objective, GradientEstimate, or a pair of functions (value, gradient) of (x, batch)
        What is minimised. `RunningMean` then estimates its gradient, unless another estimate is given instead.
    schedule : Schedule, default the paper's
        The weights of `RunningMean`. Other estimates choose their own weights and take no schedule here.
    post_step : PostStep, optional
        The operation P. None leaves the point as it is.
    average : bool, default False
        Also keep a running mean of the points, with more weight on late ones, in ``State.average``.

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
        objective: Objective | GradientEstimate | tuple[Callable[..., Any], Callable[..., Any]],
        schedule: Schedule | None = None,
        post_step: PostStep | None = None,
        average: bool = False,
    ) -> None:
        self.feasible = feasible
        self.estimate = estimate_of(objective, schedule)
        self.post_step = PostStep() if post_step is None else post_step
        self.average = average
        self._check_parts()

    @property
    def objective(self) -> Objective:
        """The objective that value and gap are computed with."""
        return self.estimate.objective

    def _check_parts(self) -> None:
        check_part(self.feasible, ("lmo", "oracle", "memory", "contains", "check_shape"), "feasible", "ConvexSet")
        if not isinstance(self.post_step, PostStep):
            raise TypeError(f"post_step must be an object derived from PostStep, or None, got {self.post_step!r}.")
        wanted = self.feasible.core_ndim
        for other in (self.estimate, self.post_step):
            if other.core_ndim not in (None, wanted):
                name = type(other if other is self.post_step else self.objective).__name__
                raise ValueError(
                    f"{type(self.feasible).__name__} holds points of {wanted} axes, "
                    f"{name} needs points of {other.core_ndim}: they cannot be combined."
                )

    def init(self, x: ArrayLike | PolarFactor) -> State:
        """Return the state before the first step, from a feasible point or a stack of them."""
        if isinstance(x, PolarFactor):
            factor: Any = x
            if self.average:
                raise ValueError("a PolarFactor is never formed, so its points cannot be averaged.")
            if not isinstance(self.estimate, SparseRunningMean) or not isinstance(self.post_step, PolarStep):
                raise ValueError("a PolarFactor only goes with SparseRunningMean and PolarStep.")
            self.feasible.check_shape(x.shape)
            self.post_step.check_start(self.feasible, factor)
            return State(0, factor, self.estimate.begin(factor), self.feasible.memory(factor))
        given = np.asarray(x)
        point = np.array(given, dtype=float, order="C")
        tolerance = 1e-4 if given.dtype == np.float32 else 1e-8
        self.feasible.check_shape(point.shape)
        if not np.isfinite(point).all() or not self.feasible.contains(point, tolerance):
            hint = "; project it first" if hasattr(self.feasible, "project") else ""
            raise ValueError(f"the starting point lies outside of {type(self.feasible).__name__}{hint}.")
        self.post_step.check_start(self.feasible, point)
        average = point.copy() if self.average else None
        return State(0, point, self.estimate.begin(point), self.feasible.memory(point), average)

    def step(self, state: State, batch: Batch, weights: FloatArray | None = None) -> State:
        """Return the state after one mini-batch."""
        taken = self.compiled_step(state, batch, weights)
        if taken is not None:
            return taken
        return self.plain_step(state, batch, weights)

    def plain_step(self, state: State, batch: Batch, weights: FloatArray | None = None) -> State:
        """Return the state after one mini-batch, computed in Python: this works for all parts and mini-batches."""
        if batch_size(batch) == 0:
            raise ValueError("the mini-batch holds no samples.")
        t, x, memory, oracle, average = state
        gradient, gamma, memory = self.estimate.update(memory, x, batch, weights)
        vertex, oracle = self.feasible.oracle(gradient, x, oracle)
        x = self.post_step(x, vertex, gamma)
        return State(t + 1, x, memory, oracle, _averaged(average, x, t + 1))

    def compiled_step(self, state: State, batch: Batch, weights: FloatArray | None = None) -> State | None:
        """Return the state after one mini-batch, computed by compiled code, or None if that is not possible.

        It is not possible if a part has no kernel, if Numba is not installed or turned off, if the mini-batch is not a
        finite array of moderate values, or if the result is not certified. `step` then calls `plain_step`.
        """
        if not self._has_kernels or type(batch) is not np.ndarray or not can_compile():
            return None
        t, x, memory, oracle, average = state
        if batch.ndim < 2 or batch.ndim > x.ndim or batch.shape[-1] != x.shape[-2] or not batch.size:
            return None
        if batch.shape[:-2] != x.shape[:-2]:
            batch = np.broadcast_to(batch, x.shape[:-2] + batch.shape[-2:])
        # Numba compiles for each type of array; these conversions leave one type, writeable doubles in C order.
        if batch.dtype is not _DOUBLE or not batch.flags.carray:
            if batch.dtype.kind not in "fiu":
                return None
            batch = np.array(batch, dtype=float, order="C")
        if not x.flags.carray:
            x = np.array(x, order="C")
        block = memory.array if memory.array.flags.carray else np.array(memory.array, order="C")
        shape = batch.shape[:-1]
        counts = _ones(shape) if weights is None else np.array(np.broadcast_to(weights, shape), dtype=float)
        settings = self.estimate.settings(memory, x.shape[-1], shape[-1])
        t += 1
        if x.ndim > 2:
            ready = State(state.t, x, ArrayBlock(memory.layout, block), oracle)
            x, oracle, block = self._compiled_stack(ready, batch, counts, settings)
        else:
            x, oracle, block, good = self._machine_code.single(x, oracle, block, batch, counts, *settings)
            if not good:
                return None
        if average is not None:
            average = _averaged(average, x, t)
        return State(t, x, ArrayBlock(memory.layout, block), oracle, average)

    def _compiled_stack(
        self, state: State, batch: FloatArray, counts: FloatArray, settings: tuple[float, float, float, float]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return points and memories of oracle and estimate for a stack; refused problems take the plain step."""
        several = state.x.ndim - 2

        def flat(a: Any) -> FloatArray:
            return np.reshape(a, (-1, *np.shape(a)[several:]))

        arguments = [flat(a) for a in (state.x, state.oracle, state.memory.array, batch, counts)]
        x, oracle, block, good = self._machine_code.stack(*arguments, *settings)
        if not good.all():
            points, lows, blocks, rows, weights = (a[~good] for a in arguments)
            rest = self.plain_step(State(state.t, points, ArrayBlock(state.memory.layout, blocks), lows), rows, weights)
            x[~good], oracle[~good], block[~good] = rest.x, rest.oracle, rest.memory.array
        shape = state.x.shape[:several]
        return x.reshape(state.x.shape), oracle.reshape(shape), block.reshape(state.memory.array.shape)

    @cached_property
    def _kernels(self) -> tuple[Any, ...]:
        """The kernels of the three parts; None for a part without one."""
        return tuple(getattr(part, "kernel", None) for part in (self.estimate, self.feasible, self.post_step))

    @cached_property
    def _has_kernels(self) -> bool:
        return None not in self._kernels

    @cached_property
    def _machine_code(self) -> CompiledStep:
        return compiled_step(*self._kernels)

    def __getstate__(self) -> dict[str, Any]:
        """Leave machine code out of pickles; it is compiled again or loaded from the cache."""
        return {name: value for name, value in vars(self).items() if name != "_machine_code"}

    def restore(self, arrays: dict[str, FloatArray]) -> State:
        """Return the state that `State.to_arrays` turned into arrays, bit for bit."""
        named, memory = named_arrays(arrays)
        factor = polar_factor(arrays)
        x: Any = np.ascontiguousarray(named["x"]) if factor is None else factor
        oracle = named["oracle"] if named["oracle"].ndim else float(named["oracle"])
        return State(int(named["t"]), x, self.estimate.restored(memory, x), oracle, named.get("average"))

    def adopted(self, state: State, other: StochasticFrankWolfe) -> State:
        """Return the state of another solver for this one to continue from; memory that does not fit starts empty."""
        average = None
        if self.average:
            average = state.x.copy() if state.average is None else state.average
        memory = self.estimate.adopted(state, other.estimate)
        if memory.layout.shapes != state.memory.layout.shapes:  # only the other estimate knows a better point
            state = state._replace(x=other.answer(state))
        return state._replace(memory=memory, average=average)

    def answer(self, state: State) -> FloatArray:
        """Return the point to report: the current one, unless the estimate knows a better one."""
        return self.estimate.answer(state.memory, state.x)

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
        """Take a step for each mini-batch until the stream ends, a budget is spent or a callback stops the run.

        Parameters
        ----------
        state : State
        batches : iterable of mini-batches
        callbacks : functions of a `Progress`; one that returns True stops the run
        held_out : a mini-batch on which `Progress` computes gap and objective, instead of the last one
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


def _averaged(average: FloatArray | None, x: FloatArray, t: int) -> FloatArray | None:
    """Return the running mean of the points after t steps."""
    if average is None:
        return None
    weight = (1.0 + _AVERAGING_POWER) / (t + _AVERAGING_POWER)
    return (1.0 - weight) * average + weight * x


@lru_cache(maxsize=64)
def _ones(shape: tuple[int, ...]) -> FloatArray:
    return np.ones(shape)
