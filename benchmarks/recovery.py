"""How soon, and how well, a dictionary is found again: the recommended learner, the paper's, and their rivals."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray
from orthostream.baselines import ForgettingPCA, L3FastICA, OnlineAODL
from orthostream.datasets import make_bernoulli_gaussian
from orthostream.experiments.convergence import moments
from orthostream.experiments.style import new_figure, paper_style
from orthostream.optimize import Guarded, LpContrast, PolarStep, SpectralBall, StochasticFrankWolfe, polar

from . import young
from .adverse import run_adverse
from .measure import (
    LINES,
    SEED,
    Record,
    best_time,
    duration,
    exponent,
    grown_up,
    recovery_errors,
    say,
    table,
    write_json,
)

NAME = "recovery"
EXACT, AVERAGED, PAPER = "exact", "averaged", "paper"
METHODS = (PAPER, AVERAGED, EXACT)
PRESETS = ("paper", "exact", "tracking", "compression")
CODES = ("normal", "signs", "uniform", "Laplacian slabs", "Laplacian", "Student-t")
MARKS = (100, 300, 1000, 2000)
FOUND = 1e-12
FIRST_COMPARED = 500


class Effort(NamedTuple):
    """How much is run."""

    trials: int = 100
    steps: float = 1.0
    """Part of the steps that a problem is made for."""
    largest: int = 128
    """Problems of more features are left out."""
    rivals: int = 5
    """Trials of the rivals."""


FULL, QUICK = Effort(), Effort(trials=10, largest=10, rivals=1)


class Problem(NamedTuple):
    """A stream of samples D x + noise."""

    size: int
    batch: int
    sparsity: float
    steps: int
    codes: str = "normal"
    noise: float = 0.0
    trials: int = 100
    of_the_papers: int = 100
    """Trials on which the paper's learner is run too."""

    @property
    def text(self) -> str:
        """The problem as records name it."""
        sparse = f" theta={self.sparsity:g}" if self.sparsity < 1.0 else ""
        codes = f" {self.codes}" if self.codes != "normal" else ""
        noise = f" noise={self.noise:g}" if self.noise else ""
        return f"N={self.size} B={self.batch}{sparse}{codes}{noise}"


class Outcome(NamedTuple):
    """Errors of each method, (moments, trials), and the step from which on each trial of `exact` was exact."""

    problem: Problem
    at: list[int]
    errors: dict[str, FloatArray]
    since: FloatArray

    def error(self, method: str, t: int) -> FloatArray | None:
        """Return the errors at a step, None beyond the end."""
        return self.errors[method][self.at.index(t)] if t in self.at else None


NOISELESS = (
    Problem(10, 10, 0.3, 1000),
    Problem(10, 10, 0.5, 1000),
    Problem(30, 10, 0.3, 1000),
    Problem(10, 1, 0.3, 2000),
    Problem(50, 10, 0.3, 2000, of_the_papers=20),
)
WITH_RIVALS = NOISELESS[:2]
NOISY = tuple(Problem(10, 10, 0.3, 3000, noise=noise) for noise in (0.01, 0.05, 0.1))
NOT_SPARSE = (Problem(10, 10, 1.0, 3000, "Laplacian"), Problem(10, 10, 1.0, 3000, "Student-t"))
BEYOND = (
    Problem(10, 10, 0.3, 2000, "signs"),
    Problem(20, 10, 0.3, 2000, "signs"),
    Problem(10, 10, 0.3, 2000, "uniform"),
    Problem(10, 10, 0.3, 2000, "Laplacian slabs"),
    Problem(10, 10, 0.1, 2000),
    Problem(10, 10, 0.7, 3000),
    Problem(128, 32, 0.2, 800, trials=3),
)


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    if getattr(options, "adverse", False):
        return run_adverse(options)
    effort = QUICK if options.quick else FULL
    records: list[Record] = []
    outcomes: list[Outcome] = []
    for problems, report in (
        (NOISELESS, _report_noiseless),
        (NOISY, _report_noisy),
        (NOT_SPARSE, _report_not_sparse),
        (BEYOND, _report_beyond),
    ):
        part = [_learn(problem) for problem in _within(effort, problems)]
        if part:
            print(report(part), flush=True)
        outcomes += part
        for outcome in part:
            records += _records(outcome)
        if problems is NOISELESS and effort.rivals:
            found = [r for problem in _within(effort, WITH_RIVALS) for r in _rivals(problem, effort.rivals)]
            print(_report_rivals(found, effort.rivals), flush=True)
            records += found
    records += young.measure(effort.largest, effort.trials)
    costs = _costs([size for size in (10, 56, 128) if size <= max(effort.largest, 10)])
    print(_report_costs(costs))
    records += costs
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure:
        _draw(outcomes, options.figure)
        print(f"figure: {options.figure}")
    return records


