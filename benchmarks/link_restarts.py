"""What restarts cost: bits per reading of a year with and without a crash a day: part of `orthostream bench link`.

Edge and cloud are in one process, on a broker in memory, with their files on disk. A crash leaves nothing but these.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orthostream.compression import MaxError
from orthostream.link import Cloud, Edge, MemoryBroker

from .link_readings import BOUND, Readings, hourly_readings
from .link_wire import NAME, Clock, check_stored
from .measure import SEED, Record, say, table

_YEAR, _FRAME, _HOUR = 8766, 24, 3600
#: Restarts may cost this much more.
MOST = 1.01
#: Which sides restart, and what that is called.
RUNS = {(): "no restart", ("edge",): "edge", ("cloud",): "cloud", ("edge", "cloud"): "edge and cloud"}


class Cost(NamedTuple):
    """What a year took."""

    restarts: int
    messages: int
    n_bytes: int
    """Of all messages to the cloud, those that were sent again included."""
    streams: int


class _Link:
    """An edge and a cloud that can be killed."""

    def __init__(self, readings: Readings, folder: Path) -> None:
        self._readings, self._folder = readings, folder
        self.clock = Clock()
        self._broker = MemoryBroker()
        self.messages = self.n_bytes = 0
        self._broker.transport().subscribe(["orthostream/+/+/up"], self._count)
        self.start_edge()
        self.start_cloud()

    def _count(self, topic: str, data: bytes) -> None:
        self.messages += 1
        self.n_bytes += len(data)

    def start_edge(self) -> None:
        self._up = self._broker.transport()
        target, outbox = MaxError(BOUND), self._folder / "outbox.db"
        # Messages are made by hand, so that they hold the same samples whatever crashes.
        self.edge = Edge("roof", self._readings.schema, target, outbox, self._up, max_delay=1e9, clock=self.clock)

    def start_cloud(self) -> None:
        self._down = self._broker.transport()
        self.cloud = Cloud(str(self._folder / "store.db"), self._down, clock=self.clock)

    def crash(self, side: str) -> None:
        """End a side without a word, and start it again."""
        if side == "edge":
            self._up.close()
            self.edge.outbox.close()
            self.start_edge()
        else:
            self._down.close()
            self.cloud.store.close()
            self.start_cloud()

    def step(self) -> None:
        for _ in range(2):
            self.edge.step()
            self.cloud.step()
        self.edge.step()


def run_year(readings: Readings, sides: tuple[str, ...], folder: Path) -> Cost:
    """Send hourly samples in messages of a day; each of ``sides`` crashes once a day, at a random hour.

    Raises
    ------
    AssertionError
        If a reading is lost, doubled or beyond the bound.
    """
    rng = np.random.default_rng(SEED)
    link = _Link(readings, folder)
    restarts = 0
    crash_at: dict[str, int] = {}
    for hour, (row, time) in enumerate(zip(readings.rows, readings.times(_HOUR).tolist(), strict=True)):
        if hour % _FRAME == 0:
            crash_at = {side: int(rng.integers(_FRAME)) for side in sides}
        link.clock.now += _HOUR
        link.edge.push(row[None], [time])
        if hour % _FRAME == _FRAME - 1:
            link.edge.flush()
            link.step()
        for side, when in crash_at.items():
            if when == hour % _FRAME:
                link.crash(side)
                restarts += 1
    link.edge.flush()
    link.step()
    assert link.edge.is_done, "not everything has arrived"
    check_stored(link.cloud.store, readings, _HOUR)
    cost = Cost(restarts, link.messages, link.n_bytes, len(link.cloud.store.streams()))
    link.edge.close()
    link.cloud.close()
    return cost


def run_restarts(*, quick: bool) -> list[Record]:
    """Run all cases and print them; return the records."""
    readings = hourly_readings(50 * _FRAME if quick else _YEAR)
    costs: dict[str, Cost] = {}
    for sides, words in RUNS.items():
        say(f"restarts: {words} ...")
        with tempfile.TemporaryDirectory() as folder:
            costs[words] = run_year(readings, sides, Path(folder))
    print(report(costs, readings), flush=True)
    records = []
    for words, cost in costs.items():
        ratio = cost.n_bytes / costs[RUNS[()]].n_bytes
        bits = 8.0 * cost.n_bytes / readings.n_readings
        for metric, value in (("bits_per_reading", bits), ("restarts", cost.restarts), ("times_no_restart", ratio)):
            records.append(Record(NAME, words, "restarts", metric, float(value)))
    return records


def report(costs: dict[str, Cost], readings: Readings) -> str:
    """Return the table."""
    samples, sensors = readings.rows.shape
    base = costs[RUNS[()]].n_bytes
    rows = []
    for words, cost in costs.items():
        cells = [f"{cost.restarts:,}", f"{cost.messages:,}", f"{cost.streams}", f"{cost.n_bytes:,}"]
        rows.append((words, [*cells, f"{8.0 * cost.n_bytes / readings.n_readings:.4f}", f"{cost.n_bytes / base:.4f}"]))
    title = (
        f"\nRestarts: {samples:,} hourly samples of {sensors} sensors ({readings.name}, {readings.n_readings:,}"
        f" readings), bound {BOUND:g} degC,\nmessages of {_FRAME} samples; each side named crashes once a day"
        f" at a random hour (allowed: {MOST:g})"
    )
    columns = ["restarts", "messages", "streams", "bytes", "bits per reading", "x no restart"]
    return table(title, "restart of", columns, rows)


def is_cheap(records: list[Record]) -> bool:
    """Return whether restarts cost no more than is allowed."""
    return all(record.value <= MOST for record in records if record.metric == "times_no_restart")
