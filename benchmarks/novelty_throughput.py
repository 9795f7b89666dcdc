"""How fast our detector is on 200,000 short documents, from vectors and from text, and how much memory it takes."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthostream import NovelDocumentDetector
from orthostream.optimize.threads import one_blas_thread

from .measure import Record, say, table
from .novelty_effort import DEFAULT, Effort
from .novelty_stream import BLOCK, Columns, Stories
from .novelty_verdict import verdict

NAME = "novelty"
VECTORS, TEXT = "from vectors", "from text"
#: Documents per second that are asked for.
GOALS = {VECTORS: 10_000.0, TEXT: 3_000.0}
#: Speed and memory that count as flat: a ratio, and megabytes in half of the stream.
_FLAT, _GROWTH = 0.9, 2.0
_PARTS = 10
_STATUS = Path("/proc/self/status")


class Tenth(NamedTuple):
    """A tenth of the stream: documents per second, and the resident memory at its end, None where it is not known."""

    speed: float
    megabytes: float | None


def measure_throughput(reuters: Any, effort: Effort) -> list[Record]:
    """Run the stream twice, each time in a new process; print tables and verdicts, and return the records."""
    stories, count = Stories.of(reuters), effort.stream
    found = {}
    for form in (VECTORS, TEXT):
        say(f"{count:,} short documents {form} ...")
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            found[form] = pool.submit(run_stream, stories, count, form).result()
    texts = [text for block in stories.blocks(count) for text in block]
    distinct, words = len(set(texts)), np.mean([len(text.split()) for text in texts])
    title = (
        f"\nThroughput: {count:,} documents, {distinct:,} of them distinct, {words:.0f} words long in the mean: title "
        "and sentence of a\nReuters story, and a sentence of another one of its topic. score_then_learn in blocks of "
        f"{BLOCK}, one thread,\nprocessor time: documents/s (resident MB) in each tenth of the stream"
    )
    rows = [(form, [_cell(tenth) for tenth in tenths]) for form, tenths in found.items()]
    print(table(title, "", [str(part) for part in range(1, _PARTS + 1)], rows))
    for form, tenths in found.items():
        print("\n".join(_verdicts(form, tenths)))
    return [record for form, tenths in found.items() for record in _records(form, tenths)]


def run_stream(stories: Stories, count: int, form: str) -> list[Tenth]:
    """Feed the stream to a detector; only its own time counts."""
    detector, columns = NovelDocumentDetector(random_state=0), Columns()
    tenths: list[Tenth] = []
    seconds, since, done = 0.0, 0, 0
    with one_blas_thread():
        for texts in stories.blocks(count):
            documents = columns.counts(texts) if form == VECTORS else texts
            before = time.process_time()
            detector.score_then_learn(documents)
            seconds += time.process_time() - before
            done, since = done + len(texts), since + len(texts)
            if done >= (len(tenths) + 1) * count // _PARTS:
                tenths.append(Tenth(since / seconds, _resident()))
                seconds, since = 0.0, 0
    return tenths


def _resident() -> float | None:
    """Return the resident memory of this process in megabytes, None where the system does not say."""
    if not _STATUS.is_file():
        return None
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS"))
    return float(line.split()[1]) / 1024.0


def _cell(tenth: Tenth) -> str:
    return f"{tenth.speed:,.0f}" + ("" if tenth.megabytes is None else f" ({tenth.megabytes:.0f})")


def _verdicts(form: str, tenths: Sequence[Tenth]) -> Iterator[str]:
    speeds = [tenth.speed for tenth in tenths]
    half = len(tenths) // 2
    goal, least = GOALS[form], min(speeds)
    yield verdict(least >= goal, f"{form}: {least:,.0f} documents/s in the slowest tenth, at least {goal:,.0f}")
    ratio = float(np.median(speeds[half:]) / np.median(speeds[:half]))
    yield verdict(ratio >= _FLAT, f"{form}: speed in the second half / in the first {ratio:.2f}, at least {_FLAT:g}")
    memory = [tenth.megabytes for tenth in tenths if tenth.megabytes is not None]
    if len(memory) == len(tenths):
        growth = memory[-1] - memory[half - 1]
        since = f"{memory[-1] - memory[0]:+.1f} since the first tenth"
        text = f"{form}: memory {growth:+.1f} MB in the second half, at most {_GROWTH:g} ({since})"
        yield verdict(growth <= _GROWTH, text)


def _records(form: str, tenths: Sequence[Tenth]) -> list[Record]:
    found = []
    for place, tenth in enumerate(tenths, start=1):
        setting = f"throughput {form}, tenth {place}"
        found.append(Record(NAME, DEFAULT, setting, "documents_per_second", tenth.speed))
        if tenth.megabytes is not None:
            found.append(Record(NAME, DEFAULT, setting, "resident_megabytes", tenth.megabytes))
    return found
