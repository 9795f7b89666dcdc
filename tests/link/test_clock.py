"""A clock that jumps back and forth: all readings come back, each with the time that it was given."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from orthostream.compression import Column, Lossless, MaxError, Schema, Target, TimeAxis
from orthostream.link import Cloud, Edge, MemoryBroker, SqliteStore, Store, rebuild
from orthostream.link.sources.tail import TailSource

SENSORS, COUNT = 3, 240
_DAY, _YEAR = 86_400, 31_536_000


def steady(rng: np.random.Generator) -> np.ndarray:
    return 1_700_000_000 + 60 * np.arange(COUNT)


def set_back_once(rng: np.random.Generator) -> np.ndarray:
    """One hour comes twice, as at the end of summer time."""
    times = steady(rng)
    times[COUNT // 2 :] -= 3600
    return times


def without_battery(rng: np.random.Generator) -> np.ndarray:
    """After each power cut the clock begins in 1970, and is right again some samples later."""
    times = steady(rng)
    for start in range(20, COUNT, 50):
        times[start : start + 7] = 60 * np.arange(7)
    return times


def standing_still(rng: np.random.Generator) -> np.ndarray:
    times = steady(rng)
    times[30:90] = times[30]
    return times


def swinging(rng: np.random.Generator) -> np.ndarray:
    """Forth and back by up to a day, again and again."""
    return steady(rng) + rng.integers(-_DAY, _DAY, COUNT)


def jumping(rng: np.random.Generator) -> np.ndarray:
    """By years, into the past before 1970 and into the far future."""
    return steady(rng) + np.repeat(rng.integers(-200 * _YEAR, 200 * _YEAR, COUNT // 8), 8)


def of_few_values(rng: np.random.Generator) -> np.ndarray:
    return rng.choice(np.array([-5, 0, 7, 1_700_000_000]), COUNT)


CLOCKS = [steady, set_back_once, without_battery, standing_still, swinging, jumping, of_few_values]
Clock = Callable[[np.random.Generator], np.ndarray]


def readings_of(rng: np.random.Generator) -> np.ndarray:
    rows = np.round(20.0 + np.cumsum(rng.normal(0.0, 0.1, (COUNT, SENSORS)), axis=0), 2)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    return rows


def schema_in(unit: str) -> Schema:
    return Schema(tuple(Column(f"s{place}") for place in range(SENSORS)), TimeAxis("time", unit))


def send(folder: Path, rows: np.ndarray, times: np.ndarray, target: Target, unit: str = "s") -> SqliteStore:
    """Send samples through an edge and a cloud that are both started again now and then; return the store."""
    now = [0.0]
    broker = MemoryBroker()
    rng = random.Random(1)
    start = 0
    while start < COUNT:
        up, down = broker.transport(), broker.transport()
        # No `with`: they end without a word, and without saving anything.
        edge = Edge("edge", schema_in(unit), target, folder / "outbox.db", up, max_delay=2.0, clock=lambda: now[0])
        cloud = Cloud(str(folder / "store.db"), down, clock=lambda: now[0])
        for _ in range(rng.randint(1, 12)):
            stop = min(COUNT, start + rng.randint(1, 9))
            edge.push(rows[start:stop], times[start:stop])
            start = stop
            edge.step()
            cloud.step()
            now[0] += 1.0
        if start == COUNT:
            edge.flush()
        edge.step()
        cloud.step()
        edge.step()
        assert start < COUNT or edge.is_done
        for each in (up, down, edge.outbox, cloud.store):
            each.close()
    return SqliteStore(folder / "store.db")


def found_in(store: Store, place: int, **limits: int) -> tuple[np.ndarray, np.ndarray]:
    chunks = list(store.readings("edge", f"s{place}", **limits))
    times = np.concatenate([np.empty(0, dtype=np.int64), *(chunk.times for chunk in chunks)])
    return times, np.concatenate([np.empty(0), *(chunk.values for chunk in chunks)])


def check(store: Store, rows: np.ndarray, times: np.ndarray, bound: float) -> None:
    """Assert that each reading is there once: in order of time, those of the same time in the order they came in."""
    for place in range(SENSORS):
        there = np.flatnonzero(~np.isnan(rows[:, place]))
        order = there[np.argsort(times[there], kind="stable")]
        found, values = found_in(store, place)
        np.testing.assert_array_equal(found, times[order])
        assert (np.abs(values - rows[order, place]) <= bound).all()


@pytest.mark.parametrize("target", [Lossless(), MaxError(0.05)], ids=["lossless", "within a bound"])
@pytest.mark.parametrize("clock", CLOCKS, ids=[clock.__name__ for clock in CLOCKS])
def test_all_readings_come_back_with_their_times(tmp_path: Path, clock: Clock, target: Target) -> None:
    rng = np.random.default_rng(7)
    rows, times = readings_of(rng), clock(rng)
    with send(tmp_path, rows, times, target) as store:
        bound = 0.05 if isinstance(target, MaxError) else 0.0
        check(store, rows, times, bound)
        assert len(store.streams("edge")) == 1
        assert rebuild(store) == COUNT
        check(store, rows, times, bound)


def test_times_between_two_jumps_are_found(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    rows, times = readings_of(rng), without_battery(rng)
    with send(tmp_path, rows, times, Lossless()) as store:
        for place in range(SENSORS):
            lost_time = np.sort(times[(times < _DAY) & ~np.isnan(rows[:, place])])
            np.testing.assert_array_equal(found_in(store, place, end=_DAY * 10**6)[0], lost_time)
            later = (times >= _DAY) & ~np.isnan(rows[:, place])
            assert len(found_in(store, place, start=_DAY * 10**6)[0]) == later.sum()


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_fine_times_that_jump_come_back(tmp_path: Path, unit: str) -> None:
    rng = np.random.default_rng(9)
    rows = readings_of(rng)
    times = swinging(rng) * {"ms": 10**3, "us": 10**6, "ns": 10**9}[unit] + rng.integers(-999, 999, COUNT)
    with send(tmp_path, rows, times, Lossless(), unit) as store:
        check(store, rows, times, 0.0)


def test_the_clock_of_the_machine_is_not_relied_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(10)
    rows, times = readings_of(rng), swinging(rng)
    jumps = random.Random(2)
    monkeypatch.setattr(time, "time", lambda: jumps.uniform(-1e9, 4e9))
    with send(tmp_path, rows, times, MaxError(0.05)) as store:
        check(store, rows, times, 0.05)


def test_a_file_whose_times_jump_is_followed(tmp_path: Path) -> None:
    rng = np.random.default_rng(11)
    rows, times = readings_of(rng), without_battery(rng)
    stamps = times.astype("datetime64[s]")
    path = tmp_path / "readings.csv"
    path.write_text("time,s0,s1,s2\n")
    taken: list[tuple[np.ndarray, np.ndarray]] = []
    mark: str | None = None
    for start in range(0, COUNT, 24):
        with path.open("a") as file:
            for stamp, row in zip(stamps[start : start + 24], rows[start : start + 24].tolist(), strict=True):
                cells = ("" if value != value else f"{value:.2f}" for value in row)
                file.write(f"{stamp},{','.join(cells)}\n")
        with TailSource(path, mark=mark) as source:
            while (samples := source.poll()) is not None:
                taken.append((samples.readings, samples.times))
                mark = samples.mark
            assert not source.counts
    np.testing.assert_array_equal(np.concatenate([readings for readings, _ in taken]), rows)
    np.testing.assert_array_equal(np.concatenate([ticks for _, ticks in taken]), times)
