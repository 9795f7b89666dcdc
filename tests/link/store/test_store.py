"""The contract of stores: SQLite in memory and in a file, and PostgreSQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from orthostream.link import Cloud, SqliteStore, StoreError, open_store, rebuild
from orthostream.link.messages import Replaced
from orthostream.link.store import Batch, Chunk, NewMessage, NewSnapshot, NewStream, Store

from ..one_link import BOUND, ROWS, SCHEMA, TIMES, Link

BOOT = b"boot0001"
OTHER = b"twin0002"
UNITS = {"ns": 10**9, "us": 10**6, "ms": 1000, "s": 1}


@dataclass
class Place:
    """Where a store is; it can be opened again unless it is in memory."""

    address: str

    def open(self, *, create: bool = True) -> Store:
        return open_store(self.address, create=create)


@pytest.fixture(params=["file", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "file":
        return Place(str(tmp_path / "reopened.db"))
    new: Callable[[], str] = request.getfixturevalue("new_postgres")
    return Place(new())


@pytest.fixture(params=["memory", "file", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgres":
        address = request.getfixturevalue("new_postgres")()
    else:
        address = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with open_store(address) as opened:
        yield opened


def opening(
    edge: str = "roof",
    boot: bytes = BOOT,
    *,
    sensors: tuple[str, ...] = ("a", "b"),
    unit: str = "s",
    generation: int = 0,
    replaced: tuple[Replaced, ...] = (),
) -> NewStream:
    return NewStream(edge, boot, generation, b"header", [(name, "degC") for name in sensors], unit, replaced)


def message(
    sequence: int, values: object, times: object, first: int, edge: str = "roof", boot: bytes = BOOT
) -> NewMessage:
    readings = np.array(values, dtype=np.float64)
    return NewMessage(edge, boot, sequence, b"message %d" % sequence, first, readings, np.array(times, dtype=np.int64))


def two_messages() -> Batch:
    """Three samples of two sensors in two messages, one reading missing."""
    first = message(0, [[1.0, 10.0], [2.0, np.nan]], [100, 160], 0)
    return Batch([opening()], [first, message(1, [[3.0, 30.0]], [220], 2)])


def found(store: Store, *arguments: object) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """Return all readings of a query, by edge and sensor."""
    readings: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for chunk in store.readings(*arguments):  # type: ignore[arg-type]
        assert isinstance(chunk, Chunk) and len(chunk.times) == len(chunk.values) > 0
        assert chunk.times.dtype == np.int64 and chunk.values.dtype == np.float64
        pairs = zip(chunk.times.tolist(), chunk.values.tolist(), strict=True)
        readings.setdefault((chunk.edge, chunk.sensor), []).extend(pairs)
    return readings


def everything(store: Store) -> tuple[object, ...]:
    """Return all that a store holds, to be compared."""
    streams = store.streams()
    snapshots = [store.snapshot(stream) for stream in streams]
    return streams, [list(store.messages(stream)) for stream in streams], snapshots, found(store)


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert everything(store) == ([], [], [], {})
    assert not store.is_replaced("roof", BOOT[:4])
    store.add(Batch())
    assert store.streams() == []


def test_a_batch_is_stored(store: Store) -> None:
    store.add(two_messages())
    (stream,) = store.streams()
    assert (stream.edge, stream.boot, stream.generation, stream.header) == ("roof", BOOT, 0, b"header")
    assert (stream.next, stream.samples, stream.readings, stream.n_bytes) == (2, 3, 5, 18)
    assert stream.closed is None
    assert list(store.messages(stream)) == [(0, b"message 0"), (1, b"message 1")]
    assert list(store.messages(stream, 1)) == [(1, b"message 1")]
    assert list(store.messages(stream, 2)) == []
    assert all(isinstance(data, bytes) for _, data in store.messages(stream))
    assert store.snapshot(stream) is None
    assert [(chunk.unit, chunk.time_unit) for chunk in store.readings()] == [("degC", "s")] * 2


def test_a_missing_reading_is_not_stored_and_infinity_is(store: Store) -> None:
    values = [[np.nan, np.inf], [-np.inf, np.nan], [np.nan, np.nan], [-0.0, 5e-324]]
    store.add(Batch([opening()], [message(0, values, [1, 2, 3, 4], 0)]))
    assert found(store) == {
        ("roof", "a"): [(2, -np.inf), (4, 0.0)],
        ("roof", "b"): [(1, np.inf), (4, 5e-324)],
    }
    assert store.streams()[0].readings == 4 and store.streams()[0].samples == 4


def test_a_message_without_a_reading_is_stored(store: Store) -> None:
    store.add(Batch([opening()], [message(0, np.empty((0, 2)), [], 0), message(1, [[np.nan] * 2], [5], 0)]))
    (stream,) = store.streams()
    assert (stream.next, stream.samples, stream.readings) == (2, 1, 0) and found(store) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(lambda: Batch([opening()]), id="stream twice"),
        pytest.param(lambda: Batch([], [message(1, [[9.0, 9.0]], [280], 2)]), id="message twice"),
        pytest.param(lambda: Batch([], [message(3, [[9.0, 9.0]], [280], 3)]), id="message left out"),
        pytest.param(
            lambda: Batch([], [message(2, [[9.0, 9.0]], [280], 3), message(2, [[9.0, 9.0]], [280], 3)]),
            id="message twice in a batch",
        ),
        pytest.param(lambda: Batch([], [message(0, [[9.0, 9.0]], [1], 0, boot=OTHER)]), id="no such stream"),
        pytest.param(lambda: Batch([], [], [NewSnapshot("roof", OTHER, 1, b"x")]), id="snapshot of no stream"),
        pytest.param(lambda: Batch([], [], [NewSnapshot("attic", BOOT, 1, b"x")]), id="snapshot of no edge"),
    ],
)
def test_a_batch_is_stored_as_a_whole_or_not_at_all(store: Store, wrong: Callable[[], Batch]) -> None:
    store.add(two_messages())
    before = everything(store)
    bad = wrong()
    good = message(2, [[4.0, 40.0]], [280], 3)
    batch = Batch(
        [opening("cellar"), *bad.streams],
        [message(0, [[7.0, 7.0]], [1], 0, "cellar"), *([] if bad.messages else [good]), *bad.messages],
        [NewSnapshot("roof", BOOT, 2, b"decoder"), *bad.snapshots],
    )
    with pytest.raises(StoreError):
        store.add(batch)
    assert everything(store) == before
    # The store goes on.
    store.add(Batch([opening("cellar")], [good]))
    assert [stream.next for stream in store.streams()] == [0, 3]


def test_streams_are_sorted_by_edge_and_age(store: Store) -> None:
    for edge, boot, generation in [("b", b"11111111", 1), ("B", b"22222222", 0), ("b", b"33333333", 0)]:
        store.add(Batch([opening(edge, boot, generation=generation)]))
    assert [(each.edge, each.generation) for each in store.streams()] == [("B", 0), ("b", 0), ("b", 1)]
    assert [each.generation for each in store.streams("b")] == [0, 1]
    assert store.streams("c") == []


def test_many_streams_and_messages_in_one_batch(store: Store) -> None:
    edges = [f"edge{i}" for i in range(20)]
    messages = [
        message(sequence, [[float(sequence), i]], [60 * sequence], sequence, edge)
        for sequence in range(80)
        for i, edge in enumerate(edges)
    ]
    store.add(Batch([opening(edge) for edge in edges], messages))
    assert [stream.next for stream in store.streams()] == [80] * 20
    assert found(store, "edge7", "b") == {("edge7", "b"): [(60 * i, 7.0) for i in range(80)]}
    numbers = [sequence for sequence, _ in store.messages(store.streams("edge7")[0], 3)]
    assert numbers == list(range(3, 80))


def test_the_last_snapshot_is_kept(store: Store) -> None:
    store.add(two_messages())
    for sequence, decoder in [(1, b"\0one"), (2, b"two\xff")]:
        store.add(Batch(snapshots=[NewSnapshot("roof", BOOT, sequence, decoder)]))
        assert store.snapshot(store.streams()[0]) == (sequence, decoder)
    store.add(Batch([opening("cellar")], [message(0, [[1.0, 1.0]], [1], 0, "cellar")]))
    assert store.snapshot(store.streams("cellar")[0]) is None


class TestReplacedStreams:
    def test_readings_from_a_message_on_are_forgotten(self, store: Store) -> None:
        store.add(two_messages())
        again = opening(boot=OTHER, generation=1, replaced=(Replaced(BOOT[:4], 1),))
        store.add(Batch([again], [message(0, [[3.5, 30.5]], [220], 0, boot=OTHER)]))
        old, new = store.streams()
        assert (old.closed, old.samples, old.readings, old.next) == (1, 2, 3, 2)
        assert (new.closed, new.samples, new.readings) == (None, 1, 2)
        assert found(store) == {
            ("roof", "a"): [(100, 1.0), (160, 2.0), (220, 3.5)],
            ("roof", "b"): [(100, 10.0), (220, 30.5)],
        }
        # Messages are the truth: they stay.
        assert len(list(store.messages(old))) == 2
        assert store.is_replaced("roof", BOOT[:4]) and not store.is_replaced("cellar", BOOT[:4])
        assert not store.is_replaced("roof", OTHER[:4])

    def test_a_closed_stream_takes_nothing(self, store: Store) -> None:
        store.add(two_messages())
        store.add(Batch([opening(boot=OTHER, generation=1, replaced=(Replaced(BOOT[:4], 2),))]))
        assert found(store)["roof", "a"] == [(100, 1.0), (160, 2.0), (220, 3.0)]
        before = everything(store)
        with pytest.raises(StoreError):
            store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
        assert everything(store) == before

    def test_a_stream_that_never_arrived_is_known_as_replaced(self, store: Store) -> None:
        replaced = (Replaced(BOOT[:4], 0), Replaced(b"gone", 7), Replaced(b"gone", 7))
        store.add(Batch([opening(boot=OTHER, replaced=replaced)]))
        assert store.is_replaced("roof", BOOT[:4]) and store.is_replaced("roof", b"gone")
        assert [stream.boot for stream in store.streams()] == [OTHER]

    @pytest.mark.parametrize("together", [False, True])
    def test_a_stream_is_not_opened_after_it_was_replaced(self, store: Store, together: bool) -> None:
        replacing, late = opening(boot=OTHER, generation=1, replaced=(Replaced(BOOT[:4], 0),)), opening()
        if not together:
            store.add(Batch([replacing]))
        before = everything(store)
        with pytest.raises(StoreError, match="replaced before it was opened"):
            store.add(Batch([replacing, late] if together else [late]))
        assert everything(store) == before

    def test_other_edges_are_left_alone(self, store: Store) -> None:
        store.add(two_messages())
        store.add(Batch([opening("cellar", OTHER, replaced=(Replaced(BOOT[:4], 0),))]))
        assert store.streams("roof")[0].closed is None and found(store)["roof", "a"][0] == (100, 1.0)


class TestQueries:
    @pytest.fixture
    def filled(self, store: Store) -> Store:
        """Two edges with two sensors each, a reading a minute."""
        for edge in ("cellar", "roof"):
            values = np.arange(20.0).reshape(10, 2) + (100.0 if edge == "roof" else 0.0)
            store.add(Batch([opening(edge)], [message(0, values, 60 * np.arange(10), 0, edge)]))
        return store

    def test_by_edge_and_sensor(self, filled: Store) -> None:
        assert list(found(filled)) == [("cellar", "a"), ("cellar", "b"), ("roof", "a"), ("roof", "b")]
        assert list(found(filled, "roof")) == [("roof", "a"), ("roof", "b")]
        assert list(found(filled, None, "b")) == [("cellar", "b"), ("roof", "b")]
        assert found(filled, "roof", "a")["roof", "a"] == [(60 * i, 100.0 + 2 * i) for i in range(10)]
        assert found(filled, "attic") == found(filled, "roof", "c") == found(filled, "roof", "a' OR 1=1") == {}

    def test_by_time(self, filled: Store) -> None:
        def times(start: int | None, end: int | None) -> list[int]:
            readings = found(filled, "roof", "a", start, end).get(("roof", "a"), [])
            return [time for time, _ in readings]

        second = 10**6
        assert times(120 * second, 240 * second) == [120, 180]
        assert times(120 * second + 1, 240 * second + 1) == [180, 240]
        assert times(None, 60 * second) == [0] and times(540 * second, None) == [540]
        assert times(541 * second, None) == times(None, 0) == times(-5 * second, -second) == []
        assert times(240 * second, 120 * second) == []

    def test_readers_can_take_turns(self, filled: Store) -> None:
        one, other = filled.readings("roof"), filled.readings("cellar")
        pairs = [(next(one), next(other)) for _ in range(2)]
        assert [(a.edge, b.edge) for a, b in pairs] == [("roof", "cellar")] * 2
        assert next(one, None) is None and next(other, None) is None

    @pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
    def test_units_of_time(self, store: Store, unit: str) -> None:
        per_second = UNITS[unit]
        start = 1_700_000_000
        times = [(start + i) * per_second for i in range(5)]
        store.add(Batch([opening(unit=unit)], [message(0, np.arange(10.0).reshape(5, 2), times, 0)]))
        got = found(store, "roof", "a", (start + 1) * 10**6, (start + 3) * 10**6)
        assert got == {("roof", "a"): [(times[1], 2.0), (times[2], 4.0)]}
        assert {chunk.time_unit for chunk in store.readings()} == {unit}

    @pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
    def test_times_that_no_clock_can_show(self, store: Store, unit: str) -> None:
        store.add(Batch([opening(unit=unit)], [message(0, [[1.0, 2.0]], [7], 0)]))
        assert found(store, None, None, 2**62, None) == {}
        assert found(store, None, None, None, -(2**62)) == {}
        assert len(found(store, None, None, -(2**62), 2**62)) == 2

    def test_plain_numbers_are_taken_as_they_are(self, store: Store) -> None:
        store.add(Batch([opening(unit="")], [message(0, [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [-7, 5, 9], 0)]))
        assert found(store, None, "a", -7, 9) == {("roof", "a"): [(-7, 1.0), (5, 2.0)]}

    def test_the_first_and_the_last_time_there_is(self, store: Store) -> None:
        ends = [-(2**63), 2**63 - 1]
        store.add(Batch([opening(unit="")], [message(0, [[1.0, 1.0], [2.0, 2.0]], ends, 0)]))
        assert found(store, None, "a") == {("roof", "a"): [(ends[0], 1.0), (ends[1], 2.0)]}

    def test_a_clock_that_jumps_back_and_one_that_stands_still(self, store: Store) -> None:
        times = [100, 160, 40, 40, 160]
        values = [[float(i), np.nan] for i in range(5)]
        store.add(Batch([opening()], [message(0, values[:3], times[:3], 0), message(1, values[3:], times[3:], 3)]))
        assert found(store)["roof", "a"] == [(40, 2.0), (40, 3.0), (100, 0.0), (160, 1.0), (160, 4.0)]

    def test_more_readings_than_are_read_at_once(self, store: Store) -> None:
        n = 150_000
        # Many of the same time, so that pages begin within them.
        times = np.arange(n) // 50_000
        store.add(Batch([opening(sensors=("a",))], [message(0, np.arange(float(n))[:, None], times, 0)]))
        chunks = list(store.readings("roof", "a"))
        assert len(chunks) > 1
        assert np.array_equal(np.concatenate([chunk.values for chunk in chunks]), np.arange(float(n)))
        assert np.array_equal(np.concatenate([chunk.times for chunk in chunks]), times)

    def test_a_sensor_of_several_streams(self, store: Store) -> None:
        store.add(two_messages())
        store.add(Batch([opening(boot=OTHER, generation=1, sensors=("b", "c"), unit="ms")]))
        store.add(Batch([], [message(0, [[31.0, 1.0]], [280_000], 0, boot=OTHER)]))
        chunks = list(store.readings("roof", "b"))
        assert [(chunk.time_unit, chunk.times.tolist()) for chunk in chunks] == [("s", [100, 220]), ("ms", [280_000])]
        assert list(found(store)) == [("roof", "a"), ("roof", "b"), ("roof", "c")]

    @pytest.mark.parametrize("name", ["Größe 温度", "a'b\"c;--", "%s", "\\x00", "x" * 5000, "", "a\nb\tc"], ids=repr)
    def test_any_name_of_a_sensor(self, store: Store, name: str) -> None:
        store.add(Batch([opening(sensors=(name,))], [message(0, [[1.0]], [1], 0)]))
        assert found(store, "roof", name) == {("roof", name): [(1, 1.0)]}

    def test_a_name_with_a_zero_in_it_stops_nobody(self, store: Store) -> None:
        store.add(Batch([opening(sensors=("a\0b",), unit="\0")], [message(0, [[1.0]], [1], 0)]))
        ((_, (pair,)),) = found(store, "roof", "a\0b").items()
        assert pair == (1, 1.0)


class TestReadingsMadeAgain:
    def test_cleared_and_added(self, store: Store) -> None:
        store.add(two_messages())
        store.add(Batch([opening("cellar")], [message(0, [[7.0, 7.0]], [1], 0, "cellar")]))
        before = everything(store)
        stream = store.streams("roof")[0]
        store.clear_readings(stream)
        assert list(found(store)) == [("cellar", "a"), ("cellar", "b")]
        assert store.streams("roof")[0].readings == 0 and store.streams("roof")[0].samples == 3
        store.add_readings(stream, 0, np.array([[1.0, 10.0], [2.0, np.nan]]), np.array([100, 160]))
        store.add_readings(stream, 2, np.array([[3.0, 30.0]]), np.array([220]))
        assert everything(store) == before

    def test_the_same_sample_twice_is_refused(self, store: Store) -> None:
        store.add(two_messages())
        before = everything(store)
        with pytest.raises(StoreError):
            store.add_readings(store.streams()[0], 2, np.array([[3.0, 30.0]]), np.array([220]))
        assert everything(store) == before


class TestOpenedAgain:
    def test_everything_is_still_there(self, place: Place) -> None:
        with place.open() as store:
            store.add(two_messages())
            store.add(Batch(snapshots=[NewSnapshot("roof", BOOT, 2, b"decoder")]))
            store.add(Batch([opening("cellar", replaced=(Replaced(b"gone", 3),))]))
            before = everything(store)
        with place.open(create=False) as store:
            assert everything(store) == before and store.is_replaced("cellar", b"gone")
            store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
            assert store.streams("roof")[0].next == 3

    def test_a_store_that_is_not_there_is_not_made(self, place: Place) -> None:
        for _ in range(2):
            with pytest.raises(StoreError, match="there is no store"):
                place.open(create=False)

    def test_what_one_stores_another_sees(self, place: Place) -> None:
        with place.open() as one, place.open() as other:
            one.add(two_messages())
            assert everything(other) == everything(one)
            with pytest.raises(StoreError):
                other.add(Batch([], [message(1, [[3.0, 30.0]], [220], 2)]))
            other.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
            assert everything(other) == everything(one)

    def test_a_closed_store_refuses_with_a_reason(self, place: Place) -> None:
        store = place.open()
        store.close()
        store.close()
        with pytest.raises(StoreError, match="closed"):
            store.streams()


def expect_all(store: Store, n_samples: int) -> None:
    """Every reading of the source is in the store, once and within the bound."""
    readings = found(store)
    for place, column in enumerate(SCHEMA.columns):
        there = ~np.isnan(ROWS[:n_samples, place])
        times, values = zip(*readings["roof", column.name], strict=True)
        assert list(times) == TIMES[:n_samples][there].tolist()
        assert np.max(np.abs(np.array(values) - ROWS[:n_samples, place][there])) <= BOUND + 1e-9
    assert sum(stream.samples for stream in store.streams()) == n_samples


class TestOfALink:
    def test_readings_are_within_the_bound_and_can_be_made_again(self, store: Store, tmp_path: Path) -> None:
        link = Link(tmp_path)
        link.cloud.close()
        link.cloud = Cloud(store, link.broker.transport(), clock=lambda: link.now)
        for start in range(0, 200, 20):
            link.push(start, start + 20)
            link.run(1)
        link.run()
        assert link.edge.is_done
        link.edge.close()
        expect_all(store, 200)
        before = everything(store)
        steps: list[tuple[int, int]] = []
        assert rebuild(store, progress=lambda done, total: steps.append((done, total))) == 200
        assert everything(store) == before and steps == [(1, 2), (2, 2)]

    def test_what_lies_under_a_damaged_key_is_forgotten(self, tmp_path: Path) -> None:
        link = Link(tmp_path)
        link.push(0, 200)
        link.edge.flush()
        link.run()
        link.edge.close()
        link.cloud.close()
        path = tmp_path / "store.db"
        connection = sqlite3.connect(path)
        connection.execute("UPDATE readings SET sensor = sensor + 1000 WHERE sample = 3")
        connection.commit()
        with SqliteStore(path) as store:
            rebuild(store)
            expect_all(store, 200)
        assert connection.execute("SELECT COUNT(*) FROM readings WHERE sensor > 1000").fetchone() == (0,)
        connection.close()

    def test_two_clouds_on_one_store_double_nothing(self, place: Place, tmp_path: Path) -> None:
        """Both get every message: whichever is first stores it, the other one fails, reads, and goes on."""
        link = Link(tmp_path)
        link.cloud.close()
        with place.open() as one, place.open() as other:
            clouds = [Cloud(store, link.broker.transport(), clock=lambda: link.now) for store in (one, other)]
            for start in range(0, 100, 10):
                link.push(start, start + 10)
                for _ in range(3):
                    link.edge.step()
                    for cloud in clouds if start % 20 else clouds[::-1]:
                        cloud.step()
                    link.now += 3.0
            link.edge.step()
            assert link.edge.is_done
            assert all(cloud.counts["", "failures of the store"] for cloud in clouds)
            expect_all(one, 100)
        link.edge.close()
