"""The link: bytes on the wire beside other formats, what restarts cost, load, and faults."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from collections.abc import Callable

from orthostream.cli.errors import UserError

from .link_figure import draw
from .link_restarts import is_cheap, run_restarts
from .link_wire import run_wire
from .measure import Record, say, write_json


def run(options: argparse.Namespace) -> int:
    """Run all parts, or one of them, and print their tables; return the exit code."""
    parts = ("kills", "cuts", "schedules", "damage") if options.faults else ("wire", "restarts", "load")
    if options.only not in (None, *parts):
        raise UserError(f"{'with' if options.faults else 'without'} --faults, --only is one of {', '.join(parts)}")
    try:
        return _run(options)
    except ImportError as error:
        raise UserError(str(error)) from error


def _run(options: argparse.Namespace) -> int:
    if options.faults:
        run_faults = _part("link_faults", "run_faults")
        return run_faults(options) if run_faults is not None else 0
    parts = (options.only,) if options.only else ("wire", "restarts", "load")
    records: list[Record] = []
    code = 0
    if "wire" in parts:
        records += run_wire(quick=options.quick)
    if "restarts" in parts:
        restarts = run_restarts(quick=options.quick)
        records += restarts
        code |= int(not is_cheap(restarts))
    if options.json and records:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure and "wire" in parts:
        draw(records, options.figure)
        print(f"figure: {options.figure}")
    if "load" in parts:
        code |= _load(options, apart=bool(records))
    return code


def _load(options: argparse.Namespace, *, apart: bool) -> int:
    """Run the load; its records are of another kind, and go to a file of their own where there are others."""
    run_load = _part("link_load", "run_load")
    if run_load is None:
        return 0
    path = options.json
    if path is not None and apart:
        path = path.with_name(f"{path.stem}-load{path.suffix}")
    print()
    return run_load(argparse.Namespace(**vars(options) | {"json": path}))


def _part(module: str, function: str) -> Callable[[argparse.Namespace], int] | None:
    """Return a function of another module of this package; None, and a word about it, if it is not there."""
    name = f"{__package__}.{module}"
    if importlib.util.find_spec(name) is None:
        say(f"{module} is not installed: left out")
        return None
    found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(name), function)
    return found
