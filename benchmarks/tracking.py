"""How well a dictionary that moves is followed, beside the best fixed setting in hindsight; and real sensors."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray
from orthostream.baselines import ForgettingPCA
from orthostream.datasets import load_airly
from orthostream.datasets.data_folder import DataFolderError
from orthostream.datasets.fill import filled
from orthostream.experiments.contenders import contender
from orthostream.experiments.methods import PROPOSED
from orthostream.experiments.style import new_figure, paper_style
from orthostream.optimize import (
    AdaptiveSchedule,
    ConstantSchedule,
    CoolThenConstant,
    HandOver,
    LpContrast,
    PaperSchedule,
    PolarStep,
    Schedule,
    SpectralBall,
    StochasticFrankWolfe,
    polar,
)

from .measure import LINES, Record, exponent, recovery_errors, say, table, write_json

NAME = "tracking"
SEED = 20261116
EXACT, TRACKING, PAPER, FIXED = "exact", "tracking", "paper", "best fixed"
SIZE, BATCH, SPARSITY = 16, 16, 0.3
LEAST = 1e-14
#: The figure's readings of the memory are this many steps apart.
EVERY = 10
ETAS = (2, 8, 10, 17, 25, 35)
SLOT, INITIAL, UNUSED = 6, 100, 4000


class Effort(NamedTuple):
    """How much is run."""

    trials: int = 24
    steps: int = 1000
    scenarios: int = 12
    rhos: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4)
    gammas: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 1.0)
    half_lives: tuple[int, ...] = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
    factors: tuple[float, ...] = (
        *(0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.88, 0.9, 0.92, 0.94),
        *(0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.997, 0.999),
    )
    streams: int = 3
    """Streams of real sensors."""
    oracle_iterations: int = 150


FULL = Effort()
QUICK = Effort(
    trials=6,
    scenarios=4,
    rhos=(0.1, 0.4),
    gammas=(0.1, 1.0),
    half_lives=(64, 512, 4096),
    factors=(0.8, 0.9, 0.95, 0.98, 0.99),
    streams=1,
    oracle_iterations=0,
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
    """How one learner fared: errors (steps, trials), and of a course also its memory and the changes that it saw."""

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
    courses: dict[str, Trace]
    fixed: dict[str, float]


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    outcomes = [_outcome(scenario, effort) for scenario in SCENARIOS[: effort.scenarios]]
    records = [record for outcome in outcomes for record in _records(outcome)]
    print(_report(outcomes, effort), flush=True)
    found, missing = _sensors(effort)
    for name, rows in found.items():
        part = _compress(name, *rows, effort)
        print(_report_sensors(name, part), flush=True)
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

    courses = {
        EXACT: follow(HandOver()),
        TRACKING: follow(HandOver(schedule=AdaptiveSchedule(half_life_per_atom=20))),
        PAPER: follow(LpContrast(3), PaperSchedule()),
    }
    fixed = {"paper's, decaying": courses[PAPER]}
    for rho in effort.rhos:
        for gamma in effort.gammas:
            fixed[f"paper's, rho {rho:g}, gamma {gamma:g}"] = follow(LpContrast(3), ConstantSchedule(rho, gamma))
    for half_life in effort.half_lives:
        schedule = CoolThenConstant(half_life)
        fixed[f"paper's, half-life {half_life}"] = follow(LpContrast(3), schedule)
        fixed[f"own course, half-life {half_life}"] = follow(HandOver(schedule=schedule))
    scores = {name: course.score for name, course in fixed.items()}
    best = min(scores, key=scores.__getitem__)
    say(f"  best fixed: {best}, {exponent(scores[best])}; exact {exponent(courses[EXACT].score)}")
    return Outcome(scenario, best, courses | {FIXED: fixed[best]}, scores)


def _follow(solver: StochasticFrankWolfe, start: FloatArray, truths: FloatArray, samples: FloatArray) -> Trace:
    state = solver.init(start)
    errors, half_lives, changes = np.empty(truths.shape[:2]), [], None
    for i, (truth, rows) in enumerate(zip(truths, samples, strict=True)):
        state = solver.step(state, rows)
        errors[i] = recovery_errors(state.x, truth)
        if isinstance(solver.objective, HandOver) and state.course is not None and (i + 1) % EVERY == 0:
            report = solver.objective.report(state.course, rows.shape[-2])
            half_lives.append(report.half_life)
            changes = report.changes
    return Trace(errors, np.array(half_lives) if half_lives else None, changes)


def _records(outcome: Outcome) -> list[Record]:
    setting = outcome.scenario.text
    records = [Record(NAME, name, setting, "mean_error", score) for name, score in outcome.fixed.items()]
    least = outcome.courses[FIXED].score
    for name in (EXACT, TRACKING):
        course = outcome.courses[name]
        records.append(Record(NAME, name, setting, "mean_error", course.score))
        records.append(Record(NAME, name, setting, "ratio_to_best_fixed", course.score / least))
        if course.half_lives is not None and course.changes is not None:
            records.append(Record(NAME, name, setting, "median_half_life", float(np.median(course.half_lives[-1]))))
            records.append(Record(NAME, name, setting, "mean_changes", float(course.changes.mean())))
    return records


def _report(outcomes: list[Outcome], effort: Effort) -> str:
    rows = []
    for outcome in sorted(outcomes, key=lambda o: o.scenario[1:]):
        least = outcome.courses[FIXED].score
        exact, tracking = outcome.courses[EXACT], outcome.courses[TRACKING]
        cells = [outcome.best, exponent(least), exponent(outcome.courses[PAPER].score)]
        for course in (exact, tracking):
            assert course.half_lives is not None and course.changes is not None
            cells += [exponent(course.score), f"{course.score / least:.2f}", f"{np.median(course.half_lives[-1]):.0f}"]
            cells.append(f"{course.changes.mean():.2f}")
        rows.append((outcome.scenario.text, cells))
    title = (
        f"N={SIZE} B={BATCH} theta={SPARSITY:g}, {effort.trials} trials of {effort.steps} steps: mean error of the"
        " second half, median of the trials;\nfor each learner its ratio to the best fixed setting in hindsight,"
        " the median half-life that it found, in samples, and the mean number of abrupt changes that it saw"
    )
    own = ["ratio", "half-life", "changes"]
    return table(title, "", [FIXED, "error", PAPER, EXACT, *own, TRACKING, *own], rows)


def _sensors(effort: Effort) -> tuple[dict[str, tuple[FloatArray, FloatArray]], list[str]]:
    """Return the first rows and the test rows of each stream that is there, and a line for what is not."""
    folder = os.environ.get("ORTHOSTREAM_DATA")
    if not folder:
        return {}, ["real sensors are left out: ORTHOSTREAM_DATA names no folder with airly/ and noaa/ in it."]
    found: dict[str, tuple[FloatArray, FloatArray]] = {}
    missing: dict[str, None] = {}
    for name, quantity in (("Airly temperature", "temperature"), ("Airly PM2.5", "pm25"))[: effort.streams]:
        try:
            rows = _whole(load_airly(folder, quantity).data)
        except DataFolderError as error:
            missing[f"Airly is left out: {error}"] = None
            continue
        found[name] = rows[UNUSED : UNUSED + INITIAL], rows[UNUSED + INITIAL :]
    if effort.streams > 2:
        path = Path(folder) / "noaa" / "wide_Tmax.csv"
        if path.is_file():
            rows = _whole(np.genfromtxt(path, delimiter=",", skip_header=1)[:, 1:])
            found["NOAA Tmax"] = rows[:INITIAL], rows[INITIAL:]
        else:
            missing[f"NOAA is left out: there is no {path}."] = None
    return found, list(missing)


def _whole(rows: FloatArray) -> FloatArray:
    """Return the rows that have a reading, missing ones replaced by the mean of the row."""
    return filled(rows[~np.isnan(rows).all(axis=1)], "row mean")


def _compress(name: str, first: FloatArray, test: FloatArray, effort: Effort) -> list[Record]:
    """Return the relative error of every method in percent, slots coded with what was known before them."""
    say(f"{name}: {len(test)} rows of {test.shape[1]} sensors ...")
    etas = [eta for eta in ETAS if eta < test.shape[1]]
    errors: dict[str, FloatArray] = {}
    tried = []
    for factor in sorted({*effort.factors, 0.95}):
        rival = ForgettingPCA(forgetting=factor).partial_fit(first)
        tried.append(_causal(rival, test, etas))
        if factor == 0.95:
            errors["forgetting PCA, 0.95"] = tried[-1]
    best = np.min(tried, axis=0)
    errors = {"forgetting PCA, best factor in hindsight": best} | errors
    for preset in ("compression", EXACT, TRACKING):
        learner = OrthogonalDictionaryLearning.preset(preset, random_state=0).partial_fit(first)
        errors[preset] = _causal(learner, test, etas)
    errors[PAPER] = _causal(_Papers(first), test, etas)
    axes = np.linalg.eigh(test.T @ test)[1][:, ::-1]
    errors["oracle: PCA of the test rows"] = _error(_left(test @ axes, etas), test)
    if effort.oracle_iterations:
        found = [_top_k(test, eta, axes, effort.oracle_iterations) for eta in etas]
        parts = [_error(_left(test @ d, [eta]), test)[0] for d, eta in zip(found, etas, strict=True)]
        errors["oracle: best for each eta0"] = np.array(parts)
    records = []
    for method, values in errors.items():
        for eta, value, least in zip(etas, values, best, strict=True):
            records.append(Record(NAME, method, f"{name} eta0={eta}", "relative_rmse_percent", float(value)))
            records.append(
                Record(
                    NAME, method, f"{name} eta0={eta}", "percent_above_best_factor", float(100 * (value / least - 1))
                )
            )
    return records


class _Papers:
    """The paper's learner with the start that its protocol gives it, as an estimator."""

    def __init__(self, first: FloatArray) -> None:
        self._learner: Any = contender(PROPOSED, 0)
        self._learner.start(first)

    @property
    def components_(self) -> FloatArray:
        return np.asarray(self._learner.state.x.T)

    def partial_fit(self, rows: FloatArray) -> None:
        self._learner.learn(rows)