def _within(effort: Effort, problems: Sequence[Problem]) -> list[Problem]:
    """Return the problems that an effort allows, as long as it allows."""
    return [
        p._replace(
            steps=max(round(effort.steps * p.steps), 1),
            trials=min(p.trials, effort.trials),
            of_the_papers=min(p.of_the_papers, p.trials, effort.trials),
        )
        for p in problems
        if p.size <= effort.largest
    ]


def _streams(problem: Problem) -> tuple[FloatArray, FloatArray, Iterator[FloatArray]]:
    """Return true dictionaries, first dictionaries, and mini-batches of (trials, B, N)."""
    size, trials = problem.size, problem.trials
    which = [round(1000 * problem.sparsity), CODES.index(problem.codes), round(1000 * problem.noise)]
    rng = np.random.default_rng([SEED, size, problem.batch, *which])
    truth = polar(rng.standard_normal((trials, size, size)))[0]
    start = polar(rng.standard_normal((trials, size, size)))[0]

    def batches() -> Iterator[FloatArray]:
        shape = (trials, problem.batch, size)
        for _ in range(problem.steps):
            codes = _slabs(rng, problem.codes, shape)
            if problem.sparsity < 1.0:
                codes *= rng.random(shape) < problem.sparsity
            rows = codes @ truth.mT
            yield rows + problem.noise * rng.standard_normal(shape) if problem.noise else rows

    return truth, start, batches()


def _slabs(rng: np.random.Generator, codes: str, shape: tuple[int, ...]) -> FloatArray:
    """Return coefficients before any is set to zero, of variance 1."""
    if codes == "normal":
        return rng.standard_normal(shape)
    if codes == "signs":
        return rng.choice([-1.0, 1.0], shape)
    if codes == "uniform":
        return rng.uniform(-(3.0**0.5), 3.0**0.5, shape)
    if codes == "Student-t":
        return np.asarray(rng.standard_t(5, shape) / (5 / 3) ** 0.5)
    return np.asarray(rng.laplace(scale=0.5**0.5, size=shape))


def _learn(problem: Problem) -> Outcome:
    """Run the recommended learner and the paper's side by side."""
    say(f"{problem.text}: {problem.trials} trials, {problem.steps} steps ...")
    began = time.perf_counter()
    truth, start, batches = _streams(problem)
    few = problem.of_the_papers
    solvers = {
        EXACT: StochasticFrankWolfe(SpectralBall(), Guarded(), post_step=PolarStep()),
        PAPER: StochasticFrankWolfe(SpectralBall(), LpContrast(3), post_step=PolarStep(), average=True),
    }
    exact, paper = solvers[EXACT].init(start), solvers[PAPER].init(start[:few])
    at = moments(problem.steps)
    errors: dict[str, list[FloatArray]] = {method: [] for method in METHODS}
    since = np.ones(problem.trials)
    for t, rows in enumerate(batches, start=1):
        exact, paper = solvers[EXACT].step(exact, rows), solvers[PAPER].step(paper, rows[:few])
        error = recovery_errors(solvers[EXACT].answer(exact), truth)
        since = np.where(error <= FOUND, since, t + 1)
        if t in at:
            assert paper.average is not None
            errors[EXACT].append(error)
            errors[PAPER].append(recovery_errors(paper.x, truth[:few]))
            errors[AVERAGED].append(recovery_errors(polar(paper.average, near=paper.x)[0], truth[:few]))
    since = np.where(since > problem.steps, np.inf, since)
    say(f"  {time.perf_counter() - began:.0f} s, exact: {np.isfinite(since).sum()} of {problem.trials}")
    return Outcome(problem, at, {method: np.array(found) for method, found in errors.items()}, since)


