"""Run experiments and write a report, figures, and all numbers."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orthostream._checks import integer
from orthostream.experiments.convergence_figures import BATCH_SIZE, DICTIONARY_SIZE, SPARSITY
from orthostream.experiments.outcome import Experiment, Outcome, Picture
from orthostream.experiments.output import write_output
from orthostream.experiments.plan import Plan
from orthostream.experiments.record import Record, to_csv, to_json
from orthostream.experiments.registry import OFFLINE
from orthostream.experiments.report import described, report
from orthostream.experiments.sensor_45 import SensorFigure
from orthostream.experiments.sensors import SensorTable
from orthostream.experiments.sparse_pca import SparsePCAFigure
from orthostream.experiments.style import paper_style
from orthostream.experiments.summary import summary
from orthostream.experiments.task import RunProgress, run_tasks, silent

#: Every experiment of section V, in the order of the paper.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (BATCH_SIZE, DICTIONARY_SIZE, SPARSITY, SensorTable(), SensorFigure(), SparsePCAFigure())
}

#: The folder within the output folder for cached results of tasks.
TASKS = ".tasks"


@dataclass(frozen=True)
class Reproduction:
    """The outcomes of a run, and the files that it wrote."""

    outcomes: list[Outcome]
    files: list[Path]
    notes: list[str]
    seconds: float

    @property
    def records(self) -> list[Record]:
        """All records of all outcomes."""
        return [record for outcome in self.outcomes for record in outcome.records]


def reproduce(
    names: Sequence[str] | str,
    plan: Plan,
    folder: str | os.PathLike[str],
    *,
    workers: int = 1,
    progress: RunProgress = silent,
    notes: Sequence[str] = (),
    command: str = "",
) -> Reproduction:
    """Run experiments by name and write everything into a folder.

    Results of tasks are cached in the folder, so an interrupted call can be repeated and goes on from there. The report
    is written last.

    Parameters
    ----------
    names : keys of `EXPERIMENTS`, or "all"
    plan : sizes, seed and readings
    folder : created if needed; the report of an earlier run in it is replaced
    workers : processes; with more than one, a script needs ``if __name__ == "__main__":`` around its call
    progress : called with the share of the work that is done, and the name of the last task
    notes : warnings for the top of the report, besides those that follow from the plan
    command : the command that makes this report, to be printed in it
    """
    start = time.monotonic()
    folder = Path(folder)
    experiments = _chosen(names)
    integer("workers", workers)
    notes = [*reductions(plan, [experiment.name for experiment in experiments]), *notes]
    tasks = [task for experiment in experiments for task in experiment.tasks(plan)]
    results = run_tasks(tasks, folder / TASKS, workers=workers, progress=progress)
    outcomes = [experiment.outcome(plan, results) for experiment in experiments]
    written: dict[str, bytes] = {}
    svgs: dict[str, bytes] = {}
    for outcome in outcomes:
        for picture in outcome.pictures:
            png, svgs[picture.name] = _rendered(picture)
            written[f"figures/{picture.name}.png"] = png
            written[f"figures/{picture.name}.svg"] = svgs[picture.name]
            rows = list(zip(*picture.columns.values(), strict=True))
            written[f"data/{picture.name}.csv"] = to_csv(list(picture.columns), rows).encode()
    records = [record for outcome in outcomes for record in outcome.records]
    written["results.json"] = to_json(records).encode()
    written["results.csv"] = to_csv(Record._fields, records).encode()
    seconds = time.monotonic() - start
    facts = {
        **({"command": command} if command else {}),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "duration": f"{_duration(seconds)}, processes: {workers}; what an earlier run had done is not counted",
        **described(plan),
    }
    written["run.json"] = (json.dumps({**facts, "notes": notes}, indent=1, ensure_ascii=False) + "\n").encode()
    written["summary.md"] = summary(outcomes, facts, notes).encode()
    written["report.html"] = report(outcomes, svgs, facts=facts, notes=notes).encode()
    _write(folder, written)
    return Reproduction(outcomes, [folder / name for name in written], notes, seconds)


def reductions(plan: Plan, names: Sequence[str]) -> list[str]:
    """Return notes on how a run is smaller than the paper's.

    >>> reductions(Plan(trials=5), ["sparsity"])
    ['A quick look, not to be quoted: 5 trials instead of 100.']
    """
    full, less = Plan(), []
    if set(names) - {"sensors", "sensor-45"}:
        less += [(plan.trials, full.trials, "trials"), (plan.steps, full.steps, "mini-batches")]
    if "sensors" in names:
        less += [
            (getattr(plan, method.effort), getattr(full, method.effort), f"{method.effort} of {method.name}")
            for method in OFFLINE.values()
            if method.effort and method.name not in plan.without
        ]
    listed = [f"{has:,} {what} instead of {wants:,}" for has, wants, what in less if has < wants]
    if plan.quick and "sensors" in names:
        listed.append("two penalties of Online AODL instead of twelve, one prior of NCBDL and one fold of validation")
    made = [f"A quick look, not to be quoted: {'; '.join(listed)}."] if listed else []
    if plan.readings is not None and not plan.readings.real and {"sensors", "sensor-45"} & set(names):
        source = plan.readings.source[0].lower() + plan.readings.source[1:]
        made.append(f"The sensors are {source}, not the paper's data set: its numbers cannot be compared.")
    return made


def _chosen(names: Sequence[str] | str) -> list[Experiment]:
    given = [names] if isinstance(names, str) else list(names)
    unknown = [name for name in given if name not in EXPERIMENTS and name != "all"]
    if unknown or not given:
        wrong = repr(unknown[0]) if unknown else "nothing"
        raise ValueError(f"names must be among {', '.join(EXPERIMENTS)} and all, got {wrong}.")
    return [experiment for name, experiment in EXPERIMENTS.items() if name in given or "all" in given]


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.1f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def _write(folder: Path, written: dict[str, bytes]) -> None:
    """Write all files, and remove files of an earlier run that would be mistaken for results of this one."""
    listing = folder / TASKS / "files.txt"
    before = listing.read_text(encoding="utf-8").splitlines() if listing.is_file() else []
    for name in before:
        if name not in written:
            (folder / name).unlink(missing_ok=True)
    write_output(listing, "\n".join(written).encode())
    for name, content in written.items():
        write_output(folder / name, content)


def _rendered(picture: Picture) -> tuple[bytes, bytes]:
    """Return a picture as PNG and as SVG, with the same bytes for the same numbers."""
    with paper_style():
        figure = picture.draw()
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return png.getvalue(), svg.getvalue()
