"""`orthostream reproduce`: the figures and tables of the paper's section V, as a report and as data."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from orthostream.cli.errors import UserError
from orthostream.cli.progress import ProgressBar
from orthostream.datasets import DataFolderError, load_airly, make_city
from orthostream.experiments import EXPERIMENTS, Plan, Reproduction, SensorReadings, Verdict, reproduce
from orthostream.experiments.methods import DEEP
from orthostream.experiments.outcome import distinct_claims
from orthostream.experiments.output import OutputError
from orthostream.experiments.registry import OPTIONAL
from orthostream.experiments.reproduction import TASKS

_ALL = "all"

#: The hours of the paper's data set.
_HOURS, _SENSORS = 8593, 56


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    what = "\n".join(f"  {name:16s} {experiment.summary}" for name, experiment in EXPERIMENTS.items())
    parser = commands.add_parser(
        "reproduce",
        help="the paper's figures and tables, as a report",
        description=f"{__doc__}\n\nexperiments:\n{what}\n  {_ALL:16s} all of them",
        epilog=f"methods that can be left out: {'; '.join(OPTIONAL)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="+", metavar="EXPERIMENT", help="one or more of those above")
    parser.add_argument("--quick", action="store_true", help="a look in two minutes: few trials, hardly any training")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of everything that is drawn (0)")
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="for the report, which replaces an earlier one there (reproduction, or reproduction-quick)",
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data", type=Path, metavar="FOLDER", help="the Airly data set as Kaggle ships it (or set ORTHOSTREAM_DATA)"
    )
    source.add_argument("--simulated", action="store_true", help="take a simulated city instead of the data set")
    parser.add_argument(
        "--without", action="append", default=[], metavar="METHOD", help=f'leave a method out, such as "{DEEP}"'
    )
    parser.add_argument("--workers", type=int, metavar="K", help="processes (one for each core)")
    parser.add_argument("--fresh", action="store_true", help="forget what an earlier run in the same folder has done")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Check everything, run, write, and say where the report is."""
    names = _names(options.names)
    if options.seed < 0:
        raise UserError("--seed must not be negative")
    if options.workers is not None and options.workers < 1:
        raise UserError("--workers must be at least 1")
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("the report needs matplotlib: pip install 'orthostream[bench]'")
    # Data first: it is the smaller thing to get.
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
        raise KeyboardInterrupt("what is done is kept: the same command goes on from there") from error
    finally:
        bar.close()
    print(_summary(done))
    return 0


def _names(given: list[str]) -> list[str]:
    for name in given:
        if name not in EXPERIMENTS and name != _ALL:
            raise UserError(f"there is no experiment {name!r}; there are {', '.join([*EXPERIMENTS, _ALL])}")
    return [name for name in EXPERIMENTS if name in given or _ALL in given]


def _left_out(options: argparse.Namespace, with_sensors: bool) -> tuple[frozenset[str], list[str]]:
    """Return the methods to leave out, and what the report says about it."""
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
    """Return the readings: those named, those of the environment, or for a quick look a simulated city."""
    named = options.data is not None or bool(os.environ.get("ORTHOSTREAM_DATA"))
    if options.simulated or (options.quick and not named):
        city = make_city(_HOURS, _SENSORS, random_state=options.seed)
        return SensorReadings.of("A simulated city", city, real=False)
    if not named:
        raise UserError(
            "the sensors need the Airly data set (Kaggle: Air quality data from extensive network of sensors): name "
            "its folder with --data or ORTHOSTREAM_DATA, or take --simulated"
        )
    try:
        airly = load_airly(options.data)
    except DataFolderError as error:
        raise UserError(f"{error} Without it: --simulated.") from error
    return SensorReadings.of("Airly network, Krakow 2017", airly, real=True)


def _folder(options: argparse.Namespace) -> Path:
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
    """Return how to get the same report again."""
    words = ["orthostream", "reproduce", *options.names, "--seed", str(options.seed)]
    words += ["--quick"] if options.quick else []
    words += ["--simulated"] if options.simulated else []
    words += ["--data", str(options.data)] if options.data is not None else []
    return shlex.join([*words, *(word for name in options.without for word in ("--without", name))])


def _summary(done: Reproduction) -> str:
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
