"""Sparse principal components: how close to the true one, how sparse on real data, and at what cost."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA, IncrementalPCA, MiniBatchSparsePCA
from sklearn.exceptions import ConvergenceWarning

from orthostream import StreamingSparsePCA
from orthostream._typing import FloatArray
from orthostream.experiments.style import new_figure, paper_style
from orthostream.optimize import L2Ball, SparseEigenvectors, SparsePCAObjective, StochasticFrankWolfe

from .measure import SEED, Record, best_time, duration, exponent, say, table, write_json

NAME = "components"
PAPER, RUNNING, OURS, KNOWN = "paper", "running eigenvector", "sparse eigenvectors", "known support"
NO_LOSS = "variance_loss=0"
METHODS = (PAPER, RUNNING, OURS, NO_LOSS, KNOWN)
BATCH = 10
MARKS = (3, 10, 30, 100, 300, 1000, 3000)


class Effort(NamedTuple):
    """How much is run."""

    trials: int = 40
    steps: int = 3000
    largest: int = 150
    """Problems of more features are left out."""


FULL, QUICK = Effort(), Effort(trials=10, steps=300, largest=40)


class Problem(NamedTuple):
    """Samples with a sparse direction of some variance in noise of variance 1."""

    size: int
    nonzero: int
    variance: float
    entries: str = "equal"
    noise: str = "white"

    @property
    def text(self) -> str:
        """The problem as records name it."""
        entries = "" if self.entries == "equal" else f", {self.entries} entries"
        noise = "" if self.noise == "white" else f", {self.noise} noise"
        return f"N={self.size} q={self.nonzero} variance={self.variance:g}{entries}{noise}"


#: As in the paper, with other sizes, supports and variances.
EQUAL = tuple(
    Problem(size, nonzero, variance)
    for variance in (100.0, 2.0, 1.5)
    for size, nonzero in ((30, 3), (30, 15), (75, 8), (75, 30), (150, 10))
)
#: What the paper's generator has not: uneven entries, uneven noise, heavy tails.
OTHER = (
    Problem(60, 15, 100.0, "falling"),
    Problem(60, 15, 2.0, "falling"),
    Problem(60, 10, 10.0, noise="uneven"),
    Problem(60, 10, 2.0, noise="Student-t"),
    Problem(60, 10, 100.0, noise="Student-t"),
)
#: Nothing to gain: no entry is zero.
DENSE = (Problem(40, 40, 100.0), Problem(40, 40, 2.0), Problem(40, 40, 100.0, "normal"), Problem(40, 40, 2.0, "normal"))


class Outcome(NamedTuple):
    """Mean errors of each method at the marks, and in what part of the trials the last support was right."""

    problem: Problem
    at: list[int]
    errors: dict[str, FloatArray]
    right: float


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    records: list[Record] = []
    outcomes: list[Outcome] = []
    for title, problems in (
        ("the paper's generator", EQUAL),
        ("other entries, other noise", OTHER),
        ("not sparse at all", DENSE),
    ):
        part = [_learn(problem, effort) for problem in problems if problem.size <= effort.largest]
        if part:
            print(_report(title, part) + "\n", flush=True)
        outcomes += part
    for outcome in outcomes:
        records += _records(outcome)
    for measure, report in ((_several, _report_several), (_digits, _report_digits), (_costs, _report_costs)):
        found = measure(options.quick)
        print(report(found) + "\n", flush=True)
        records += found
    if options.json:
        write_json(records, options.json)
        print(f"records: {options.json}")
    if options.figure:
        _draw(outcomes, options.figure)
        print(f"figure: {options.figure}")
    return records


def _streams(problem: Problem, effort: Effort) -> tuple[FloatArray, Iterator[FloatArray]]:
    """Return the true component and mini-batches of (trials, B, N)."""
    size, nonzero = problem.size, problem.nonzero
    kinds = [round(10 * problem.variance), len(problem.entries), len(problem.noise)]
    rng = np.random.default_rng([SEED, size, nonzero, *kinds])
    spike = np.zeros(size)
    spike[:nonzero] = {
        "equal": np.ones(nonzero),
        "falling": 1.0 / np.arange(1, nonzero + 1),
        "normal": rng.standard_normal(nonzero),
    }[problem.entries]
    spike *= ((problem.variance - 1.0) / (spike @ spike)) ** 0.5
    deviations = np.exp(rng.uniform(-1.0, 1.0, size)) if problem.noise == "uneven" else np.ones(size)
    true = np.linalg.eigh(np.outer(spike, spike) + np.diag(deviations**2))[1][:, -1]

    def batches() -> Iterator[FloatArray]:
        for _ in range(effort.steps):
            rows = deviations * rng.standard_normal((effort.trials, BATCH, size))
            rows += rng.standard_normal((effort.trials, BATCH, 1)) * spike
            if (
                problem.noise == "Student-t"
            ):  # one factor for each sample: its entries are uncorrelated, not independent
                rows *= (3.0 / rng.chisquare(5, (effort.trials, BATCH, 1))) ** 0.5
            yield rows

    return true, batches()


def _learn(problem: Problem, effort: Effort) -> Outcome:
    say(f"{problem.text}: {effort.trials} trials, {effort.steps} steps ...")
    true, batches = _streams(problem, effort)
    size, trials = problem.size, effort.trials
    estimate, no_loss = SparseEigenvectors(), SparseEigenvectors(variance_loss=0.0)
    solvers = StochasticFrankWolfe(L2Ball(), SparsePCAObjective()), StochasticFrankWolfe(L2Ball(), estimate)
    start = np.random.default_rng(SEED).standard_normal((trials, size))
    paper = solvers[0].init(start / np.linalg.norm(start, axis=1, keepdims=True))
    ours = solvers[1].init(np.broadcast_to(np.eye(1, size), (trials, 1, size)))
    at = [t for t in MARKS if t <= effort.steps]
    errors: dict[str, list[float]] = {method: [] for method in METHODS}
    support = np.abs(true) > 1e-9
    right = 0.0
    for t, rows in enumerate(batches, start=1):
        paper, ours = solvers[0].step(paper, rows), solvers[1].step(ours, rows)
        if t not in at:
            continue
        moment = ours.memory["moment"]
        known = np.zeros((trials, size))
        known[:, support] = np.linalg.eigh(moment[:, support][:, :, support])[1][..., -1]
        points = {
            PAPER: paper.x / np.linalg.norm(paper.x, axis=1, keepdims=True),
            RUNNING: np.linalg.eigh(moment)[1][..., -1],
            OURS: estimate.components(ours.memory, ours.x)[:, 0],
            NO_LOSS: no_loss.sought(ours.memory, ours.x)[0][:, 0],
            KNOWN: known,
        }
        for method, point in points.items():
            errors[method].append(float(np.mean(1.0 - np.abs(point @ true))))
        right = float(np.mean(((points[OURS] != 0.0) == support).all(axis=1)))
    return Outcome(problem, at, {method: np.array(found) for method, found in errors.items()}, right)


def _records(outcome: Outcome) -> list[Record]:
    found = [
        Record(NAME, method, outcome.problem.text, f"mean_error_at_{t}", float(value))
        for method in METHODS
        for t, value in zip(outcome.at, outcome.errors[method], strict=True)
    ]
    return [*found, Record(NAME, OURS, outcome.problem.text, "part_of_supports_right", outcome.right)]


def _report(title: str, outcomes: list[Outcome]) -> str:
    rows = []
    for o in outcomes:
        ratios = [f"{r:.2f}" for r in o.errors[OURS] / o.errors[RUNNING]]
        last = [exponent(float(o.errors[method][-1])) for method in METHODS]
        near = f"{o.errors[OURS][-1] / max(o.errors[KNOWN][-1], 1e-300):.2f}"
        rows.append((o.problem.text, [*ratios, *last, near, f"{100 * o.right:.0f} %"]))
    at = outcomes[0].at
    columns = [*(f"t={t}" for t in at), *METHODS, "ours/known", "right"]
    text = (
        f"{title}: mean error of sparse eigenvectors / that of the running eigenvector; then mean errors at\n"
        f"t={at[-1]}, ours / that of the known support, and in how many trials the support is right"
    )
    return table(text, "", columns, rows)


def _several(quick: bool) -> list[Record]:
    """Return mean errors of three components in 60 features, and of their span."""
    supports = (range(5), range(10, 18), range(30, 40))
    true = np.zeros((3, 60))
    for vector, support in zip(true, supports, strict=True):
        vector[support] = len(support) ** -0.5
    records = []
    for variances in ((50.0, 20.0, 8.0), (3.0, 2.5, 2.0)):
        for samples in (300, 3000) if quick else (300, 3000, 30_000):
            say(f"three components of variances {variances}, {samples} samples ...")
            errors: dict[str, list[FloatArray]] = {}
            for trial in range(5 if quick else 40):
                rng = np.random.default_rng([SEED, samples, round(variances[0]), trial])
                rows = rng.standard_normal((samples, 60))
                rows += rng.standard_normal((samples, 3)) * np.sqrt(np.array(variances) - 1.0) @ true
                dense = np.linalg.eigh(rows.T @ rows)[1][:, :-4:-1].T
                for method, found in ((RUNNING, dense), (OURS, StreamingSparsePCA(3).fit(rows).components_)):
                    each = 1.0 - np.abs((found * true).sum(axis=1))
                    span = 1.0 - np.sum((found @ true.T) ** 2) / 3.0
                    errors.setdefault(method, []).append(np.array([*each, span]))
            setting = f"variances {', '.join(f'{v:g}' for v in variances)}, {samples} samples"
            for method, values in errors.items():
                for name, value in zip(("first", "second", "third", "span"), np.mean(values, axis=0), strict=True):
                    records.append(Record(NAME, method, setting, f"mean_error_of_{name}", float(value)))
    return records


def _report_several(records: list[Record]) -> str:
    columns = [record.metric.removeprefix("mean_error_of_") for record in records[:4]]
    rows = [
        (f"{first.setting}, {first.method}", [exponent(r.value) for r in (first, *rest)])
        for first, *rest in (records[i : i + 4] for i in range(0, len(records), 4))
    ]
    return table("three components of 5, 8 and 10 entries in 60 features: mean errors", "", columns, rows)


def _digits(quick: bool) -> list[Record]:
    """Return the number of nonzero entries and the explained variance of ten components of scikit-learn's digits."""
    say("digits ...")
    samples = load_digits().data
    samples = samples - samples.mean(axis=0)
    learners: dict[str, Any] = {
        "PCA": PCA(10),
        "paper": StreamingSparsePCA(10, method="paper", random_state=0),
        "ours, variance_loss=0": StreamingSparsePCA(10, variance_loss=0.0),
        "ours": StreamingSparsePCA(10),
        "ours, variance_loss=0.01": StreamingSparsePCA(10, variance_loss=0.01),
        "ours, variance_loss=0.05": StreamingSparsePCA(10, variance_loss=0.05),
    }
    if not quick:
        learners |= {
            f"MiniBatchSparsePCA, alpha={alpha:g}": MiniBatchSparsePCA(10, alpha=alpha, random_state=0)
            for alpha in (1.0, 3.0, 10.0)
        }
    records = []
    for method, learner in learners.items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            components = learner.fit(samples).components_
        seconds = time.perf_counter() - start
        basis = np.linalg.svd(components, full_matrices=False)[2]
        values = {
            "nonzero_entries": np.count_nonzero(components, axis=1).mean(),
            "explained_percent": 100.0 * np.sum((samples @ basis.T) ** 2) / np.sum(samples**2),
            "largest_cosine": np.abs(components @ components.T - np.diag(np.sum(components**2, axis=1))).max(),
            "seconds": seconds,
        }
        records += [Record(NAME, method, "digits", metric, float(value)) for metric, value in values.items()]
    return records


