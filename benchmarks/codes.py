"""How well other people's data are coded with k coefficients, each mini-batch with what was learnt before it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.datasets.data_folder import DataFolderError
from orthostream.dictionary.youth import YOUTH

from .causal_codes import FACTORS, Coded, coded, forgetting
from .codes_methods import BEST, DEFAULT, FORGETTING, METHODS, PAPER, PURSUIT, Method
from .codes_report import GROWN_UP, NAME, draw, report
from .measure import Record, best_time, say, write_json
from .real_streams import AIRLY, NOAA, digits, patches, whole_sensor_rows

#: Rows that are learnt from before the first code: enough for a first buffer of every stream.
FIRST = 150
COUNTS = (2, 4, 8, 16, 35)
#: Rows of Airly that the paper's protocol does not use either.
UNUSED = 4000


class Effort(NamedTuple):
    """How much is run."""

    starts: int = 5
    pursuit_starts: int = 3
    """Starts of the slowest method, which begins with singular vectors of the first rows and hardly varies."""
    factors: tuple[float, ...] = (*FACTORS, 1.0)
    streams: tuple[str, ...] | None = None
    """None is all of them."""
    rows: int = 6000
    """Rows of a stream at most."""


FULL = Effort()
QUICK = Effort(2, 1, (0.9, 0.95, 0.98, 1.0), ("Airly temperature", "china, without mean", "digits"), 1200)


class Source(NamedTuple):
    """A stream, before it is loaded."""

    name: str
    load: Callable[[], FloatArray]
    batch: int
    is_picture: bool = False


SOURCES = (
    *(Source(name, lambda name=name: whole_sensor_rows(name)[UNUSED:], 6) for name in AIRLY),
    Source(NOAA, partial(whole_sensor_rows, NOAA), 6),
    *(
        Source(
            f"{photograph}{', without mean' if bare else ''}", partial(patches, photograph, without_mean=bare), 10, True
        )
        for photograph in ("china", "flower")
        for bare in (False, True)
    ),
    Source("digits", digits, 10, True),
)


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    began = time.perf_counter()
    records: list[Record] = []
    missing: list[str] = []
    for source in SOURCES:
        if effort.streams is not None and source.name not in effort.streams:
            continue
        try:
            rows = source.load()[: effort.rows]
        except (DataFolderError, ImportError) as error:
            missing.append(f"{source.name} is left out: {' '.join(str(error).split())}")
            continue
        records += _measure(source, rows, effort)
    text, goals = report(records)
    records += goals
    print("\n\n".join([text, *missing]))
    say(f"{time.perf_counter() - began:.0f} s")
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure:
        draw(records, options.figure)
        print(f"figure: {options.figure}")
    return records


def _measure(source: Source, rows: FloatArray, effort: Effort) -> list[Record]:
    size = rows.shape[1]
    counts = [count for count in COUNTS if count < size]
    say(f"{source.name}: {len(rows)} rows of {size} readings ...")
    first, test = rows[:FIRST], rows[FIRST:]
    begin = [first[i : i + source.batch] for i in range(0, FIRST, source.batch)]
    found: dict[str, list[Coded]] = {}
    product = _product(size)
    for method in METHODS:
        product = min(product, _product(size))  # the machine may be busy at any one moment
        starts = _starts(method, effort)
        found[method.name] = []
        for seed in range(starts):
            coder = method.make(seed, first, source.is_picture)
            for some in [first] if method.from_buffer else begin:
                coder.learn(some)
            found[method.name].append(coded(coder, test, counts, source.batch))
        if method.name == PAPER:
            tried = forgetting({*effort.factors, 0.95}, begin, test, counts, source.batch)
            best = np.min([one.errors for one in tried.values()], axis=0)
            found[BEST] = [Coded(best, min(one.seconds for one in tried.values()))]
            found[FORGETTING] = [tried[0.95]]
    grown_up = FIRST + len(test) // 2 > YOUTH * size
    return [
        *_records(source, found, counts, product),
        Record(NAME, DEFAULT, source.name, GROWN_UP, float(grown_up)),
    ]


def _starts(method: Method, effort: Effort) -> int:
    if not method.is_random:
        return 1
    return effort.pursuit_starts if method.name == PURSUIT else effort.starts


def _product(size: int) -> float:
    a = np.random.default_rng(0).standard_normal((size, size))
    return best_time(partial(np.matmul, a, a, out=np.empty_like(a)), repeat=20, least_seconds=0.005)


def _records(source: Source, found: dict[str, list[Coded]], counts: list[int], product: float) -> list[Record]:
    records = []
    for method, starts in found.items():
        errors = np.array([one.errors for one in starts])
        for count, middle, worst in zip(counts, np.median(errors, axis=0), errors.max(axis=0), strict=True):
            setting = f"{source.name} k={count}"
            records.append(Record(NAME, method, setting, "relative_rmse_percent", float(middle)))
            records.append(Record(NAME, method, setting, "worst_relative_rmse_percent", float(worst)))
        steps = min(one.seconds for one in starts) / product
        records.append(Record(NAME, method, source.name, "products_per_step", steps))
    return records
