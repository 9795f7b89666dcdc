"""Section V-D: Algorithm 1 on another problem, sparse PCA over the Euclidean ball."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.experiments.convergence import blocks, moments
from orthostream.experiments.methods import KNOWN_SUPPORT, PROPOSED, RUNNING_PCA, SPARSE_EIGENVECTORS
from orthostream.experiments.outcome import Claim, Experiment, Outcome, Picture, Table, Verdict
from orthostream.experiments.record import Record
from orthostream.experiments.style import new_figure, paper_style
from orthostream.experiments.task import Task, TaskReport, TaskResult
from orthostream.optimize import (
    L2Ball,
    PaperSchedule,
    SparseEigenvectors,
    SparsePCAObjective,
    StochasticFrankWolfe,
)

if TYPE_CHECKING:
    from orthostream.experiments.plan import Plan

_VARIANCE, _PENALTY, _MU = 100.0, 1.0, 0.2
_MARKS = (100, 300, 1000, 3000)
_METHODS = (PROPOSED, RUNNING_PCA, SPARSE_EIGENVECTORS, KNOWN_SUPPORT)

#: The name of the mean number of entries that are wrongly zero or wrongly not zero.
_WRONG = "wrong zeros"


class ComponentSetting(NamedTuple):
    """The parameters of a stream: features, samples in a mini-batch, nonzero entries of the component."""

    n_features: int = 50
    batch_size: int = 10
    n_nonzero: int = 5

    @property
    def text(self) -> str:
        """The name of the setting in records."""
        return f"N={self.n_features} B={self.batch_size} q={self.n_nonzero}"


#: The paper does not give its values. One parameter varies in each family, and the hardest setting is last.
FAMILIES: dict[str, tuple[ComponentSetting, ...]] = {
    "N": (ComponentSetting(n_features=20), ComponentSetting(), ComponentSetting(n_features=100)),
    "B": (ComponentSetting(batch_size=50), ComponentSetting(), ComponentSetting(batch_size=1)),
    "q": (ComponentSetting(n_nonzero=2), ComponentSetting(), ComponentSetting(n_nonzero=20)),
}


class SparsePCAFigure(Experiment):
    """Error |1 - |z'v|| along the stream, over N, B and q."""

    name = "sparse-pca"
    summary = "Algorithm 1 on sparse principal components, over N, B and q"

    def tasks(self, plan: Plan) -> list[Task]:
        return [
            Task(
                _name(setting, block),
                learn,
                {"setting": tuple(setting), "trials": trials, "steps": plan.steps, "seed": (plan.seed, block)},
                trials * setting.n_features / 50 * 0.25,
            )
            for setting in _settings()
            for block, trials in enumerate(blocks(plan.trials))
        ]

    def outcome(self, plan: Plan, results: Mapping[str, TaskResult]) -> Outcome:
        marks = moments(plan.steps)
        means: dict[ComponentSetting, dict[str, FloatArray]] = {}
        for setting in _settings():
            parts = [results[_name(setting, block)] for block in range(len(blocks(plan.trials)))]
            means[setting] = {
                method: np.concatenate([part[method] for part in parts]).mean(axis=0) for method in (*_METHODS, _WRONG)
            }
        columns: dict[str, Sequence[Any]] = {"t": marks}
        for setting, found in means.items():
            columns |= {f"{method} ({setting.text})": list(map(float, found[method])) for method in _METHODS}
        caption = (
            f"Mean error |1 - |z'v|| of {plan.trials} streams, over the features N, the mini-batch size B and the "
            "nonzero entries q of the component. Thin dashed lines: the leading eigenvector of all samples so far. "
            "Dotted lines: the same without its noise, the default of `StreamingSparsePCA`."
        )
        records = [
            Record(self.name, method, f"{setting.text} t={t}", "component_error", float(error))
            for setting, found in means.items()
            for method in _METHODS
            for t, error in zip(marks, found[method], strict=True)
        ]
        records += [
            Record(self.name, SPARSE_EIGENVECTORS, f"{setting.text} t={t}", "wrong_zeros", float(wrong))
            for setting, found in means.items()
            for t, wrong in zip(marks, found[_WRONG], strict=True)
        ]
        return Outcome(
            self.name,
            "Generalisation: sparse principal components",
            "Samples have one sparse direction of variance 100 in white noise of variance 1; the penalty is 1 and "
            "Huber's mu 0.2, as in the paper. The paper prints neither the values of N, B and q nor any error: the "
            "values here are ours. Not in the paper: what a practitioner would use instead, the leading eigenvector of "
            "the running second moment; sparse eigenvectors, the same without its noise, which is what "
            "`StreamingSparsePCA` does by default, with no parameter set; and, to see what is left to gain, the "
            "eigenvector on the true support, which nobody knows.",
            records=records,
            claims=_claims(plan, means),
            pictures=[Picture(self.name, caption, lambda: _draw(marks, means), columns)],
            tables=[_table(marks, means)],
        )