def _report_digits(records: list[Record]) -> str:
    values = {(r.method, r.metric): r.value for r in records}
    rows = []
    for method in dict.fromkeys(r.method for r in records):
        count, percent, cosine, seconds = (
            values[method, metric] for metric in ("nonzero_entries", "explained_percent", "largest_cosine", "seconds")
        )
        rows.append((method, [f"{count:.1f}", f"{percent:.2f} %", f"{cosine:.3f}", duration(seconds)]))
    title = "digits, ten components of 64 pixels"
    return table(title, "", ["nonzero entries", "variance", "largest cosine of two", "fit"], rows)


def _costs(quick: bool) -> list[Record]:
    """Return the time of a mini-batch of ten rows, at the beginning of a stream and later, and of a look."""
    records = []
    for size, count in ((50, 1), (50, 5)) if quick else ((50, 1), (50, 5), (200, 1), (1000, 1), (5000, 1)):
        setting = f"N={size}, {count} component{'s' * (count > 1)}"
        say(f"cost, {setting} ...")
        rng = np.random.default_rng(SEED)
        stream = rng.standard_normal((300, BATCH, size))
        stream[..., :5] += 3.0 * rng.standard_normal((300, BATCH, 1))
        for method, learner in (
            (OURS, StreamingSparsePCA(count)),
            (PAPER, StreamingSparsePCA(count, method="paper", random_state=0)),
            ("IncrementalPCA", IncrementalPCA(count)),
        ):
            marks = [time.perf_counter()]
            for rows in stream:
                learner.partial_fit(rows)
                marks.append(time.perf_counter())
            steps = np.diff(marks)
            values = {"first_100": steps[:100].mean(), "next_200": steps[100:].mean()}
            if method == OURS:
                values["look"] = best_time(lambda x=learner: x.solver_.estimate.sought(x.state_.memory, x.state_.x))
            records += [Record(NAME, method, setting, f"seconds_{name}", float(v)) for name, v in values.items()]
    return records