def _records(outcome: Outcome) -> list[Record]:
    problem = outcome.problem
    found = np.isfinite(outcome.since)
    values: list[tuple[str, str, float]] = [
        (EXACT, "trials", problem.trials),
        (EXACT, "steps", problem.steps),
        (EXACT, "trials_exact", int(found.sum())),
    ]
    if found.any():
        values.append((EXACT, "median_step_exact", float(np.median(outcome.since))))
        values.append((EXACT, "slowest_step_exact", float(outcome.since[found].max())))
    for method in METHODS:
        for i, t in enumerate(outcome.at):
            values.append((method, f"median_error_at_{t}", float(np.median(outcome.errors[method][i]))))
            values.append((method, f"worst_error_at_{t}", float(outcome.errors[method][i].max())))
    last = outcome.errors[EXACT][-1][: problem.of_the_papers] / outcome.errors[AVERAGED][-1]
    values.append((EXACT, "median_ratio_to_averaged", float(np.median(last))))
    values.append((EXACT, "worst_ratio_to_averaged", float(last.max())))
    values.append((EXACT, "trials_ever_worse_than_averaged", _ever_worse(outcome)))
    return [Record(NAME, method, problem.text, metric, value) for method, metric, value in values if np.isfinite(value)]


def _ever_worse(outcome: Outcome) -> int:
    """Return in how many trials the exact mode is worse than the average at any moment from step 500 on."""
    late = [i for i, t in enumerate(outcome.at) if t >= FIRST_COMPARED and t % 100 == 0]
    if not late:
        return 0
    exact = outcome.errors[EXACT][late][:, : outcome.problem.of_the_papers]
    return int((exact > outcome.errors[AVERAGED][late]).any(axis=0).sum())


def _since(outcome: Outcome) -> list[str]:
    """Return how many trials became exact, and when: the median of all, and the slowest of those that did."""
    found = outcome.since[np.isfinite(outcome.since)]
    middle = float(np.median(outcome.since))
    return [
        f"{len(found)} of {len(outcome.since)}",
        f"{middle:.0f}" if np.isfinite(middle) else "-",
        f"{found.max():.0f}" if len(found) else "-",
    ]


def _report_noiseless(outcomes: list[Outcome]) -> str:
    rows = [(o.problem.text, [str(o.problem.steps), *_since(o)]) for o in outcomes]
    columns = ["by t", f"<= {FOUND:g}", "median t", "slowest t"]
    parts = [table("no noise: trials that are exact for good, and from which step on", "", columns, rows)]
    marks = [t for t in MARKS if any(t in o.at for o in outcomes)]
    rows = []
    for o in outcomes:
        few = o.problem.of_the_papers
        for method in METHODS:
            fewer = f" ({few} trials)" if method != EXACT and few < o.problem.trials else ""
            found = [o.error(method, t) for t in marks]
            cells = ["-" if e is None else exponent(float(np.median(e))) for e in found]
            rows.append((f"{o.problem.text}, {method}{fewer}", cells))
    parts.append(table("\nmedian recovery error", "", [f"t={t}" for t in marks], rows))
    return "\n".join(parts)


