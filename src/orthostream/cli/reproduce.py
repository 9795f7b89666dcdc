"""`orthostream reproduce`: the figures and tables of the paper's section V, as a report and as data."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli.errors import UserError
from orthostream.cli.progress import ProgressBar
from orthostream.cli.trouble import bad_values

if TYPE_CHECKING:
    from orthostream.experiments import Reproduction, SensorReadings

#: The experiments for --help, which imports none of them; a test compares this with `orthostream.experiments`.
SUMMARIES = {
    "batch-size": "recovery error along the stream, over the mini-batch size",
    "dictionary-size": "recovery error along the stream, over the dictionary size",
    "sparsity": "recovery error along the stream, over the sparsity of the codes",
    "sensors": "Table I: coding a year of temperatures, with every baseline and the rivals",
    "sensor-45": "the decoded readings of one sensor, with the largest errors",
    "sparse-pca": "Algorithm 1 on sparse principal components, over N, B and q",
}
_ALL = "all"

#: The size of the paper's data set.
_HOURS, _SENSORS = 8593, 56


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    what = "\n".join(f"  {name:16s} {summary}" for name, summary in SUMMARIES.items())
    parser = commands.add_parser(
        "reproduce",
        help="the paper's figures and tables, as a report",
        description=f"{__doc__}\n\nexperiments:\n{what}\n  {_ALL:16s} all of them",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", metavar="EXPERIMENT", help="one or more of the experiments above")
    parser.add_argument("--quick", action="store_true", help="about two minutes: few trials, hardly any training")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="random seed (0)")
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="folder for the report; an earlier one in it is replaced (reproduction, or reproduction-quick)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data", type=Path, metavar="FOLDER", help="the Airly data set as Kaggle ships it (or set ORTHOSTREAM_DATA)"
    )
    source.add_argument("--simulated", action="store_true", help="use a simulated city instead of the data set")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        metavar="METHOD",
        help="leave out a method, such as DeepSTGDL; a wrong name lists them all",
    )
    parser.add_argument("--workers", type=int, metavar="K", help="number of processes (one per core)")
    parser.add_argument("--fresh", action="store_true", help="do not continue from an earlier run in the same folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check the options, run the experiments, write the report and print where it is."""
    from orthostream._checks import integer, optional_integer

    names = _names(options.names)
    with bad_values():
        integer("--seed", options.seed, 0)
        optional_integer("--workers", options.workers)
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("the report needs matplotlib: pip install 'orthostream[bench]'")
    from orthostream.experiments import EXPERIMENTS, Plan, reproduce
    from orthostream.experiments.output import OutputError

    # The data is checked before torch: it is easier to get.
    readings = _readings(options) if any(EXPERIMENTS[name].needs_readings for name in names) else None
    without, notes = _left_out(options, "sensors" in names)
    make = Plan.small if options.quick else Plan
    plan = make(seed=options.seed, readings=readings, without=without)
    folder = _folder(options)
    bar = ProgressBar()
    try:
        done = reproduce(
            names,
            plan,
            folder,
            workers=options.workers or _cores(),
            progress=bar,
            notes=notes,
            command=_command(options),
        )
    except OutputError as error:
        raise UserError(str(error)) from error
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt("finished tasks are kept, and the same command continues from there") from error
    finally:
        bar.close()
    print(_summary(done))
    return 0


def _names(given: list[str]) -> list[str]:
    for name in given:
        if name not in SUMMARIES and name != _ALL:
            raise UserError(f"there is no experiment {name!r}; there are {', '.join([*SUMMARIES, _ALL])}")
    return [name for name in SUMMARIES if name in given or _ALL in given]


def _left_out(options: argparse.Namespace, with_sensors: bool) -> tuple[frozenset[str], list[str]]:
    """Return the methods to leave out, and notes about them for the report."""
    from orthostream.experiments.methods import DEEP
    from orthostream.experiments.registry import OPTIONAL

    known = {method.lower(): method for method in OPTIONAL}
    without, notes = set(), []
    for name in options.without:
        if name.lower() not in known:
            raise UserError(f"--without {name!r}: there are {'; '.join(known.values())}")
        without.add(known[name.lower()])
    if without:
        notes.append(f"Left out as asked: {', '.join(sorted(without))}.")
    if with_sensors and DEEP not in without and importlib.util.find_spec("torch") is None:
        if not options.quick:
            raise UserError(
                f"{DEEP} needs torch: pip install 'orthostream[deep]', or leave it out with --without {DEEP}"
            )
        without.add(DEEP)
        notes.append(f"{DEEP} is left out, because torch is not installed: pip install 'orthostream[deep]'.")
    if importlib.util.find_spec("spams") is None:
        notes.append(
            "Online AODL runs on scikit-learn, because SPAMS is not installed: pip install 'orthostream[bench]'."
        )
    return frozenset(without), notes


def _readings(options: argparse.Namespace) -> SensorReadings:
    """Return the readings of --data or ORTHOSTREAM_DATA, or for a quick run those of a simulated city."""
    from orthostream.datasets import DataFolderError, load_airly, make_city
    from orthostream.experiments import SensorReadings

    named = options.data is not None or bool(os.environ.get("ORTHOSTREAM_DATA"))
    if options.simulated or (options.quick and not named):
        city = make_city(_HOURS, _SENSORS, random_state=options.seed)
        return SensorReadings.of("A simulated city", city, real=False)
    if not named:
        raise UserError(
            "the sensors need the Airly data set (Kaggle: Air quality data from extensive network of sensors): name "
            "its folder with --data or ORTHOSTREAM_DATA, or use --simulated"
        )
    try:
        airly = load_airly(options.data)
    except DataFolderError as error:
        raise UserError(f"{error} Without it: --simulated.") from error
    return SensorReadings.of("Airly network, Krakow 2017", airly, real=True)


def _folder(options: argparse.Namespace) -> Path:
    from orthostream.experiments.reproduction import TASKS

    folder = Path("reproduction-quick" if options.quick else "reproduction")
    if options.output is not None:
        if not options.output.strip():
            raise UserError("--output must name a folder")
        folder = Path(options.output)
    if folder.exists() and not folder.is_dir():
        raise UserError(f"cannot write to {folder}: it is a file, not a folder")
    try:
        if options.fresh:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder / TASKS)
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error
    return folder


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _command(options: argparse.Namespace) -> str:
    """Return the command that makes the same report again."""
    words = ["orthostream", "reproduce", *options.names, "--seed", str(options.seed)]
    words += ["--quick"] if options.quick else []
    words += ["--simulated"] if options.simulated else []
    words += ["--data", str(options.data)] if options.data is not None else []
    return shlex.join([*words, *(word for name in options.without for word in ("--without", name))])


def _summary(done: Reproduction) -> str:
    from orthostream.experiments import Verdict
    from orthostream.experiments.outcome import distinct_claims

    lines = [f"note: {note}" for note in done.notes]
    for outcome, claims in distinct_claims(done.outcomes):
        lines.append(f"\n{outcome.title}")
        for claim in claims:
            mark = {Verdict.AGREES: "=", Verdict.BETTER: "+", Verdict.DIFFERS: "!"}.get(claim.verdict, " ")
            lines.append(f"  {mark} {claim.statement}: paper {claim.paper}; ours {claim.ours}")
    lines.append(f"\n= agrees, + better, ! differs, without a mark: not comparable; {done.seconds / 60:.1f} minutes")
    named = {path.name: path for path in done.files}
    lines += [f"numbers: {named['results.json']}", f"report:  {named['report.html']}"]
    return "\n".join(lines)
