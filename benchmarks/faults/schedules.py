"""Many random schedules of the simulated network, on two processes."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from ..simulated_network import run_schedule

#: Schedules that a process runs before it reports.
_AT_ONCE = 25
_PROCESSES = 2


@dataclass(frozen=True)
class Schedules:
    """What happened in all schedules together, and the seeds of those that failed, with what was wrong."""

    count: int
    events: Counter[str]
    failures: dict[int, str]


def run_schedules(count: int, progress: Callable[[int, int], None] | None = None) -> Schedules:
    """Run the schedules of the seeds 0, 1, ...; ``progress`` is called with how many are done, and how many failed."""
    events: Counter[str] = Counter()
    failures: dict[int, str] = {}
    done = 0
    # A process that was forked from one with threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, mp_context=context) as pool:
        pieces = [range(start, min(start + _AT_ONCE, count)) for start in range(0, count, _AT_ONCE)]
        for future in as_completed([pool.submit(_run_some, piece) for piece in pieces]):
            new = future.result()
            events += new.events
            failures |= new.failures
            done += new.count
            if progress is not None:
                progress(done, len(failures))
    return Schedules(done, events, dict(sorted(failures.items())))


def _run_some(seeds: range) -> Schedules:
    events: Counter[str] = Counter()
    failures: dict[int, str] = {}
    for seed in seeds:
        try:
            events += run_schedule(seed)
        except Exception as error:
            failures[seed] = f"{type(error).__name__}: {error}"
    return Schedules(len(seeds), events, failures)