def _report_noisy(outcomes: list[Outcome]) -> str:
    rows = []
    for o in outcomes:
        paper, averaged, exact = (float(np.median(o.errors[method][-1])) for method in METHODS)
        ratios = [f"{paper / exact:.1f}", f"{averaged / exact:.1f}"]
        cells = [str(o.problem.steps), *map(exponent, (paper, averaged, exact)), *ratios]
        rows.append((o.problem.text, [*cells, f"{_ever_worse(o)} of {o.problem.of_the_papers}"]))
    title = (
        f"\nnoise, in deviations of the slab: median errors; trials ever worse than averaged from t={FIRST_COMPARED} on"
    )
    return table(title, "", ["t", *METHODS, "paper/exact", "averaged/exact", "ever worse"], rows)


def _report_not_sparse(outcomes: list[Outcome]) -> str:
    rows = []
    for o in outcomes:
        last = {method: o.errors[method][-1] for method in METHODS}
        paired = last[EXACT] / last[AVERAGED]
        cells = [str(o.problem.steps), *(exponent(float(np.median(last[method]))) for method in METHODS)]
        cells += [f"{np.median(paired):.3f}", f"{np.median(last[EXACT]) / np.median(last[AVERAGED]):.3f}"]
        cells += [f"{paired.max():.3f}", *(exponent(float(last[method].max())) for method in METHODS)]
        rows.append((o.problem.text, cells))
    columns = ["t", *METHODS, "median ratio", "of medians", "worst ratio", *(f"worst {method}" for method in METHODS)]
    return table("\ncodes that are not sparse: median errors, and exact/averaged on the same stream", "", columns, rows)


def _report_beyond(outcomes: list[Outcome]) -> str:
    rows = []
    for o in outcomes:
        medians = [exponent(float(np.median(o.errors[method][-1]))) for method in (AVERAGED, EXACT)]
        rows.append((o.problem.text, [str(o.problem.steps), *_since(o), *medians]))
    columns = ["by t", f"<= {FOUND:g}", "median t", "slowest t", "median averaged", "median exact"]
    return table("\nbeyond: other slabs, other sparsity, more features", "", columns, rows)


def _rivals(problem: Problem, trials: int) -> list[Record]:
    """Return the errors of others at the end of the first streams: one offline, one online from the same start."""
    say(f"{problem.text}: rivals on {trials} trials ...")
    truth, start, batches = _streams(problem)
    trials = min(trials, problem.trials)
    rows = np.stack([mini_batch[:trials] for mini_batch in batches], axis=1)
    atoms: dict[str, list[FloatArray]] = {}
    for i in range(trials):
        everything = rows[i].reshape(-1, problem.size)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = L3FastICA(centre=False, max_iter=1000, tol=1e-8, random_state=0).fit(everything).components_.T
        atoms.setdefault("FastICA, l3 score, all samples at once", []).append(found)
        atoms.setdefault("  the nearest orthogonal dictionary", []).append(polar(found)[0])
        for penalty in (0.5, 1.0):
            learner = OnlineAODL(penalty=penalty, init=start[i].T, random_state=0)
            for mini_batch in rows[i]:
                learner.partial_fit(mini_batch)
            atoms.setdefault(f"Online AODL, penalty {penalty:g}", []).append(learner.components_.T)
    return [
        Record(NAME, method, problem.text, f"median_error_at_{problem.steps}", value)
        for method, found in atoms.items()
        for value in [float(np.median(recovery_errors(np.stack(found), truth[:trials])))]
    ]


def _report_rivals(records: list[Record], trials: int) -> str:
    settings = list(dict.fromkeys(r.setting for r in records))
    values = {(r.method, r.setting): r for r in records}
    rows = [
        (name, [exponent(values[name, s].value) for s in settings]) for name in dict.fromkeys(r.method for r in records)
    ]
    return table(f"\nrivals on the first {trials} of these streams, at their end: median error", "", settings, rows)