def learn(
    setting: tuple[int, int, int], trials: int, steps: int, seed: tuple[int, int], report: TaskReport
) -> TaskResult:
    """Return the errors of a block of trials, (trials, moments), for each method.

    The errors of the support, wrongly zero or wrongly not zero entries, are counted for sparse eigenvectors.
    """
    size, batch, nonzero = setting
    rng = np.random.default_rng([*seed, size, batch, nonzero])
    component = np.zeros(size)
    component[:nonzero] = nonzero**-0.5
    solver = StochasticFrankWolfe(L2Ball(), SparsePCAObjective(_PENALTY, _MU), PaperSchedule())
    start = rng.standard_normal((trials, size))
    state = solver.init(start / np.linalg.norm(start, axis=1, keepdims=True))
    estimate = SparseEigenvectors()
    sparse_solver = StochasticFrankWolfe(L2Ball(), estimate)
    sparse_state = sparse_solver.init(np.broadcast_to(np.eye(1, size), (trials, 1, size)))
    found: dict[str, list[FloatArray]] = {name: [] for name in (*_METHODS, _WRONG)}
    marks = set(moments(steps))
    for t in range(1, steps + 1):
        white = rng.standard_normal((trials, batch, size))
        # The covariance is 1 + (variance - 1) v v'.
        rows = white + ((_VARIANCE**0.5 - 1.0) * (white @ component))[..., None] * component
        state = solver.step(state, rows)
        sparse_state = sparse_solver.step(sparse_state, rows)
        if t in marks:
            moment = sparse_state.memory["moment"]
            points = {
                PROPOSED: state.x,
                RUNNING_PCA: _leading(moment),
                SPARSE_EIGENVECTORS: estimate.components(sparse_state.memory, sparse_state.x)[:, 0],
                KNOWN_SUPPORT: np.pad(_leading(moment[:, :nonzero, :nonzero]), ((0, 0), (0, size - nonzero))),
            }
            for method, point in points.items():
                found[method].append(np.abs(1.0 - np.abs(point @ component)))
            wrong = (points[SPARSE_EIGENVECTORS] != 0.0) != (component != 0.0)
            found[_WRONG].append(wrong.sum(axis=-1).astype(float))
            report(t / steps)
    return {name: np.array(rows).T for name, rows in found.items()}


def _leading(moments: FloatArray) -> FloatArray:
    """Return the leading eigenvector of each matrix."""
    leading: FloatArray = np.linalg.eigh(moments)[1][..., -1]
    return leading


def _settings() -> list[ComponentSetting]:
    return list(dict.fromkeys(setting for family in FAMILIES.values() for setting in family))


def _name(setting: ComponentSetting, block: int) -> str:
    return f"sparse-pca {setting.text} block {block}"


def _claims(plan: Plan, means: dict[ComponentSetting, dict[str, FloatArray]]) -> list[Claim]:
    last = {setting: float(found[PROPOSED][-1]) for setting, found in means.items()}
    worst = max(last, key=lambda setting: last[setting])
    first = float(means[worst][PROPOSED][0])
    behind = sum(last[s] > means[s][RUNNING_PCA][-1] for s in means)
    ahead = sum(found[SPARSE_EIGENVECTORS][-1] <= found[RUNNING_PCA][-1] for found in means.values())
    gains = [found[PROPOSED][-1] / found[SPARSE_EIGENVECTORS][-1] for found in means.values()]
    eigenvector = f"the running eigenvector is closer in {behind} of {len(means)} settings; "
    return [
        Claim(
            "Algorithm 1 generalises well to sparse PCA under various settings",
            "figure without numbers",
            f"error at most {last[worst]:.1e} at t = {plan.steps:,} (worst: {worst.text}), from {first:.1e} at t = 1",
            Verdict.AGREES if last[worst] < 0.05 * first else Verdict.DIFFERS,
            f"{eigenvector}sparse eigenvectors, our default, are at least as close as it in {ahead} of {len(means)}, "
            f"and {min(gains):,.0f} to {max(gains):,.0f} times closer than Algorithm 1",
        )
    ]


def _table(marks: list[int], means: dict[ComponentSetting, dict[str, FloatArray]]) -> Table:
    columns = [t for t in _MARKS if t in marks]
    rows: list[list[str]] = []
    strong = set()
    for setting, found in means.items():
        for method in _METHODS:
            if method == PROPOSED:
                strong.add(len(rows))
            rows.append([f"{method}, {setting.text}", *(f"{found[method][marks.index(t)]:.1e}" for t in columns)])
    return Table("Mean error |1 - |z'v||", ["", *(f"t = {t:,}" for t in columns)], rows, frozenset(strong))


def _draw(marks: list[int], means: dict[ComponentSetting, dict[str, FloatArray]]) -> Any:
    with paper_style():
        figure = new_figure(7.2, 2.7)
        axes = figure.subplots(1, len(FAMILIES), sharey=True)
        for axis, (parameter, family) in zip(axes, FAMILIES.items(), strict=True):
            position = {"N": 0, "B": 1, "q": 2}[parameter]
            for setting, colour in zip(family, ("#5aa9e6", "#0b5fa5", "#0a2f51"), strict=True):
                label = f"${parameter}={setting[position]}$"
                axis.loglog(marks, means[setting][PROPOSED], color=colour, lw=1.8, label=label)
                axis.loglog(marks, means[setting][RUNNING_PCA], color=colour, lw=0.8, ls="--")
                axis.loglog(marks, means[setting][SPARSE_EIGENVECTORS], color=colour, lw=1.8, ls=":")
            fixed = ", ".join(f"${p}={v}$" for p, v in zip("NBq", ComponentSetting(), strict=True) if p != parameter)
            axis.set(xlabel="mini-batches $t$", title=fixed, xlim=(1, marks[-1]))
            axis.legend(loc="lower left")
        axes[0].set_ylabel("error $|1-|z^T v||$")
        figure.tight_layout()
        return figure