def _causal(learner: Any, rows: FloatArray, etas: Sequence[int]) -> FloatArray:
    left = np.zeros(len(etas))
    for begin in range(0, len(rows), SLOT):
        slot = rows[begin : begin + SLOT]
        left += _left(slot @ learner.components_.T, etas)
        learner.partial_fit(slot)
    return _error(left, rows)


def _left(codes: FloatArray, etas: Sequence[int]) -> FloatArray:
    """Return the energy that is left when only the largest coefficients of each row are kept."""
    squares = -np.sort(-np.square(codes), axis=1)
    return np.array([squares[:, eta:].sum() for eta in etas])


def _error(left: FloatArray, rows: FloatArray) -> FloatArray:
    return np.asarray(100.0 * np.sqrt(left / np.square(rows).sum()))


def _top_k(rows: FloatArray, eta: int, start: FloatArray, iterations: int) -> FloatArray:
    """Return a dictionary whose eta largest coefficients of each row hold much of the energy of these rows."""
    x = start
    for _ in range(iterations):
        codes = rows @ x
        least = -np.partition(-np.abs(codes), eta - 1, axis=1)[:, eta - 1 : eta]
        x = polar(rows.T @ np.where(np.abs(codes) >= least, codes, 0.0))[0]
    return x


def _report_sensors(name: str, records: list[Record]) -> str:
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records))
    rows = []
    for method in dict.fromkeys(r.method for r in records):
        cells = []
        for s in settings:
            value, above = (values[method, s, m] for m in ("relative_rmse_percent", "percent_above_best_factor"))
            cells.append(f"{value:.3f} ({above:+.1f})")
        rows.append((method, cells))
    title = f"\n{name}: causal RMSE in percent, and by how many percent it is above the best factor's"
    return table(title, "", [s.split()[-1] for s in settings], rows)


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
                course = outcome.courses[name]
                median = np.maximum(np.median(course.errors, axis=1), 1e-16)
                above.semilogy(np.arange(1, len(median) + 1), median, **LINES[name], label=name)
                if course.half_lives is not None and name != FIXED:
                    middle = np.median(course.half_lives, axis=1)
                    below.semilogy(EVERY * np.arange(1, len(middle) + 1), middle, **LINES[name])
            below.set_xlabel(f"mini-batches of {BATCH}")
        axes[0, 0].set_ylabel("recovery error, median")
        axes[1, 0].set_ylabel("half-life found, samples")
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="upper center", ncols=4)
        figure.tight_layout(rect=(0.0, 0.0, 1.0, 0.94))
        figure.savefig(path)
