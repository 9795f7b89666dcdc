"""Which detector finds novel documents: the tables of `orthostream bench novelty`, and what they say about ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from orthostream.experiments import DateOrder, IntroducedTopics, NoveltyMethod, novelty_protocol
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.estimate import Estimate
from orthostream.experiments.novelty.method_table import METHODS, OURS
from orthostream.experiments.novelty.novelty_record import FALSE_ALARM, NoveltyRecord
from orthostream.experiments.novelty.novelty_result import NoveltyResult
from orthostream.experiments.novelty.trial import NoveltyTrials

from .measure import Record, say, table
from .novelty_effort import DEFAULT, SLOWEST, Effort
from .novelty_verdict import verdict

NAME = "novelty"
GROUP = 1000
#: How far the AUC of the default may be below the best rival's, and how much faster it should be.
AUC_LIMIT, SPEED_LIMIT = 0.01, 2.0
_CURVE_POINTS = (0.001, 0.01, 0.1)

_HOW = """\
Blocks of 100 documents (of 1,000 in groups) are scored, then learnt. All methods weight terms by the past only, with
the same weights, but for the paper preset. Mean and half of its 95 % interval: over seeds, which draw the introduced
topics, their times and what methods draw; the topics are drawn from the same few, so that it says nothing about other
ones. "Over topics": all topics drawn with replacement. AP: average precision. C_min: the least of P_miss + 4.9
P_false_alarm, 1 for flagging nothing. Documents/s: scored, learnt and weighted, one thread, processor time, median of
the seeds. Peak MB: above a process that holds the collection. First story scores a block before it learns it, as all
others; in use it also compares with earlier documents of its block, in half the time."""

_SPLITS = {"tune": "tune half", "report": "report half", "all": "all"}
_OUR_NAMES = tuple(method.name for method in OURS)


def compare(
    collection: Collection, effort: Effort, split: str, parts: Sequence[str]
) -> tuple[NoveltyResult, list[Record]]:
    """Run all methods in all settings, print tables and verdicts, and return the records."""
    protocols: list[NoveltyTrials] = []
    if "order" in parts:
        protocols += [DateOrder(), DateOrder(group=GROUP)]
    if "introduced" in parts:
        protocols.append(IntroducedTopics(n_topics=effort.n_topics, split=split))
    methods = [method for method in METHODS if effort.methods is None or method.name in effort.methods]
    print(f"\n{_HOW}")
    result = NoveltyResult([])
    for place, protocol in enumerate(protocols):
        found = _run(collection, protocol, methods, effort, measure_memory=effort.measure_memory and place == 0)
        result = result.joined(found)
        print(f"\n{_title(protocol, collection, effort)}\n\n{found}", flush=True)
    print(f"\n{_differences(result)}\n\n" + "\n".join(_verdicts(result)))
    return result, [record for one in result.records for record in _flat(one)]


def _run(
    collection: Collection,
    protocol: NoveltyTrials,
    methods: Sequence[NoveltyMethod],
    effort: Effort,
    *,
    measure_memory: bool,
) -> NoveltyResult:
    """Run the slowest rival on fewer seeds than the others; keep the order of the methods."""
    found = NoveltyResult([])
    usual = effort.seeds if protocol.is_random else effort.order_seeds
    for method in methods:
        seeds = range(effort.slow_seeds if method.name == SLOWEST else usual)
        found = found.joined(
            novelty_protocol(
                collection.counts,
                collection.topics,
                protocol=protocol,
                methods=[method],
                seeds=seeds,
                measure_memory=measure_memory,
                progress=say,
            )
        )
    return found


def _title(protocol: NoveltyTrials, collection: Collection, effort: Effort) -> str:
    if isinstance(protocol, IntroducedTopics):
        there = len(protocol.can_be_held_back(collection))
        slowest = f", of the {SLOWEST} {effort.slow_seeds}" if effort.methods is None else ""
        return (
            f"Introduced topics: {protocol.n_topics} of {there} ({_SPLITS[protocol.split]}) appear at known times; "
            f"novel are the first n documents of each\n{effort.seeds} seeds{slowest}"
        )
    assert isinstance(protocol, DateOrder)
    if protocol.group == 1:
        return "Order of time: novel is the first document of each topic"
    return f"Order of time in groups of {protocol.group:,}: novel are documents whose topic is in no earlier group"


def _rivals(result: NoveltyResult, setting: str) -> dict[str, float]:
    """Return by how much the AUC of each rival is above the default's, on the seeds that both have."""
    rivals = [name for name in result.methods if name not in _OUR_NAMES]
    return {name: result.difference(name, DEFAULT, setting).mean for name in rivals}


