"""How well a dictionary that moves is followed, beside the best fixed setting in hindsight; and real sensors."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.experiments.style import new_figure, paper_style
from orthostream.optimize import (
    AdaptiveSchedule,
    ConstantSchedule,
    CoolThenConstant,
    Guarded,
    HandOver,
    LpContrast,
    PaperSchedule,
    PolarStep,
    Schedule,
    SpectralBall,
    StochasticFrankWolfe,
    polar,
)

from .measure import LINES, SEED, Record, exponent, recovery_errors, say, table, write_json
from .sensor_streams import SensorEffort, compress, report_sensors, sensors

NAME = "tracking"
EXACT, TRACKING, PAPER, FIXED = "exact", "tracking", "paper", "best fixed"
SIZE, BATCH, SPARSITY = 16, 16, 0.3
LEAST = 1e-14
#: The figure's readings of the memory are this many steps apart.
EVERY = 10


class Effort(NamedTuple):
    """How much is run."""

    trials: int = 24
    steps: int = 1000
    scenarios: int = 12
    rhos: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4)
    gammas: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 1.0)
    half_lives: tuple[int, ...] = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
    sensors: SensorEffort = SensorEffort()


FULL = Effort()
QUICK = Effort(
    trials=6,
    scenarios=4,
    rhos=(0.1, 0.4),
    gammas=(0.1, 1.0),
    half_lives=(8, 64, 512, 4096),
    sensors=SensorEffort(factors=(0.8, 0.9, 0.95, 0.98, 0.99), streams=1, oracle_iterations=0),
)


class Scenario(NamedTuple):
    """What happens to the true dictionary."""

    what: str
    noise: float = 0.0
    change: bool = False
    """Another dictionary from the middle on."""
    late: bool = False
    """The drift begins in the middle."""
    drift: float = 0.0
    """Radians by which every atom turns in a step."""

    @property
    def text(self) -> str:
        """The scenario as records name it."""
        return f"{self.what}, noise {self.noise:g}" if self.noise else self.what


#: The first ones are those of a quick run.
_KINDS = (
    {"what": "drift 0.005", "drift": 5e-3},
    {"what": "abrupt change", "change": True},
    {"what": "still"},
    {"what": "drift 0.001", "drift": 1e-3},
    {"what": "drift 0.02", "drift": 2e-2},
    {"what": "drift 0.002 from mid-stream", "drift": 2e-3, "late": True},
)
SCENARIOS = tuple(
    Scenario(**kind, noise=noise) for i in (0, 2, 4) for noise in (0.0, 0.05) for kind in _KINDS[i : i + 2]
)


class Trace(NamedTuple):
    """Errors of one learner (steps, trials), and the half-lives and changes that its estimate reported, if it did."""

    errors: FloatArray
    half_lives: FloatArray | None = None
    changes: FloatArray | None = None

    @property
    def score(self) -> float:
        """The mean error over the second half, the median of the trials."""
        return max(float(np.median(self.errors[len(self.errors) // 2 :].mean(axis=0))), LEAST)


class Outcome(NamedTuple):
    """What came of a scenario."""

    scenario: Scenario
    best: str
    traces: dict[str, Trace]
    fixed: dict[str, float]


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    outcomes = [_outcome(scenario, effort) for scenario in SCENARIOS[: effort.scenarios]]
    records = [record for outcome in outcomes for record in _records(outcome)]
    print(_report(outcomes, effort), flush=True)
    found, missing = sensors(effort.sensors)
    for name, rows in found.items():
        part = compress(name, *rows, effort.sensors)
        print(report_sensors(name, part), flush=True)
        records += part
    for line in missing:
        print(f"\n{line}")
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure:
        _draw(outcomes, options.figure)
        print(f"figure: {options.figure}")
    return records


def _stream(scenario: Scenario, effort: Effort) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return first dictionaries, and true ones and samples at every step."""
    trials, steps = effort.trials, effort.steps
    kind = [kind["what"] for kind in _KINDS].index(scenario.what)
    rng = np.random.default_rng([SEED, SIZE, BATCH, kind, round(1000 * scenario.noise)])

    def dictionaries() -> FloatArray:
        return polar(rng.standard_normal((trials, SIZE, SIZE)))[0]

    truth, start, axes = dictionaries(), dictionaries(), dictionaries()
    turn = axes @ _turn(scenario.drift) @ axes.mT
    truths, samples = np.empty((steps, trials, SIZE, SIZE)), np.empty((steps, trials, BATCH, SIZE))
    for i in range(steps):
        if scenario.change and i == steps // 2:
            truth = dictionaries()
        if scenario.drift and (i >= steps // 2 or not scenario.late):
            truth = turn @ truth
        codes = rng.standard_normal(samples.shape[1:]) * (rng.random(samples.shape[1:]) < SPARSITY)
        truths[i] = truth
        samples[i] = codes @ truth.mT + scenario.noise * rng.standard_normal(samples.shape[1:])
    return start, truths, samples


def _turn(angle: float) -> FloatArray:
    """Return the rotation that turns every vector by an angle."""
    half = SIZE // 2
    quarter = np.zeros((SIZE, SIZE))
    quarter[:half, half:], quarter[half:, :half] = -np.eye(half), np.eye(half)
    return np.asarray(np.cos(angle) * np.eye(SIZE) + np.sin(angle) * quarter)


def _outcome(scenario: Scenario, effort: Effort) -> Outcome:
    """Run the learners that find their memory themselves, and those whose memory is fixed."""
    say(f"{scenario.text}: {effort.trials} trials, {effort.steps} steps ...")
    start, truths, samples = _stream(scenario, effort)

    def follow(objective: Any, schedule: Schedule | None = None) -> Trace:
        return _follow(StochasticFrankWolfe(SpectralBall(), objective, schedule, PolarStep()), start, truths, samples)

    traces = {
        EXACT: follow(Guarded()),
        TRACKING: follow(Guarded(HandOver(schedule=AdaptiveSchedule(half_life_per_atom=20)))),
        PAPER: follow(LpContrast(3), PaperSchedule()),
    }
    fixed = {"paper's, decaying": traces[PAPER]}
    for rho in effort.rhos:
        for gamma in effort.gammas:
            fixed[f"paper's, rho {rho:g}, gamma {gamma:g}"] = follow(LpContrast(3), ConstantSchedule(rho, gamma))
    for half_life in effort.half_lives:
        schedule = CoolThenConstant(half_life)
        fixed[f"paper's, half-life {half_life}"] = follow(LpContrast(3), schedule)
        fixed[f"own estimate, half-life {half_life}"] = follow(HandOver(schedule=schedule))
    scores = {name: trace.score for name, trace in fixed.items()}
    best = min(scores, key=scores.__getitem__)
    say(f"  best fixed: {best}, {exponent(scores[best])}; exact {exponent(traces[EXACT].score)}")
    return Outcome(scenario, best, traces | {FIXED: fixed[best]}, scores)


def _follow(solver: StochasticFrankWolfe, start: FloatArray, truths: FloatArray, samples: FloatArray) -> Trace:
    state = solver.init(start)
    errors, half_lives, changes = np.empty(truths.shape[:2]), [], None
    for i, (truth, rows) in enumerate(zip(truths, samples, strict=True)):
        state = solver.step(state, rows)
        errors[i] = recovery_errors(solver.answer(state), truth)
        report = solver.estimate.report(state.memory, rows.shape[-2]) if (i + 1) % EVERY == 0 else None
        if report is not None:
            half_lives.append(report.half_life)
            changes = report.changes
    return Trace(errors, np.array(half_lives) if half_lives else None, changes)


def _records(outcome: Outcome) -> list[Record]:
    setting = outcome.scenario.text
    records = [Record(NAME, name, setting, "mean_error", score) for name, score in outcome.fixed.items()]
    least = outcome.traces[FIXED].score
    for name in (EXACT, TRACKING):
        trace = outcome.traces[name]
        records.append(Record(NAME, name, setting, "mean_error", trace.score))
        records.append(Record(NAME, name, setting, "ratio_to_best_fixed", trace.score / least))
        if trace.half_lives is not None and trace.changes is not None:
            records.append(Record(NAME, name, setting, "median_half_life", float(np.median(trace.half_lives[-1]))))
            records.append(Record(NAME, name, setting, "mean_changes", float(trace.changes.mean())))
    return records


def _report(outcomes: list[Outcome], effort: Effort) -> str:
    rows = []
    for outcome in sorted(outcomes, key=lambda o: o.scenario[1:]):
        least = outcome.traces[FIXED].score
        exact, tracking = outcome.traces[EXACT], outcome.traces[TRACKING]
        cells = [outcome.best, exponent(least), exponent(outcome.traces[PAPER].score)]
        for trace in (exact, tracking):
            assert trace.half_lives is not None and trace.changes is not None
            cells += [exponent(trace.score), f"{trace.score / least:.2f}", f"{np.median(trace.half_lives[-1]):.0f}"]
            cells.append(f"{trace.changes.mean():.2f}")
        rows.append((outcome.scenario.text, cells))
    title = (
        f"N={SIZE} B={BATCH} theta={SPARSITY:g}, {effort.trials} trials of {effort.steps} steps: mean error of the"
        " second half, median of the trials;\nfor each learner its ratio to the best fixed setting in hindsight,"
        " the median half-life that it found, in samples, and the mean number of abrupt changes that it saw"
    )
    own = ["ratio", "half-life", "changes"]
    return table(title, "", [FIXED, "error", PAPER, EXACT, *own, TRACKING, *own], rows)


def _draw(outcomes: list[Outcome], path: Path) -> None:
    shown = [o for what in ("abrupt change", "drift 0.005") for o in outcomes if o.scenario.text == what]
    if not shown:
        return
    with paper_style():
        figure = new_figure(3.6 * len(shown), 4.8)
        axes = figure.subplots(2, len(shown), sharex=True, squeeze=False, height_ratios=(2, 1))
        for (above, below), outcome in zip(axes.T, shown, strict=True):
            above.set_title(f"{outcome.scenario.what}; best fixed: {outcome.best}", fontsize=8)
            for name in (PAPER, FIXED, EXACT, TRACKING):
                trace = outcome.traces[name]
                median = np.maximum(np.median(trace.errors, axis=1), 1e-16)
                above.semilogy(np.arange(1, len(median) + 1), median, **LINES[name], label=name)
                if trace.half_lives is not None and name != FIXED:
                    middle = np.median(trace.half_lives, axis=1)
                    below.semilogy(EVERY * np.arange(1, len(middle) + 1), middle, **LINES[name])
            below.set_xlabel(f"mini-batches of {BATCH}")
        axes[0, 0].set_ylabel("recovery error, median")
        axes[1, 0].set_ylabel("half-life found, samples")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper center", ncols=4)
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.94))
        figure.savefig(path)
