"""`orthostream bench`: compare with other libraries in one run."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from orthostream.cli.arguments import count_argument
from orthostream.cli.errors import UserError

_PACKAGED = Path(__file__).parents[1] / "_benchmarks"
_CHECKOUT = Path(__file__).parents[3]

#: Each benchmark and what it measures.
BENCHMARKS = {
    "codes": "how well real data are coded with few coefficients, beside other dictionaries",
    "components": "how close and how sparse principal components are found, and at what cost",
    "compression": "bits per reading at a guaranteed error, and speed, beside other compressors",
    "files": "time and peak memory of compressing and decompressing large files",
    "learner": "time per mini-batch of the dictionary learner and of its peers",
    "link": "bytes on the wire beside other formats, cost of restarts, load, and faults of edge and cloud",
    "novelty": "how well novel documents are found, beside other detectors, at what cost, and how well atoms read",
    "recovery": "how fast and how exactly a fixed dictionary is recovered",
    "tracking": "how well a dictionary that drifts or jumps is followed",
}

#: By benchmark: an option that chooses other streams, what they are called, and the options that need it.
_BELONGS = {
    "compression": ("field", "streams of many kinds", ("split", "seed", "only")),
    "link": ("faults", "faults", ("seconds",)),
    "recovery": ("adverse", "hard streams", ("seeds", "only", "trials")),
}


def add_parser(commands: Any) -> None:
    """Add the sub-command, with a sub-command of its own for each benchmark."""
    parser = commands.add_parser("bench", help="compare with other libraries", description=__doc__)
    names = parser.add_subparsers(title="benchmarks", required=True, metavar="NAME")
    for name, what in BENCHMARKS.items():
        benchmark = names.add_parser(name, help=what, description=what)
        benchmark.add_argument("--json", type=Path, metavar="FILE", help="also write all numbers to a JSON file")
        benchmark.add_argument("--figure", type=Path, metavar="FILE", help="also draw a picture (PNG or SVG)")
        benchmark.add_argument("--quick", action="store_true", help="fewer settings, shorter streams")
        if name == "learner":
            what = "real streams and all layouts of rows instead, beside a two-SVD loop (6 minutes)"
            benchmark.add_argument("--field", action="store_true", help=what)
        if name == "compression":
            _add_field(benchmark)
        if name == "recovery":
            _add_adverse(benchmark)
        if name == "link":
            _add_faults(benchmark)
        if name == "novelty":
            _add_novelty(benchmark)
        benchmark.set_defaults(run=run, benchmark=name)


def _add_field(benchmark: argparse.ArgumentParser) -> None:
    """Add the options of the streams of many kinds."""
    what = "sixty streams of many kinds instead, most of them simulated (15 minutes)"
    benchmark.add_argument("--field", action="store_true", help=what)
    what = "with --field: the streams; constants are chosen on tune (default: report)"
    benchmark.add_argument("--split", choices=("tune", "report", "all"), help=what)
    what = "with --field: another realisation of the simulated streams (default: 0)"
    benchmark.add_argument("--seed", type=int, metavar="N", help=what)
    what = "with --field: only streams with one of these words in their name"
    benchmark.add_argument("--only", metavar="WORD[,WORD]", help=what)


def _add_adverse(benchmark: argparse.ArgumentParser) -> None:
    """Add the options of the hard streams."""
    what = "more than sixty hard streams instead, beside the paper's algorithm"
    benchmark.add_argument("--adverse", action="store_true", help=what)
    what = "with --adverse: the family of seeds; constants are chosen on tune (default: report)"
    benchmark.add_argument("--seeds", choices=("tune", "report"), help=what)
    what = "with --adverse: only streams with one of these words in their name"
    benchmark.add_argument("--only", metavar="WORD[,WORD]", help=what)
    what = "with --adverse: trials of each stream (default: 20)"
    benchmark.add_argument("--trials", type=count_argument, metavar="N", help=what)


def _add_faults(benchmark: argparse.ArgumentParser) -> None:
    """Add the options of the link."""
    parts = ("wire", "restarts", "load", "kills", "cuts", "schedules", "damage")
    benchmark.add_argument("--only", choices=parts, help="only this part; the last four with --faults")
    what = "kill edge, cloud and broker, lose messages and damage files instead, and look for lost readings"
    benchmark.add_argument("--faults", action="store_true", help=what)
    what = "with --faults: seconds that processes are killed for, in each setting (default: 120)"
    benchmark.add_argument("--seconds", type=count_argument, metavar="N", help=what)


def _add_novelty(benchmark: argparse.ArgumentParser) -> None:
    """Add the options of novel documents."""
    parts = ("order", "introduced", "atoms", "throughput", "history")
    benchmark.add_argument("--only", choices=parts, help="only this part")
    what = "the half of the topics that is held back; constants are chosen on tune (default: report)"
    benchmark.add_argument("--split", choices=("tune", "report", "all"), help=what)


def run(options: argparse.Namespace) -> int:
    """Run a benchmark with one BLAS thread; return the exit code."""
    for path in (options.json, options.figure):
        if path is not None and not path.parent.is_dir():
            raise UserError(f"there is no folder {path.parent} to write {path.name} to")
    mode, streams, names = _BELONGS.get(options.benchmark, ("", "", ()))
    for name in names:
        if not getattr(options, mode, False) and getattr(options, name, None) is not None:
            raise UserError(f"--{name} belongs to the {streams}: add --{mode}")
    if options.figure is not None:
        for mode in ("field", "adverse", "faults"):
            if getattr(options, mode, False):
                raise UserError(f"--{mode} draws no picture: leave out --figure")
        if options.figure.suffix not in (".png", ".svg", ".pdf"):
            raise UserError(f"--figure must end in .png, .svg or .pdf, got {options.figure.name}")
        if importlib.util.find_spec("matplotlib") is None:
            raise UserError("--figure needs matplotlib: pip install 'orthostream[bench]'")
    from orthostream.optimize.threads import one_blas_thread

    in_field = options.benchmark == "compression" and getattr(options, "field", False)
    benchmark = _load("compression_field" if in_field else options.benchmark)
    with one_blas_thread():
        found = benchmark.run(options)
    # Some benchmarks return their records.
    return found if isinstance(found, int) else 0


def _load(name: str) -> ModuleType:
    if (_PACKAGED / f"{name}.py").is_file():
        package = "orthostream._benchmarks"
    elif (_CHECKOUT / "benchmarks" / f"{name}.py").is_file():
        package = "benchmarks"
        sys.path.insert(0, str(_CHECKOUT))
    else:
        raise UserError("the benchmarks are not installed; run from a checkout of the project")
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:
        raise UserError(f"this benchmark needs {error.name}: pip install 'orthostream[bench]'") from error
