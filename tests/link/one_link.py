"""An edge and a cloud in one process, for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from orthostream.compression import Column, MaxError, Schema, Target, TimeAxis
from orthostream.datasets import make_city
from orthostream.link import Cloud, Edge, MemoryBroker, Store

CITY = make_city(600, 8, random_state=3)
ROWS = CITY.data
TIMES = CITY.time.astype("datetime64[s]").astype(np.int64)
SCHEMA = Schema(tuple(Column(name, "degC") for name in CITY.sensors), TimeAxis("time", "s"))
BOUND = 0.5


class Link:
    """An edge and a cloud on a broker in memory, with their files in a folder and a clock that is set by hand."""

    def __init__(self, folder: Path, **options: object) -> None:
        self.folder = folder
        self.options = {"max_delay": 0.0} | options
        self.now = 0.0
        self.broker = MemoryBroker()
        self.edge = self.new_edge()
        self.cloud = self.new_cloud()

    def new_edge(self, schema: Schema = SCHEMA, target: Target | None = None, **options: object) -> Edge:
        options = self.options | options
        self.up = self.broker.transport()
        target = target or MaxError(BOUND)
        return Edge("roof", schema, target, self.folder / "out.db", self.up, clock=lambda: self.now, **options)

    def new_cloud(self, name: str = "store.db", **options: object) -> Cloud:
        self.down = self.broker.transport()
        return Cloud(str(self.folder / name), self.down, clock=lambda: self.now, **options)

    def crash_edge(self, **options: object) -> None:
        """Start the edge again, without a word of farewell to the old one."""
        self.up.close()
        self.edge.outbox.close()
        self.edge = self.new_edge(**options)

    def crash_cloud(self, **options: object) -> None:
        self.down.close()
        self.cloud.store.close()
        self.cloud = self.new_cloud(**options)

    def push(self, start: int, stop: int) -> None:
        self.edge.push(ROWS[start:stop], TIMES[start:stop])

    def run(self, rounds: int = 3) -> None:
        for _ in range(rounds):
            self.edge.step()
            self.cloud.step()
            self.edge.step()
            self.now += 3.0

    def close(self) -> None:
        self.edge.close()
        self.cloud.close()


def stored(store: Store, sensor: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the times and values of a sensor that a store holds."""
    chunks = list(store.readings("roof", SCHEMA.columns[sensor].name))
    times = [chunk.times for chunk in chunks] or [np.empty(0, dtype=np.int64)]
    values = [chunk.values for chunk in chunks] or [np.empty(0)]
    return np.concatenate(times), np.concatenate(values)


def check(store: Store, start: int, stop: int) -> None:
    """Assert that a store holds some samples, each reading once and within the bound, and no others."""
    for sensor in range(ROWS.shape[1]):
        times, values = stored(store, sensor)
        here = start + np.flatnonzero(~np.isnan(ROWS[start:stop, sensor]))
        order = np.argsort(times, kind="stable")
        np.testing.assert_array_equal(times[order], TIMES[here])
        assert (np.abs(values[order] - ROWS[here, sensor]) <= BOUND).all()