def _best_rival(result: NoveltyResult, setting: str) -> str:
    above = _rivals(result, setting)
    return max(above, key=above.__getitem__)


def _differences(result: NoveltyResult) -> str:
    """Return by how much each of ours is above the best rival."""
    best = {setting: _best_rival(result, setting) for setting in result.settings}
    ours = [name for name in _OUR_NAMES if name in result.methods]
    rows = [
        (setting, [rival, *(_signed(result.difference(name, rival, setting)) for name in ours)])
        for setting, rival in best.items()
    ]
    title = "AUC of ours minus that of the best rival, and its 95 % interval on the same documents"
    return table(title, "", ["best rival", *ours], rows)


def _signed(found: Estimate) -> str:
    limits = "" if np.isnan(found.low) else f" ({found.low:+.3f}..{found.high:+.3f})"
    return f"{found.mean:+.3f}{limits}"


def _verdicts(result: NoveltyResult) -> Iterator[str]:
    """Say for each setting whether the default keeps up with the best rival, and how its speed compares."""
    yield f"{DEFAULT}: AUC at most {AUC_LIMIT:g} below the best rival's"
    for setting in result.settings:
        above, best = _rivals(result, setting), _best_rival(result, setting)
        text = f"{setting}: {-above[best]:+.3f}, the best rival is {best}"
        yield verdict(above[best] <= AUC_LIMIT, text)
    yield f"{DEFAULT}: {SPEED_LIMIT:g} times the speed of the fastest rival at most {AUC_LIMIT:g} below it"
    for setting in result.settings:
        ours = result.record(DEFAULT, setting).documents_per_second
        above = _rivals(result, setting)
        speeds = {
            name: result.record(name, setting).documents_per_second for name in above if above[name] >= -AUC_LIMIT
        }
        if not speeds:
            yield verdict(True, f"{setting}: there is no such rival")
            continue
        fastest = max(speeds, key=speeds.__getitem__)
        theirs = speeds[fastest]
        text = f"{ours / theirs:.2f} times {fastest} (AUC {above[fastest]:+.3f})"
        speed = f"{ours:,.0f} and {theirs:,.0f} documents/s"
        yield verdict(ours / theirs >= SPEED_LIMIT, f"{setting}: {text}, {speed}")


def _flat(one: NoveltyRecord) -> Iterator[Record]:
    """Return the numbers of a record; those that were not measured are left out."""
    estimates = {
        "auc": one.auc,
        "auc_over_topics": one.auc_over_topics,
        "group_auc": one.group_auc,
        "average_precision": one.average_precision,
        "c_min": one.cost,
    }
    for metric, found in estimates.items():
        if found is not None:
            numbers = {"": found.mean, "_low": found.low, "_high": found.high}
            yield from (
                Record(NAME, one.method, one.setting, metric + end, value)
                for end, value in numbers.items()
                if np.isfinite(value)
            )
    for rate in _CURVE_POINTS:
        miss = float(np.interp(rate, FALSE_ALARM, one.miss))
        yield Record(NAME, one.method, one.setting, f"miss_at_false_alarm_{rate:g}", miss)
    numbers = {"documents_per_second": one.documents_per_second, "n_novel": one.n_novel, "n_judged": one.n_judged}
    if one.peak_megabytes is not None:
        numbers["peak_megabytes"] = one.peak_megabytes
    yield from (Record(NAME, one.method, one.setting, metric, value) for metric, value in numbers.items())
