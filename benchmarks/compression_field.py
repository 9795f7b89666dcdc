"""Many kinds of streams, ours beside other compressors: `orthostream bench compression --field`."""

from __future__ import annotations

import argparse
import time

import numpy as np

from orthostream.cli.errors import UserError

from .field.framed import best_framed
from .field.ours import framed, whole_file
from .field.report import report
from .field.row import WAYS, Row, mode, records
from .field.stream import REPORT, Stream
from .field.streams import names, streams
from .field.whole import best_peer
from .measure import Record, say, write_json

#: Frames that are sent, at most.
FRAMES = 1000
#: With --quick: the streams, and the frames.
QUICK_STREAMS, QUICK_FRAMES = "eight switches,Kelvin,weather station,ozone", 50


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print the tables, and return the records."""
    began = time.perf_counter()
    only = options.only or (QUICK_STREAMS if options.quick else None)
    split = options.split or REPORT
    for word in only.split(",") if only else ():
        if not word.strip() or not any(word.strip().lower() in name for name in names(split)):
            raise UserError(f"--only: no stream has {word.strip()!r} in its name; --split is {split}")
    found, missing = streams(split, seed=options.seed or 0, only=only, quick=options.quick)
    if not found:
        raise UserError(" ".join(missing))
    rows: list[Row] = []
    for number, stream in enumerate(found, start=1):
        start = time.perf_counter()
        new = measure(stream, quick=options.quick)
        rows += new
        ratios = " ".join(f"{row.ratio:.2f}" for row in new)
        say(f"{number} of {len(found)}, {stream.name}: {ratios}; {time.perf_counter() - start:.0f} s")
    rows.sort(key=lambda row: (row.lossless, row.way))
    print(report(rows), flush=True)
    for line in missing:
        print(f"\n{line}")
    say(f"{time.perf_counter() - began:.0f} s")
    measured = [record for row in rows for record in records(row)]
    if options.json:
        write_json(measured, options.json)
        print(f"\nrecords: {options.json}")
    return measured


def measure(stream: Stream, *, quick: bool = False) -> list[Row]:
    """Return the rows of a stream: at its bound and lossless, in every way."""
    return [measure_row(stream, way, lossless=lossless, quick=quick) for lossless in (False, True) for way in WAYS]


def measure_row(stream: Stream, way: int, *, lossless: bool, quick: bool = False) -> Row:
    """Compress by ours and by all peers; all that counts is decoded again."""
    if way:
        stream = stream._replace(rows=stream.rows[: way * (QUICK_FRAMES if quick else FRAMES)])
        mine = framed(stream, way, lossless=lossless)
        peer = best_framed(stream, way, lossless=lossless, quick=quick)
    else:
        mine = whole_file(stream, lossless=lossless)
        peer = best_peer(stream, lossless=lossless, quick=quick)
    readings = int((~np.isnan(stream.rows)).sum())
    if not mine.kept:
        say(f"  {stream.name}, {mode(lossless, way)}: ours did not come back within the bound")
    return Row(
        stream.name,
        stream.kind,
        stream.simulated,
        readings,
        lossless,
        way,
        8.0 * mine.n_bytes / readings,
        mine.header,
        mine.kept,
        8.0 * peer.n_bytes / readings,
        peer.peer,
        peer.setting,
    )
