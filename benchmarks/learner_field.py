"""A step of the default learner on real streams and in all layouts, beside a two-SVD loop: `bench learner --field`.

The machine is never quiet, so all methods of a setting take turns, a chunk of steps each, on the same mini-batches.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from orthostream import OrthogonalDictionaryLearning
from orthostream._compile import can_compile, without_numba

from .learner_field_goals import FAST, LOOP, NAME, OURS, report
from .learner_field_streams import PHOTOGRAPH, PLAIN_LAYOUT, SYNTHETIC, TEMPERATURE, Stream, cut, layouts, streams
from .learner_field_streams import synthetic as synthetic_rows
from .measure import Record, best_time, grown_up, say, write_json
from .two_svd_loop import TwoSVDLoop

#: Steps of a chunk, and chunks that are dropped: 200 steps.
CHUNK, DROPPED = 20, 10


class Effort(NamedTuple):
    """How much is run."""

    batches: tuple[int, ...] = (6, 64)
    atoms: tuple[int | None, ...] = (None, 20, 8)
    """Numbers of atoms; None is the number of features."""
    seconds: float = 1.5
    """Time of a method in a setting, after the chunks that are dropped; at least three chunks are timed."""
    chunks: int = 200
    """Chunks of a method in a setting that are timed at most."""
    streams: tuple[str, ...] | None = None
    """None is all of them."""


FULL = Effort()
QUICK = Effort(batches=(6,), atoms=(None, 8), seconds=0.3, chunks=20, streams=(TEMPERATURE, PHOTOGRAPH))


class Method(NamedTuple):
    """A function that takes one step, its mini-batches, and a context to run it in."""

    step: Callable[[Any], Any]
    batches: Sequence[Any]
    context: Callable[[], AbstractContextManager[None]] = nullcontext


class Timing(NamedTuple):
    """Seconds of a step: in the best chunk, and in the chunk in the middle."""

    best: float
    median: float


def run_field(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    began = time.perf_counter()
    found, missing = streams()
    found = [s for s in found if effort.streams is None or s.name in effort.streams]
    records: list[Record] = []
    for stream in found:
        for batch in effort.batches:
            for atoms in effort.atoms:
                records += _measure(stream, batch, atoms or stream.rows.shape[1], effort)
    samples = {s.name: s.rows for s in found if s.name == TEMPERATURE} | {SYNTHETIC: synthetic_rows()}
    if TEMPERATURE not in samples:
        missing.append(f"layouts of {TEMPERATURE} are left out, as the stream is.")
    for name, rows in samples.items():
        part, absent = _measure_layouts(name, rows, effort)
        records += part
        missing += [line for line in absent if line not in missing]
    if not can_compile():
        missing.append("[fast] is left out: Numba is not installed or turned off; layouts are those of plain NumPy.")
    text, goals = report(_with_products(records))
    records = _with_products(records) + goals
    print("\n\n".join([text, *missing]))
    say(f"{time.perf_counter() - began:.0f} s")
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    return records


def interleaved(methods: Mapping[str, Method], seconds: float, chunks: int) -> dict[str, Timing]:
    """Return the time of a step of each method; they take turns, and a stream that ends begins again."""
    times: dict[str, list[float]] = {name: [] for name in methods}
    left = seconds * len(methods)
    for chunk in range(DROPPED + chunks):
        for name, method in methods.items():
            first = chunk * CHUNK
            batches = [method.batches[i % len(method.batches)] for i in range(first, first + CHUNK)]
            step = method.step
            with method.context():
                start = time.perf_counter()
                for rows in batches:
                    step(rows)
                taken = time.perf_counter() - start
            if chunk >= DROPPED:
                times[name].append(taken / CHUNK)
                left -= taken
        if left <= 0.0 and chunk >= DROPPED + 2:
            break
    return {name: Timing(min(found), float(np.median(found))) for name, found in times.items()}


def _measure(stream: Stream, batch: int, atoms: int, effort: Effort) -> list[Record]:
    size = stream.rows.shape[1]
    setting = f"{stream.name}, N={size} B={batch} K={atoms}"
    say(f"{setting} ...")
    batches = cut(stream.rows, batch)
    loop = TwoSVDLoop(size, atoms)
    methods = {LOOP: Method(loop.step_with_gaps if np.isnan(stream.rows).any() else loop.step, batches)}
    methods[OURS] = Method(_learner(atoms, batches[0]).partial_fit, batches, without_numba)
    if can_compile():
        methods[FAST] = Method(_learner(atoms, batches[0]).partial_fit, batches)
    times = interleaved(methods, effort.seconds, effort.chunks)
    records = [Record(NAME, "one N x N product", setting, "seconds", _product(size))]
    for name, taken in times.items():
        records += _seconds(name, setting, taken)
        if name != LOOP:
            records.append(Record(NAME, name, setting, "ratio_to_loop", taken.best / times[LOOP].best))
            records.append(Record(NAME, name, setting, "median_ratio_to_loop", taken.median / times[LOOP].median))
    return records


def _measure_layouts(name: str, rows: Any, effort: Effort, batch: int = 6) -> tuple[list[Record], list[str]]:
    size = rows.shape[1]
    setting = f"layouts of {name}, N={size} B={batch} K={size}"
    say(f"{setting} ...")
    found, missing = layouts(rows, batch)
    methods = {layout: Method(_learner(size, batches[0]).partial_fit, batches) for layout, batches in found.items()}
    times = interleaved(methods, effort.seconds, effort.chunks)
    plain = times[PLAIN_LAYOUT]
    records = []
    for layout, taken in times.items():
        records += _seconds(layout, setting, taken)
        records.append(Record(NAME, layout, setting, "ratio_to_c_float64", taken.best / plain.best))
        records.append(Record(NAME, layout, setting, "median_ratio_to_c_float64", taken.median / plain.median))
    return records, missing


def _learner(atoms: int, first: Any) -> Any:
    return grown_up(OrthogonalDictionaryLearning(n_components=atoms, random_state=0), first)


def _seconds(method: str, setting: str, taken: Timing) -> list[Record]:
    return [
        Record(NAME, method, setting, "seconds_per_step", taken.best),
        Record(NAME, method, setting, "median_seconds_per_step", taken.median),
    ]


def _product(size: int) -> float:
    a = np.random.default_rng(0).standard_normal((size, size))
    return best_time(partial(np.matmul, a, a, out=np.empty_like(a)), repeat=20, least_seconds=0.005)


def _with_products(records: list[Record]) -> list[Record]:
    """Return the records and the steps in products; a product counts as the fastest of its size in the whole run."""
    least: dict[str, float] = {}
    for r in records:
        if r.metric == "seconds":
            size = _size(r.setting)
            least[size] = min(least.get(size, np.inf), r.value)
    more = [
        Record(NAME, r.method, r.setting, "products_per_step", r.value / least[_size(r.setting)])
        for r in records
        if r.metric == "seconds_per_step" and _size(r.setting) in least
    ]
    return records + more


def _size(setting: str) -> str:
    return next(word for word in setting.split() if word.startswith("N="))
