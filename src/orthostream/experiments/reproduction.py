"""Run experiments and write what came out: a report, figures, and every number."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from orthostream.experiments.convergence_figures import BATCH_SIZE, DICTIONARY_SIZE, SPARSITY
from orthostream.experiments.outcome import Experiment, Outcome, Picture
from orthostream.experiments.plan import Plan
from orthostream.experiments.record import Record, to_csv, to_json
from orthostream.experiments.report import report
from orthostream.experiments.sensor_45 import SensorFigure
from orthostream.experiments.sensors import SensorTable
from orthostream.experiments.sparse_pca import SparsePCAFigure
from orthostream.experiments.style import paper_style
from orthostream.experiments.summary import summary
from orthostream.experiments.task import Progress, run_tasks, silent
from orthostream.experiments.whole_file import write_whole

#: Every experiment of section V, in the order of the paper.
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (BATCH_SIZE, DICTIONARY_SIZE, SPARSITY, SensorTable(), SensorFigure(), SparsePCAFigure())
}

#: The folder within the output folder for pieces of work that are done.
TASKS = ".tasks"


@dataclass(frozen=True)
class Reproduction:
    """What a run made: the outcomes, and the files."""

    outcomes: list[Outcome]
    files: list[Path]
    seconds: float

    @property
    def records(self) -> list[Record]:
        """All numbers."""
        return [record for outcome in self.outcomes for record in outcome.records]


def reproduce(
    names: Sequence[str],
    plan: Plan,
    folder: Path,
    *,
    workers: int = 1,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    command: str = "",
) -> Reproduction:
    """Run experiments by name and write everything into a folder.

    What is already done for the same seed and sizes is taken from the folder, so that the call can be repeated after an
    interruption. The report is written last.

    Parameters
    ----------
    names : keys of `EXPERIMENTS`
    plan : sizes, seed and readings
    folder : made if it is not there
    workers : processes
    progress : called with the share of the work done and the name of what was done last
    notes : what a reader of the report must know before all numbers
    command : how to get the report again, for the report
    """
    start = time.monotonic()
    experiments = [EXPERIMENTS[name] for name in names]
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
    written["summary.md"] = summary(outcomes, notes).encode()
    written["results.json"] = to_json(records).encode()
    written["results.csv"] = to_csv(Record._fields, records).encode()
    seconds = time.monotonic() - start
    facts = {
        "command": command,
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "duration": f"{seconds / 60:.1f} minutes in {workers} processes, less what an earlier run had done",
    }
    written["report.html"] = report(plan, outcomes, svgs, facts=facts, notes=notes).encode()
    _write(folder, written)
    return Reproduction(outcomes, [folder / name for name in written], seconds)


def _write(folder: Path, written: dict[str, bytes]) -> None:
    """Write all files, and remove what an earlier run wrote and this one does not: it would be taken for part of it."""
    listing = folder / TASKS / "files.txt"
    before = listing.read_text(encoding="utf-8").splitlines() if listing.is_file() else []
    for name in before:
        if name not in written:
            (folder / name).unlink(missing_ok=True)
    write_whole(listing, "\n".join(written).encode())
    for name, content in written.items():
        write_whole(folder / name, content)


def _rendered(picture: Picture) -> tuple[bytes, bytes]:
    """Return a picture as PNG and as SVG, with the same bytes for the same numbers."""
    with paper_style():
        figure = picture.draw()
        png, svg = io.BytesIO(), io.BytesIO()
        figure.savefig(png, format="png", metadata={"Software": None})
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return png.getvalue(), svg.getvalue()
