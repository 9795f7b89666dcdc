"""What every benchmark does alike: take times, keep flat records, print tables, write JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthostream._typing import FloatArray

#: Colour and line of the learners of several benchmarks, as in `orthostream.experiments.registry`.
LINES: dict[str, dict[str, Any]] = {
    "paper": {"color": "#0b5fa5", "ls": "-", "lw": 1.6},
    "averaged": {"color": "#5aa9e6", "ls": "-", "lw": 1.6},
    "exact": {"color": "#b3123f", "ls": "-", "lw": 2.0},
    "tracking": {"color": "#e8a33d", "ls": "--", "lw": 1.2},
    "best fixed": {"color": "#2e2e2e", "ls": ":", "lw": 1.6},
}


#: Of the synthetic streams; no learner was tuned on them.
SEED = 20261117


class Record(NamedTuple):
    """One number that was measured."""

    benchmark: str
    method: str
    setting: str
    metric: str
    value: float


def write_json(records: Sequence[Record], path: Path) -> None:
    """Write records as a JSON array of flat objects."""
    path.write_text(json.dumps([record._asdict() for record in records], indent=1) + "\n", encoding="utf-8")


def best_time(run: Callable[[], Any], *, repeat: int = 5, least_seconds: float = 0.02) -> float:
    """Return the best time of one call, over repeats of as many calls as take ``least_seconds``."""
    calls = 1
    while True:
        start = time.perf_counter()
        for _ in range(calls):
            run()
        seconds = time.perf_counter() - start
        if seconds >= least_seconds:
            break
        calls *= 2
    best = seconds
    for _ in range(repeat - 1):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        best = min(best, time.perf_counter() - start)
    return best / calls


def table(title: str, corner: str, columns: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return an aligned text table."""
    first = max(len(corner), *(len(name) for name, _ in rows))
    widths = [max(len(head), *(len(cells[i]) for _, cells in rows)) for i, head in enumerate(columns)]
    lines = [title, corner.ljust(first) + "".join(f"  {h.rjust(w)}" for h, w in zip(columns, widths, strict=True))]
    lines += [
        name.ljust(first) + "".join(f"  {cell.rjust(w)}" for cell, w in zip(cells, widths, strict=True))
        for name, cells in rows
    ]
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(7.2e-6), duration(0.00123), duration(2.0)
    ('7.2 us', '1.23 ms', '2.00 s')
    """
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1.0 else f"{seconds:.2f} s"


def recovery_errors(learnt: FloatArray, true: FloatArray) -> FloatArray:
    """Return `orthostream.metrics.recovery_error` of each pair of a stack, whose atoms are columns.

    >>> recovery_errors(np.stack([np.eye(3), -np.eye(3)]), np.stack([np.eye(3)] * 2))
    array([0., 0.])
    """
    return np.asarray(np.abs(1.0 - ((learnt.mT @ true) ** 4).sum(axis=(-2, -1)) / learnt.shape[-1]))


def grown_up(learner: Any, rows: Any) -> Any:
    """Feed a learner its first rows so that it rehearses nothing later: weights end the youth, when steps cost more."""
    return learner.partial_fit(rows, sample_weight=np.ones(len(rows)))


def exponent(value: float) -> str:
    """Return a number with two digits and a short exponent.

    >>> exponent(0.00032), exponent(0.0)
    ('3.2e-4', '0')
    """
    if value == 0.0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def say(text: str) -> None:
    """Report progress, apart from the results."""
    print(text, file=sys.stderr, flush=True)
