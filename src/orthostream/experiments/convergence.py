"""Section V-B: how fast each method recovers the true dictionary of Bernoulli-Gaussian streams.

The trials of a block are stacked, and each step of a method is one call for all of them. All methods see the same
streams and start from the same dictionaries.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.baselines import OnlineAODL
from orthostream.experiments.methods import AODL, AODL_TUNED, AVERAGED, L4, PROPOSED, SFW, SFW_POLAR
from orthostream.experiments.task import Task, TaskReport, TaskResult
from orthostream.metrics import recovery_error
from orthostream.optimize import (
    LpContrast,
    MokhtariSchedule,
    PaperSchedule,
    PolarStep,
    SpectralBall,
    StochasticFrankWolfe,
    polar,
)

if TYPE_CHECKING:  # Plan imports every method; cached curves must not depend on all of them
    from orthostream.experiments.plan import Plan

#: The curves that each run produces.
RUNS = {PROPOSED: (PROPOSED, AVERAGED), SFW: (SFW, SFW_POLAR), L4: (L4,), AODL: (AODL,), AODL_TUNED: (AODL_TUNED,)}

_BLOCK = 25


class StreamSetting(NamedTuple):
    """The parameters of a synthetic stream."""

    n_features: int = 10
    batch_size: int = 10
    sparsity: float = 0.3

    @property
    def text(self) -> str:
        """The name of the setting in records."""
        return f"N={self.n_features} B={self.batch_size} theta={self.sparsity:g}"

    @property
    def penalty(self) -> float:
        """The weight of the l1 norm in Online AODL that the paper gives as the best."""
        return 0.1 if self.sparsity < 0.4 else 0.05

    @property
    def better_penalty(self) -> float:
        """The better of 0.5 and 1 at the end of the stream, for a fair comparison with Online AODL."""
        return 0.5 if self.batch_size >= 10 and self.sparsity < 0.4 else 1.0


def moments(steps: int) -> list[int]:
    """Return the steps at which errors are measured: twenty per decade, multiples of 100, and the last step.

    >>> moments(12)
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
    """
    dense = {round(10 ** (i / 20)) for i in range(math.ceil(20 * math.log10(max(steps, 2))) + 1)}
    late = {t for t in range(100, steps, 100) if t >= 500}
    return sorted(t for t in dense | late | {100, 300, steps} if t <= steps)


def tasks(plan: Plan, settings: list[StreamSetting]) -> list[Task]:
    """Return one task for each setting, method and block of trials."""
    made = []
    for setting in settings:
        for method in RUNS:
            if method in plan.without:
                continue
            for block, trials in enumerate(blocks(plan.trials)):
                arguments = {
                    "method": method,
                    "penalty": {AODL: setting.penalty, AODL_TUNED: setting.better_penalty}.get(method, 0.0),
                    "setting": tuple(setting),
                    "trials": trials,
                    "steps": plan.steps,
                    "seed": (plan.seed, block),
                }
                seconds = trials * plan.steps / 3000 * _seconds(method, setting)
                # SPAMS leaks two matrices of the dictionary's size at every call.
                leaks = method in (AODL, AODL_TUNED) and setting.n_features > 20
                made.append(Task(_name(setting, method, block), learn, arguments, seconds, leaks))
    return made


def curves(plan: Plan, setting: StreamSetting, results: Mapping[str, TaskResult]) -> dict[str, FloatArray]:
    """Return the recovery errors of each method, (trials, moments), from the results of the tasks."""
    count = len(blocks(plan.trials))
    return {
        name: np.concatenate([results[_name(setting, method, block)][name] for block in range(count)])
        for method, names in RUNS.items()
        if method not in plan.without
        for name in names
        if name not in plan.without
    }


def learn(
    method: str,
    penalty: float,
    setting: tuple[int, int, float],
    trials: int,
    steps: int,
    seed: tuple[int, int],
    report: TaskReport,
) -> TaskResult:
    """Return the errors of a block of trials along the stream, (trials, moments), for each curve of the method."""
    truth, start, chunks = _streams(StreamSetting(*setting), trials, steps, seed)
    if method in (AODL, AODL_TUNED):
        learnt = _alternating(penalty, start, chunks)
    else:
        learnt = _frank_wolfe(method, start, chunks)
    marks = moments(steps)
    errors: dict[str, list[list[float]]] = {name: [] for name in RUNS[method]}
    for t, points in zip(marks, learnt, strict=True):
        for name, dictionaries in zip(RUNS[method], points, strict=True):
            errors[name].append([recovery_error(d.T, true.T) for d, true in zip(dictionaries, truth, strict=True)])
        report(t / steps)
    return {name: np.array(rows).T for name, rows in errors.items()}


def _streams(
    setting: StreamSetting, trials: int, steps: int, seed: tuple[int, int]
) -> tuple[FloatArray, FloatArray, Iterator[FloatArray]]:
    """Return true dictionaries, first dictionaries, and chunks of samples between moments: (steps, trials, B, N)."""
    size, batch, sparsity = setting
    rng = np.random.default_rng([*seed, size, batch, round(1000 * sparsity)])
    truth = polar(rng.standard_normal((trials, size, size)))[0]
    start = polar(rng.standard_normal((trials, size, size)))[0]

    def chunks() -> Iterator[FloatArray]:
        before = 0
        for t in moments(steps):
            shape = (t - before, trials, batch, size)
            codes = rng.standard_normal(shape) * (rng.random(shape) < sparsity)
            yield codes @ truth.mT
            before = t

    return truth, start, chunks()


def _frank_wolfe(method: str, start: FloatArray, chunks: Iterator[FloatArray]) -> Iterator[tuple[FloatArray, ...]]:
    if method == SFW:
        solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3), MokhtariSchedule())
    else:
        contrast = LpContrast(3 if method == PROPOSED else 4)
        solver = StochasticFrankWolfe(
            SpectralBall(), contrast, PaperSchedule(), PolarStep(), average=method == PROPOSED
        )
    state = solver.init(start)
    for chunk in chunks:
        for rows in chunk:
            state = solver.step(state, rows)
        if method == SFW:
            yield state.x, polar(state.x)[0]
        elif state.average is not None:
            yield state.x, polar(state.average)[0]
        else:
            yield (state.x,)


def _alternating(penalty: float, start: FloatArray, chunks: Iterator[FloatArray]) -> Iterator[tuple[FloatArray, ...]]:
    learners = [OnlineAODL(penalty=penalty, init=d.T, random_state=0) for d in start]
    for chunk in chunks:
        # One call for each mini-batch: how fast SPAMS forgets depends on the length of calls.
        for rows in chunk:
            for learner, mini_batch in zip(learners, rows, strict=True):
                learner.partial_fit(mini_batch)
        yield (np.stack([learner.components_.T for learner in learners]),)


def blocks(trials: int) -> list[int]:
    """Return the sizes of the blocks that trials are cut into, the same for any method and number of cores.

    >>> blocks(60), blocks(6)
    ([25, 25, 10], [3, 3])
    """
    size = min(_BLOCK, -(-trials // 2))
    return [min(size, trials - first) for first in range(0, trials, size)]


def _name(setting: StreamSetting, method: str, block: int) -> str:
    return f"{setting.text} {method} block {block}"


def _seconds(method: str, setting: StreamSetting) -> float:
    """Return a rough estimate of the seconds that 3,000 mini-batches of one trial take."""
    small = setting.n_features < 20
    return {AODL: 0.55 if small else 2.8, AODL_TUNED: 0.55 if small else 1.2}.get(method, 0.05 if small else 0.6)