def _report_costs(records: list[Record]) -> str:
    values = {(r.setting, r.method, r.metric): r.value for r in records}
    rows = []
    for setting in dict.fromkeys(r.setting for r in records):
        for method in dict.fromkeys(r.method for r in records):
            names = ("seconds_first_100", "seconds_next_200", "seconds_look")
            found = [values.get((setting, method, name)) for name in names]
            rows.append((f"{setting}, {method}", ["-" if v is None else duration(v) for v in found]))
    title = "time of partial_fit on ten rows, and of the first look at the components after it"
    return table(title, "", ["first 100", "next 200", "look"], rows)


def _draw(outcomes: Sequence[Outcome], path: Path) -> None:
    lines = {PAPER: ("#0b5fa5", "-"), RUNNING: ("#444444", "--"), OURS: ("#b3123f", "-"), KNOWN: ("#444444", ":")}
    wanted = [o for o in outcomes if o.problem in EQUAL and o.problem.nonzero == 15]
    with paper_style():
        figure = new_figure(7.2, 2.7)
        axes = np.atleast_1d(figure.subplots(1, max(len(wanted), 1), sharey=True))
        for axis, outcome in zip(axes, wanted, strict=False):
            for method, (colour, style) in lines.items():
                axis.loglog(outcome.at, outcome.errors[method], color=colour, ls=style, lw=1.6, label=method)
            axis.set(xlabel="mini-batches $t$", title=f"variance {outcome.problem.variance:g}")
        axes[0].set_ylabel("mean error $1-|z^T v|$")
        axes[0].legend(loc="lower left")
        figure.tight_layout()
        figure.savefig(path, dpi=200)
