"""An edge and a cloud on a network that loses, doubles, delays and reorders messages, and on machines that crash.

Everything is in one process and follows from the actions that are called: time is a number, disks are databases in
memory that outlive the edge and the cloud. What the store holds at the end is compared with what was pushed.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression import Column, MaxError, Schema, TimeAxis
from orthostream.link import Cloud, Edge, Outbox, SqliteStore, StoreError, Transport
from orthostream.link.store import Batch
from orthostream.link.transport import Handler

SENSORS = 3
BOUND = 0.1
SCHEMA = Schema(tuple(Column(f"s{i}") for i in range(SENSORS)), TimeAxis("time", "s"))


class Wire(Transport):
    """One side's connection: what it sends waits until the network delivers it."""

    def __init__(self) -> None:
        self.connected = True
        self.sent: list[tuple[str, bytes]] = []
        self.handler: Handler = lambda _topic, _data: None

    def subscribe(self, filters: Sequence[str], handler: Handler) -> None:
        self.handler = handler

    def publish(self, topic: str, data: bytes, *, confirmed: bool = True) -> bool:
        if self.connected:
            self.sent.append((topic, data))
        return self.connected

    @property
    def is_connected(self) -> bool:
        return self.connected

    def start(self) -> None:
        self.connected = True

    def close(self) -> None:
        self.connected = False


class FailingStore(SqliteStore):
    """A store whose disk is full at times."""

    full = False

    def add(self, batch: Batch) -> None:
        if self.full:
            raise StoreError("the disk is full")
        super().add(batch)


class SimulatedNetwork:
    """One edge and one cloud, and all that may happen to them."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        #: Every third edge asks for answers every 20 s only.
        self._answer_every = 20.0 if seed % 3 == 2 else 0.0
        self.now = 0.0
        self.outbox = Outbox(":memory:", "edge")
        self.store = FailingStore(":memory:")
        self.up, self.down = Wire(), Wire()
        self.pushed: list[FloatArray] = []
        self.events: Counter[str] = Counter()
        self._level = np.full(SENSORS, 20.0)
        self.edge: Edge
        self.cloud: Cloud
        self.start_edge()
        self.start_cloud()

    def start_edge(self) -> None:
        """Start the edge, again if it was running: what was only in its memory is gone."""
        self.up.sent.clear()
        self.edge = Edge(
            "edge",
            SCHEMA,
            MaxError(BOUND),
            self.outbox,
            self.up,
            max_delay=1.0,
            answer_every=self._answer_every,
            clock=lambda: self.now,
        )
        self.events["edge started"] += 1

    def start_cloud(self) -> None:
        """Start the cloud, again if it was running."""
        self.down.sent.clear()
        self.cloud = Cloud(self.store, self.down, clock=lambda: self.now)
        self.events["cloud started"] += 1

    def push(self, count: int) -> None:
        """Let the edge take samples; their times count them, so that each is recognised."""
        self._level = self._level + np.cumsum(self._rng.normal(0.0, 0.3, (count, SENSORS)), axis=0)[-1]
        rows = np.round(self._level + self._rng.normal(0.0, 0.2, (count, SENSORS)), 2)
        rows[self._rng.random(rows.shape) < 0.1] = np.nan
        self.edge.push(rows, np.arange(len(self.pushed), len(self.pushed) + count))
        self.pushed += list(rows)
        self.events["samples"] += count

    def wait(self, seconds: float) -> None:
        """Let time go by."""
        self.now += seconds

    def step_edge(self) -> None:
        """Let the edge work."""
        self.edge.step()

    def step_cloud(self) -> None:
        """Let the cloud work."""
        self.cloud.step()

    def _network(self, wire: Wire, to: Wire, what: str, place: int) -> None:
        if not wire.sent:
            return
        place %= len(wire.sent)
        topic, data = wire.sent[place]
        if what == "damage":
            data = bytes([*data[:-1], data[-1] ^ 1 << place % 8])
        if what != "drop" and to.connected:
            to.handler(topic, data)
        if what != "double":
            del wire.sent[place]
        self.events[what] += 1

    def network(self, upwards: bool, what: str, place: int) -> None:
        """Deliver, drop, double or damage one of the messages that are on their way; others may overtake it."""
        wires = (self.up, self.down) if upwards else (self.down, self.up)
        self._network(*wires, what, place)

    def deliver_all(self) -> None:
        """Deliver all messages in order."""
        for wire, to in ((self.up, self.down), (self.down, self.up)):
            while wire.sent:
                self._network(wire, to, "deliver", 0)

    def partition(self, side: str, connected: bool) -> None:
        """Cut a side off, or connect it again; what was on its way is lost."""
        wire = self.up if side == "edge" else self.down
        if not connected:
            wire.sent.clear()
        wire.connected = connected
        self.events["partition"] += int(not connected)

    def fill_disk(self, full: bool) -> None:
        """Let the disk of the cloud be full, or not."""
        self.store.full = full
        self.events["disk full"] += int(full)

    def settle(self) -> None:
        """Let everything work until all samples have arrived; raise AssertionError if they do not."""
        self.fill_disk(False)
        for side in ("edge", "cloud"):
            self.partition(side, True)
        for _ in range(400):
            self.edge.step()
            self.deliver_all()
            self.cloud.step()
            self.deliver_all()
            self.wait(1.0)
            if self.edge.is_done:
                return
        raise AssertionError(f"not everything arrived: {self.edge.status()} {self.cloud.status()}")

    def check(self) -> None:
        """Raise AssertionError if a reading is lost, doubled or beyond the bound."""
        source = np.array(self.pushed).reshape(-1, SENSORS)
        for place in range(SENSORS):
            chunks = list(self.store.readings("edge", f"s{place}"))
            times = np.concatenate([chunk.times for chunk in chunks]) if chunks else np.empty(0, dtype=np.int64)
            values = np.concatenate([chunk.values for chunk in chunks]) if chunks else np.empty(0)
            expected = np.flatnonzero(~np.isnan(source[:, place]))
            assert np.array_equal(np.sort(times), expected), f"lost or doubled: {len(times)} of {len(expected)}"
            assert (np.abs(values - source[times, place]) <= BOUND).all(), "a reading is beyond the bound"


def act(network: SimulatedNetwork, rng: random.Random) -> None:
    """Let one random thing happen."""
    what = rng.random()
    if what < 0.2:
        network.push(rng.randint(1, 4))
    elif what < 0.35:
        network.step_edge()
    elif what < 0.5:
        network.step_cloud()
    elif what < 0.8:
        kinds = ("deliver", "deliver", "deliver", "deliver", "drop", "double", "damage")
        network.network(rng.random() < 0.6, rng.choice(kinds), rng.randrange(4))
    elif what < 0.88:
        network.wait(rng.choice((0.5, 2.0, 30.0)))
    elif what < 0.91:
        network.start_edge()
    elif what < 0.94:
        network.start_cloud()
    elif what < 0.97:
        network.partition(rng.choice(("edge", "cloud")), rng.random() < 0.6)
    else:
        network.fill_disk(rng.random() < 0.4)


def run_schedule(seed: int, actions: int = 150) -> Counter[str]:
    """Run one random schedule and check the result; return what happened."""
    rng = random.Random(seed)
    network = SimulatedNetwork(seed)
    for _ in range(actions):
        act(network, rng)
    network.settle()
    network.check()
    events = network.events
    events["streams"] += len(network.store.streams())
    events["refused by the cloud"] += network.cloud.counts["edge", "refused"]
    return events
