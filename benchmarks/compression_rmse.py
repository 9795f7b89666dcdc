"""Targets by root mean square instead of by maximum: part of `orthostream bench compression`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import zfpy

from orthostream._typing import FloatArray

from . import compression_ours as ours
from .compression_case import NAME, Case, Source, previous, quality, row_mean
from .compression_fields import SHAPES, shaped, sz3_decode, sz3_encode, unshaped
from .measure import Record, say, table

_STEPS = 8


class Point(NamedTuple):
    """A place in the plane of rate and distortion."""

    method: str
    n_bytes: int
    rmse: float
    largest_error: float


def points(case: Case, rmse: float, paper: ours.PaperMode | None, *, quick: bool) -> list[Point]:
    """Return what everybody needs for a root mean square of at most `rmse` over the observed readings."""
    say(f"{case.source.name}, RMSE {rmse:g} ...")
    own = _sent("ours, rmse", case, ours.file(case.rows, rmse=rmse))
    budget = 8.0 * own.n_bytes / case.observed.sum()
    found = [own, _sent("ours, bits_per_reading", case, ours.file(case.rows, bits_per_reading=budget))]

    def run(bound: float) -> Point:
        return _sent("ours, max_error", case, ours.file(case.rows, **ours.bounded(case.source, bound)))

    found.append(widest(run, rmse, 0.5 * rmse, 6.0 * rmse))
    if paper is not None:
        best = paper.within(rmse)
        # As many bytes as it would take for all samples at the same rate.
        n_bytes = round(best.n_bytes * case.observed.sum() / paper.case.observed.sum())
        found.append(Point(paper.method, n_bytes, best.quality.rmse, best.quality.largest_error))
    return [*found, _best(_sz3(case, rmse, quick=quick), rmse), _best(_zfp(case), rmse)]


def _sent(method: str, case: Case, sent: ours.Sent) -> Point:
    found = quality(case, sent.rows)
    return Point(method, sent.n_bytes, found.rmse, found.largest_error)


def widest(run: Callable[[float], Point], rmse: float, low: float, high: float) -> Point:
    """Return the smallest point within the error, of a bisection over what `run` is given.

    >>> point = widest(lambda x: Point("made up", int(1000 / x), x / 2, x), 1.0, 0.1, 10.0)
    >>> 1.9 < point.largest_error <= 2.0
    True
    """
    tried = [run(low)]
    for _ in range(_STEPS):
        middle = float(np.sqrt(low * high))
        tried.append(run(middle))
        low, high = (middle, high) if tried[-1].rmse <= rmse else (low, middle)
    return _best(tried, rmse)


def _best(tried: Sequence[Point], rmse: float) -> Point:
    """Return the smallest of those within the error, or the nearest of those that are not."""
    within = [point for point in tried if point.rmse <= rmse]
    return min(within, key=lambda point: point.n_bytes) if within else min(tried, key=lambda point: point.rmse)


def _sz3(case: Case, rmse: float, *, quick: bool) -> list[Point]:
    """Return a point for each of the most promising settings of SZ3."""
    algorithms = ("Lorenzo", "interpolation + Lorenzo", "linear", "cubic", "Lorenzo + regression", "regression")
    runs = [
        partial(_sz3_point, case, rows, shape, algorithm)
        for rows in (row_mean(case.rows), previous(case.rows))
        for shape in SHAPES
        for algorithm in algorithms
    ]

    def promise(run: Callable[[float], Point]) -> float:
        # A bit more halves the error.
        point = run(1.7 * rmse)
        return 8.0 * point.n_bytes / case.rows.size + float(np.log2(max(point.rmse, 1e-3 * rmse)))

    best = sorted(runs, key=promise)[: 2 if quick else 5]
    return [widest(run, rmse, 0.5 * rmse, 6.0 * rmse) for run in best]


def _sz3_point(case: Case, rows: FloatArray, shape: str, algorithm: str, bound: float) -> Point:
    field = shaped(rows, shape)
    body = sz3_encode(field, algorithm, bound)
    return _closest("SZ3", case, len(body), unshaped(sz3_decode(body, 64, field.shape), shape, rows.shape))


def _zfp(case: Case) -> list[Point]:
    options = [{"tolerance": 2.0**power} for power in range(-4, 12)] + [{"precision": bits} for bits in range(4, 24)]
    found = []
    for rows in (row_mean(case.rows), previous(case.rows)):
        for shape in SHAPES[:2]:
            for option in options:
                body = zfpy.compress_numpy(shaped(rows, shape), **option)
                decoded = unshaped(zfpy.decompress_numpy(body), shape, rows.shape)
                found.append(_closest("zfp", case, len(body), decoded))
    return found


def _closest(method: str, case: Case, n_bytes: int, decoded: FloatArray) -> Point:
    """Return a point with readings as they came back, or rounded to the grid, whichever is closer."""
    grid = case.source.grid
    found = min((quality(case, rows) for rows in (decoded, np.rint(decoded / grid) * grid)), key=lambda q: q.rmse)
    return Point(method, n_bytes, found.rmse, found.largest_error)


def rmse_setting(source: Source, rmse: float) -> str:
    """Return a target as records name it."""
    return f"{source.name} RMSE {rmse:g} {source.unit}"


def rmse_records(case: Case, rmse: float, found: Sequence[Point]) -> list[Record]:
    """Return points as records."""
    setting = rmse_setting(case.source, rmse)
    records = []
    for point in found:
        bits = 8.0 * point.n_bytes / float(case.observed.sum())
        for metric, value in (
            ("bits_per_reading", bits),
            ("rmse", point.rmse),
            ("largest_error", point.largest_error),
        ):
            records.append(Record(NAME, point.method, setting, metric, float(value)))
    return records


def report_rmse(records: Sequence[Record]) -> str:
    """Return a table of bits, and of the error that was reached where it is not the target."""
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    settings = list(dict.fromkeys(r.setting for r in records))
    methods = list(dict.fromkeys(r.method for r in records))
    rows = []
    for setting in settings:
        target = float(setting.split()[-2])
        there = [m for m in methods if (m, setting, "bits_per_reading") in values]
        held = [m for m in there if values[m, setting, "rmse"] <= target and m != "ours, bits_per_reading"]
        least = min((values[m, setting, "bits_per_reading"] for m in held), default=np.inf)
        cells = []
        for method in methods:
            if method not in there:
                cells.append("-")
                continue
            bits, reached = (values[method, setting, metric] for metric in ("bits_per_reading", "rmse"))
            mark = "*" if method in held and bits == least else " "
            cells.append(f"{bits:.3f}{mark} ({reached:.3g})")
        rows.append((setting, cells))
    title = (
        "\nbits per observed reading at a root mean square error, and in brackets the error that was reached; * is the"
        "\nsmallest within the target. bits_per_reading is given what rmse took; peers fill gaps, and pay no mask"
    )
    return table(title, "", methods, rows)
