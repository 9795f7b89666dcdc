"""How speed depends on the length of the history: 5-NN compares with every earlier document, ours with none."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from orthostream.experiments.novelty.method_table import METHODS
from orthostream.experiments.novelty.novelty_method import BlockDetector, NoveltyMethod, score_then_learn
from orthostream.experiments.novelty.past_weighting import PastWeighting

from .measure import Record, say, table
from .novelty_effort import DEFAULT, Effort
from .novelty_stream import BLOCK, Columns, Stories

NAME = "novelty"
NEIGHBOURS = "5-NN, all the past"
#: Blocks that are timed at each mark.
_TIMED = 10


def measure_history(reuters: Any, effort: Effort) -> list[Record]:
    """Print the speed of both after more and more documents, and return the records."""
    say(f"speed after up to {max(effort.marks):,} documents ...")
    methods = {method.name: method for method in METHODS if method.name in (DEFAULT, NEIGHBOURS)}
    speeds = _speeds(Stories.of(reuters), methods, effort.marks)
    rows = [(name, [f"{found[mark]:,.0f}" for mark in effort.marks]) for name, found in speeds.items()]
    title = f"\nDocuments/s after so many earlier ones (the same short documents, in the mean of {_TIMED} blocks)"
    print(table(title, "", [f"{mark:,}" for mark in effort.marks], rows))
    ratios = [f"{speeds[DEFAULT][mark] / speeds[NEIGHBOURS][mark]:.1f}" for mark in effort.marks]
    print(f"  {DEFAULT} / {NEIGHBOURS}: {', '.join(ratios)}")
    return [
        Record(NAME, name, f"history of {mark}", "documents_per_second", speed)
        for name, found in speeds.items()
        for mark, speed in found.items()
    ]


class _Runner(NamedTuple):
    method: NoveltyMethod
    detector: BlockDetector
    seconds: dict[int, float]


def _speeds(stories: Stories, methods: dict[str, NoveltyMethod], marks: tuple[int, ...]) -> dict[str, dict[int, float]]:
    """Let methods learn one stream, and return how fast they score and learn after each mark."""
    columns = Columns()
    weighting = PastWeighting(columns.most)
    runners = {name: _Runner(method, method.start(0), dict.fromkeys(marks, 0.0)) for name, method in methods.items()}
    for place, texts in enumerate(stories.blocks(max(marks) + _TIMED * BLOCK)):
        mark = next((mark for mark in marks if 0 <= place * BLOCK - mark < _TIMED * BLOCK), None)
        counts = columns.counts(texts)
        before = time.process_time()
        block = weighting.block(counts)
        weighting.count(counts)
        weighted = time.process_time() - before
        for runner in runners.values():
            if mark is None:
                runner.detector.learn(block)
                continue
            before = time.process_time()
            score_then_learn(runner.detector, block)
            spent = time.process_time() - before
            runner.seconds[mark] += spent + (weighted if runner.method.reads_weights else 0.0)
    return {
        name: {mark: _TIMED * BLOCK / seconds for mark, seconds in runner.seconds.items()}
        for name, runner in runners.items()
    }
