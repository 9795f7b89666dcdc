"""Bits per reading at a guaranteed error, and speed, beside other compressors."""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

from .compression_case import NAME, Case, CaseResult, cases
from .compression_figure import draw
from .compression_ours import FRAMES, PaperMode, our_result, speeds, warm_up
from .compression_peers import PEERS, best_result, result_of
from .compression_report import report
from .compression_rmse import points, report_rmse, rmse_records
from .measure import Record, say, table, write_json

#: Samples in a frame where one way of ours has to stand for all: what the figure draws.
_SHOWN = 6


class Effort(NamedTuple):
    """How much is run."""

    rows: int | None = None
    """Of each source; None takes all."""
    curve: bool = True
    """Whether the figure has more bounds than the tables."""
    repeat: int = 2
    """Of our own runs, which are all the same but for the time that they take."""


FULL = Effort()
QUICK = Effort(rows=1000, curve=False, repeat=1)


def run(options: argparse.Namespace) -> list[Record]:
    """Measure, print tables, and return the records."""
    effort = QUICK if options.quick else FULL
    found, missing = cases(effort.rows)
    records: list[Record] = []
    speed: list[Record] = []
    papers = {case.source.name: PaperMode(case) for case in found}
    settings: dict[str, dict[str, Any]] = {}
    if found:
        warm_up(found[0])
        speed = _speeds(found[0], effort)
    for case in found:
        records += _results(case, papers[case.source.name], settings, effort, quick=options.quick)
    if found:
        print(report(records), flush=True)
    by_rmse = _by_rmse(found, papers, quick=options.quick)
    if by_rmse:
        print(report_rmse(by_rmse), flush=True)
    curve = _curve(found, settings) if effort.curve else []
    papers_curve = [
        record
        for name, paper in papers.items()
        for result in paper.results.values()
        for record in _records(paper.case, result, f"{name} {result.configuration}")
    ]
    records += speed + by_rmse + curve + papers_curve
    for line in missing:
        print(f"\n{line}")
    if options.json:
        write_json(records, options.json)
        print(f"\nrecords: {options.json}")
    if options.figure and records:
        draw(records, options.figure)
        print(f"figure: {options.figure}")
    return records


def _speeds(case: Case, effort: Effort) -> list[Record]:
    """Measure and print how fast ours is, with and without what is optional."""
    rows = speeds(case, repeat=effort.repeat + 1)
    title = (
        f"samples of {case.rows.shape[1]} sensors per second, {case.setting}, frames of 24, best of {effort.repeat + 1}"
    )
    cells = [(what, [f"{encoded:,.0f}", f"{decoded:,.0f}"]) for what, encoded, decoded in rows]
    print(table(title, "ours", ["encoded", "decoded"], cells) + "\n", flush=True)
    return [
        Record(NAME, f"ours, {what}", case.setting, f"{way}_samples_per_second", value)
        for what, encoded, decoded in rows
        for way, value in (("encoded", encoded), ("decoded", decoded))
    ]


def _results(
    case: Case, paper: PaperMode, settings: dict[str, dict[str, Any]], effort: Effort, *, quick: bool
) -> list[Record]:
    """Return what everybody needs under one bound; keep the settings that were found for the bounds of the figure."""
    say(f"{case.setting}: {case.rows.shape[0]} rows of {case.rows.shape[1]} sensors ...")
    results = [our_result(case, size, repeat=effort.repeat) for size in FRAMES]
    for result in results:
        _tell(case, result)
    for peer in PEERS:
        best = best_result(peer, case, quick=quick)
        settings.setdefault(case.source.name, {})[peer.name] = best.setting
        results.append(best.result)
        _tell(case, best.result)
    shown = results[FRAMES.index(_SHOWN)]
    # Where ours has no error at all, that of rounding to the sensor's own resolution is asked for.
    asked = max(shown.quality.rmse, case.source.grid / math.sqrt(12.0))
    matched = paper.within(asked)
    _tell(paper.case, matched)
    records = [record for result in results for record in _records(case, result, case.setting)]
    records += _records(paper.case, matched, case.setting)
    return [*records, Record(NAME, matched.method, case.setting, "rmse_asked", asked)]


def _tell(case: Case, result: CaseResult) -> None:
    bits = 8.0 * result.n_bytes / case.observed.sum()
    say(f"  {result.method}: {bits:.3f} bits" + (f" ({result.configuration})" if result.configuration else ""))


def _records(case: Case, result: CaseResult, setting: str) -> list[Record]:
    observed = float(case.observed.sum())
    values = {
        "bits_per_reading": 8.0 * result.n_bytes / observed,
        "bits_per_reading_with_mask": 8.0 * result.n_bytes_with_mask / observed,
        "bits_per_cell": 8.0 * result.n_bytes / case.rows.size,
        "largest_error": result.quality.largest_error,
        "violations": result.quality.violations,
        "rmse": result.quality.rmse,
    }
    if result.encode_seconds > 0.0:
        values["encoded_readings_per_second"] = observed / result.encode_seconds
        values["decoded_readings_per_second"] = observed / result.decode_seconds
    if result.configuration.startswith("eta0 "):
        values["eta0"] = float(result.configuration.split()[1])
        # The paper's mode promises no bound that could be broken.
        del values["violations"]
    return [Record(NAME, result.method, setting, metric, value) for metric, value in values.items()]


def _by_rmse(found: list[Case], papers: dict[str, PaperMode], *, quick: bool) -> list[Record]:
    records = []
    for case in {case.source.name: case for case in found}.values():
        for rmse in case.source.rmses:
            records += rmse_records(case, rmse, points(case, rmse, papers[case.source.name], quick=quick))
    return records


def _curve(found: list[Case], settings: dict[str, dict[str, Any]]) -> list[Record]:
    """Return more bounds for the figure; each peer keeps the setting that was best at the last bound of the tables."""
    records = []
    for last in {case.source.name: case for case in found}.values():
        for bound in last.source.curve:
            case = last._replace(bound=bound)
            say(f"{case.setting}, for the figure ...")
            results = [our_result(case, _SHOWN)]
            results += [result_of(peer, case, settings[case.source.name][peer.name]) for peer in PEERS]
            records += [record for result in results for record in _records(case, result, case.setting)]
    return records