def _costs(sizes: Sequence[int], batch: int = 6, first: int = 200, steps: int = 100) -> list[Record]:
    """Return the time of a step of every preset, after the first ones."""
    records: list[Record] = []
    for size in sizes:
        say(f"cost of a step, N = {size} ...")
        samples = make_bernoulli_gaussian((first + steps) * batch, size, sparsity=0.3, random_state=0).samples
        stream = [samples[i : i + batch] for i in range(0, len(samples), batch)]
        learners: dict[str, Any] = {n: OrthogonalDictionaryLearning.preset(n, random_state=0) for n in PRESETS}
        learners["forgetting PCA"] = ForgettingPCA()
        a = np.random.default_rng(0).standard_normal((size, size))
        out = np.empty_like(a)
        product = best_time(partial(np.matmul, a, a, out=out), repeat=20, least_seconds=0.005)
        setting = f"N={size} B={batch}"
        records.append(Record(NAME, "one N x N product", setting, "seconds", product))
        for name, learner in learners.items():
            if isinstance(learner, OrthogonalDictionaryLearning):
                grown_up(learner, stream[0])
            seconds = _seconds_per_step(learner, stream, first)
            records.append(Record(NAME, name, setting, "seconds_per_step", seconds))
            records.append(Record(NAME, name, setting, "products_per_step", seconds / product))
    return records


def _seconds_per_step(learner: Any, stream: list[FloatArray], first: int, stretch: int = 10) -> float:
    """Return the time of a step in the fastest stretch of the stream after the first steps."""
    for rows in stream[:first]:
        learner.partial_fit(rows)
    best = np.inf
    for begin in range(first, len(stream), stretch):
        part = stream[begin : begin + stretch]
        start = time.perf_counter()
        for rows in part:
            learner.partial_fit(rows)
        best = min(best, (time.perf_counter() - start) / len(part))
    return best


def _report_costs(records: list[Record]) -> str:
    settings = list(dict.fromkeys(r.setting for r in records))
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    rows = []
    for name in dict.fromkeys(r.method for r in records if r.metric == "seconds_per_step"):
        pairs = [(values[name, s, "seconds_per_step"], values[name, s, "products_per_step"]) for s in settings]
        rows.append((name, [f"{duration(seconds)} = {products:.1f}" for seconds, products in pairs]))
    return table("\ntime of a step by partial_fit after 200, and in N x N products", "", settings, rows)


def _draw(outcomes: list[Outcome], path: Path) -> None:
    wanted = {
        "no noise, $N = 10$": NOISELESS[0],
        "no noise, $N = 30$": NOISELESS[2],
        "noise of 5 %, $N = 10$": NOISY[1],
        "Laplacian codes, $N = 10$": NOT_SPARSE[0],
    }
    found = {title: [o for o in outcomes if o.problem.text == problem.text] for title, problem in wanted.items()}
    with paper_style():
        figure = new_figure(7.2, 5.4)
        axes = figure.subplots(2, 2).ravel()
        for axis, (title, ran) in zip(axes, found.items(), strict=True):
            axis.set_title(title)
            axis.set_visible(bool(ran))
            for o in ran:
                for method in METHODS:
                    errors = np.maximum(o.errors[method], 1e-16)
                    axis.loglog(o.at, np.median(errors, axis=1), **LINES[method], label=method)
                    worst = LINES[method] | {"ls": ":", "lw": 1.0}
                    axis.loglog(o.at, errors.max(axis=1), **worst)
                trials = o.problem.trials
                axis.plot([], [], color="#8a8a8a", ls=":", lw=1.0, label=f"worst of {trials} trials")
        for axis in axes[2:]:
            axis.set_xlabel("mini-batches of 10")
        for axis in axes[::2]:
            axis.set_ylabel("recovery error")
        axes[0].legend(loc="lower left")
        figure.tight_layout()
        figure.savefig(path)
