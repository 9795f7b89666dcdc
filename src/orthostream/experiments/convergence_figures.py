"""Section V-B: three figures of convergence, for mini-batch size, dictionary size and sparsity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.experiments.convergence import RUNS, StreamSetting, curves, moments, tasks
from orthostream.experiments.methods import AODL, AODL_TUNED, AVERAGED, PROPOSED, SFW_POLAR
from orthostream.experiments.outcome import Claim, Experiment, Outcome, Picture, Table, Verdict
from orthostream.experiments.paper_values import REACHES_1E_3
from orthostream.experiments.plan import Plan
from orthostream.experiments.record import Record
from orthostream.experiments.registry import METHODS
from orthostream.experiments.style import new_figure, paper_style
from orthostream.experiments.task import Task, TaskResult

#: The paper says "around the 1000-th time index"; a step within this factor counts as agreement.
_AROUND = 1.35
_MARKS = (100, 300, 1000, 2000, 3000)


class ConvergenceFigure(Experiment):
    """Curves of two settings that differ in one parameter, the easier setting first."""

    def __init__(self, name: str, what: str, easy: StreamSetting, hard: StreamSetting, faster_with: str) -> None:
        self.name = name
        self.summary = f"recovery error along the stream, over the {what}"
        self._what = what
        self._settings = (easy, hard)
        self._faster_with = faster_with

    def tasks(self, plan: Plan) -> list[Task]:
        return tasks(plan, list(self._settings))

    def outcome(self, plan: Plan, results: Mapping[str, TaskResult]) -> Outcome:
        errors = {setting: curves(plan, setting, results) for setting in self._settings}
        marks = moments(plan.steps)
        means = {s: {name: curve.mean(axis=0) for name, curve in found.items()} for s, found in errors.items()}
        columns: dict[str, Sequence[Any]] = {"t": marks}
        for setting, found in means.items():
            columns |= {f"{name} ({setting.text})": list(map(float, mean)) for name, mean in found.items()}
            for name, curve in errors[setting].items():
                low, high = np.quantile(curve, [0.25, 0.75], axis=0)
                columns |= {
                    f"{name} ({setting.text}), lower quartile": low.tolist(),
                    f"{name} ({setting.text}), upper quartile": high.tolist(),
                }
        caption = (
            f"Mean recovery error of {plan.trials} streams (shaded: the middle half of them) along "
            f"{plan.steps:,} mini-batches, over the {self._what}."
        )
        return Outcome(
            self.name,
            f"Convergence over the {self._what}",
            f"Recovery error |1 - ||D'D_true||_4^4 / N| of {plan.trials} independent streams. All methods see the "
            "same samples and start from the same dictionaries.",
            records=[*self._records(marks, means, plan)],
            claims=[*self._claims(plan, marks, means)],
            pictures=[Picture(self.name, caption, lambda: _draw(marks, errors), columns)],
            tables=[_table(marks, setting, found) for setting, found in means.items()],
        )

    def _records(self, marks: list[int], means: dict[StreamSetting, dict[str, FloatArray]], plan: Plan) -> list[Record]:
        made = []
        for setting, found in means.items():
            for name, mean in found.items():
                made += [
                    Record(self.name, name, f"{setting.text} t={t}", "recovery_error", float(error))
                    for t, error in zip(marks, mean, strict=True)
                ]
                step = reaches(marks, mean, 1e-3)
                if step is not None:
                    said = _said(setting) if name == PROPOSED else None
                    made.append(Record(self.name, name, setting.text, "t_at_error_1e-3", step, said))
        return made

    def _claims(self, plan: Plan, marks: list[int], means: dict[StreamSetting, dict[str, FloatArray]]) -> list[Claim]:
        easy, hard = self._settings
        compared = [name for name in RUNS if name in means[easy] and name != AODL_TUNED]
        slower = [name for name in compared if means[easy][name][-1] >= means[hard][name][-1]]
        made = [
            Claim(
                f"Every method is faster with {self._faster_with}",
                "all of them",
                "all of them" if not slower else "not " + ", ".join(slower),
                Verdict.DIFFERS if slower else Verdict.AGREES,
                f"errors after {plan.steps:,} mini-batches",
            )
        ]
        for setting, found in means.items():
            rivals = {name: found[name][-1] for name in compared if name != PROPOSED}
            if rivals:
                best = min(rivals, key=lambda name: rivals[name])
                ours = found[PROPOSED][-1]
                made.append(
                    Claim(
                        f"The proposed method is below every baseline, at the paper's penalty ({setting.text})",
                        "yes",
                        f"{ours:.1e}, next is {best} with {rivals[best]:.1e}",
                        Verdict.AGREES if ours < rivals[best] else Verdict.DIFFERS,
                        f"at t = {plan.steps:,}",
                    )
                )
            if AODL_TUNED in found and AODL in found:
                made.append(_tuned(setting, found))
            said = _said(setting)
            if said is not None:
                made.append(_reaching(marks, setting, found, said))
        return made


def reaches(marks: Sequence[int], errors: FloatArray, level: float) -> int | None:
    """Return the first moment at which the error is at most the level, None if there is none.

    >>> reaches([1, 10, 100], np.array([0.5, 0.2, 0.1]), 0.2)
    10
    """
    below = np.flatnonzero(errors <= level)
    return int(marks[below[0]]) if len(below) else None


def _said(setting: StreamSetting) -> int | None:
    return REACHES_1E_3.get(setting.sparsity) if setting[:2] == (10, 10) else None


def _reaching(marks: list[int], setting: StreamSetting, found: dict[str, FloatArray], said: int) -> Claim:
    step = reaches(marks, found[PROPOSED], 1e-3)
    averaged = reaches(marks, found[AVERAGED], 1e-3) if AVERAGED in found else None
    statement = f"The proposed method is at 1e-3 around t = {said:,} ({setting.text})"
    remark = f"with averaging at t = {averaged:,}" if averaged is not None else ""
    if said in marks:
        remark = f"at t = {said:,} the error is {found[PROPOSED][marks.index(said)]:.1e}; {remark}".rstrip("; ")
    if step is None:
        verdict = Verdict.DIFFERS if marks[-1] >= said else Verdict.NOT_COMPARABLE
        return Claim(statement, f"t = {said:,}", f"not by t = {marks[-1]:,}", verdict, remark)
    verdict = Verdict.BETTER if step < said / _AROUND else Verdict.AGREES if step <= said * _AROUND else Verdict.DIFFERS
    return Claim(statement, f"t = {said:,}", f"t = {step:,}", verdict, remark)


def _tuned(setting: StreamSetting, found: dict[str, FloatArray]) -> Claim:
    papers, tuned, ours = (float(found[name][-1]) for name in (AODL, AODL_TUNED, PROPOSED))
    remark = f"the better of 0.5 and 1; the proposed method {'is below' if ours < tuned else 'loses'} with {ours:.1e}"
    if AVERAGED in found:
        averaged = float(found[AVERAGED][-1])
        remark += f", averaged it {'is below' if averaged < tuned else 'loses'} with {averaged:.1e}"
    return Claim(
        f"The penalty of Online AODL is tuned ({setting.text})",
        f"{setting.penalty:g}",
        f"{papers:.1e} with that penalty, {tuned:.1e} with {setting.better_penalty:g}",
        Verdict.DIFFERS if tuned < 0.5 * papers else Verdict.AGREES,
        remark,
    )


def _table(marks: list[int], setting: StreamSetting, found: dict[str, FloatArray]) -> Table:
    columns = [t for t in _MARKS if t in marks]
    rows = [
        [name, *(f"{found[name][marks.index(t)]:.1e}" for t in columns), _step(marks, found[name])] for name in found
    ]
    ours = frozenset(i for i, name in enumerate(found) if METHODS[name].ours)
    head = ["", *(f"t = {t:,}" for t in columns), "1e-3 at"]
    return Table(f"Mean recovery error, {setting.text}", head, rows, ours)


def _step(marks: list[int], errors: FloatArray) -> str:
    step = reaches(marks, errors, 1e-3)
    return "-" if step is None else f"t = {step:,}"


def _draw(marks: list[int], errors: dict[StreamSetting, dict[str, FloatArray]]) -> Any:
    with paper_style():
        figure = new_figure(7.2, 3.0)
        axes = figure.subplots(1, len(errors), sharey=True, squeeze=False)
        for axis, (setting, found) in zip(axes[0], errors.items(), strict=True):
            for name, curve in found.items():
                if name == SFW_POLAR:
                    continue
                axis.loglog(marks, curve.mean(axis=0), label=name, **METHODS[name].line._asdict())
                low, high = np.quantile(curve, [0.25, 0.75], axis=0)
                axis.fill_between(marks, low, high, color=METHODS[name].line.color, alpha=0.12, lw=0)
            axis.set(xlabel="mini-batches $t$", title=_title(setting), xlim=(1, marks[-1]))
        axes[0][0].set_ylabel("recovery error")
        figure.legend(*axes[0][0].get_legend_handles_labels(), loc="upper center", bbox_to_anchor=(0.5, 0.02), ncol=5)
        figure.tight_layout()
        return figure


def _title(setting: StreamSetting) -> str:
    return rf"$N={setting.n_features}$, $B={setting.batch_size}$, $\theta={setting.sparsity:g}$"


BATCH_SIZE = ConvergenceFigure(
    "batch-size", "mini-batch size", StreamSetting(batch_size=10), StreamSetting(batch_size=1), "larger mini-batches"
)
DICTIONARY_SIZE = ConvergenceFigure(
    "dictionary-size",
    "dictionary size",
    StreamSetting(n_features=10),
    StreamSetting(n_features=50),
    "a smaller dictionary",
)
SPARSITY = ConvergenceFigure(
    "sparsity", "sparsity of the codes", StreamSetting(sparsity=0.3), StreamSetting(sparsity=0.5), "sparser codes"
)
