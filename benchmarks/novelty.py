"""Novel documents of Reuters-21578: our detector beside others, its atoms beside NMF's, its speed on long streams."""

from __future__ import annotations

import argparse
import time
from typing import Any

from orthostream.cli.errors import UserError
from orthostream.datasets import load_reuters
from orthostream.datasets.data_folder import DataFolderError
from orthostream.experiments.novelty.collection import Collection

from .measure import Record, say, write_json
from .novelty_atoms import measure_atoms
from .novelty_comparison import compare
from .novelty_effort import FULL, QUICK
from .novelty_figure import draw
from .novelty_history import measure_history
from .novelty_throughput import measure_throughput

#: What --only can name.
PARTS = ("order", "introduced", "atoms", "throughput", "history")


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    parts = PARTS if options.only is None else (options.only,)
    began = time.perf_counter()
    reuters = _reuters()
    collection = Collection.of(reuters.texts, reuters.topics, reuters.dates)
    print(
        f"Reuters-21578: {len(collection):,} stories with one topic each, in the order of time, "
        f"{collection.counts.shape[1]:,} distinct words"
    )
    records: list[Record] = []
    result = None
    if "order" in parts or "introduced" in parts:
        result, found = compare(collection, effort, options.split or "report", parts)
        records += found
    if "atoms" in parts:
        records += measure_atoms(collection, effort)
    if "throughput" in parts:
        records += measure_throughput(reuters, effort)
    if "history" in parts:
        records += measure_history(reuters, effort)
    say(f"{time.perf_counter() - began:.0f} s")
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure:
        draw(result, records, options.figure)
        print(f"figure: {options.figure}")
    return records


def _reuters() -> Any:
    try:
        return load_reuters()
    except DataFolderError as error:
        raise UserError(str(error)) from error
