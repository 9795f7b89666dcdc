"""What only PostgreSQL has: a server that goes away, other processes, passwords, and views for Grafana."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from orthostream.link import Cloud, StoreError, open_store
from orthostream.link.store import Batch

from ..one_link import Link
from ..postgres_server import PASSWORD, USER, running_server
from .test_store import BOOT, everything, expect_all, found, message, opening, two_messages

psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")

from orthostream.link.store.postgres import PostgresStore  # noqa: E402


@pytest.fixture
def url(new_postgres: Callable[[], str]) -> str:
    return new_postgres()


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with PostgresStore(url) as opened:
        yield opened


@pytest.fixture
def sql(url: str) -> Iterator[Callable[..., list[Any]]]:
    """Run a statement on a connection of its own."""
    with psycopg.connect(url, autocommit=True) as connection:

        def run(statement: str, *values: object) -> list[Any]:
            cursor = connection.execute(statement.encode(), values)
            return list(cursor.fetchall()) if cursor.description else []

        yield run


def end_connections(sql: Callable[..., list[Any]], url: str) -> None:
    """End all connections of stores in this schema, as a restart of the server does."""
    others = "FROM pg_stat_activity WHERE application_name = 'orthostream' AND pid <> pg_backend_pid()"
    sql(f"SELECT pg_terminate_backend(pid, 5000) {others}")


class TestConnections:
    def test_a_lost_connection_fails_once(self, store: PostgresStore, url: str, sql: Callable[..., list[Any]]) -> None:
        store.add(two_messages())
        before = everything(store)
        end_connections(sql, url)
        with pytest.raises(StoreError, match="no connection to the database"):
            store.streams()
        assert everything(store) == before
        end_connections(sql, url)
        with pytest.raises(StoreError, match="no connection"):
            store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
        store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
        assert store.streams()[0].next == 3

    def test_a_server_that_is_killed_and_started_again(self, tmp_path: Path) -> None:
        with running_server(tmp_path) as server:
            store = PostgresStore(server.url)
            store.add(two_messages())
            before = everything(store)
            server.stop()
            for _ in range(2):
                with pytest.raises(StoreError) as caught:
                    store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
                assert "no connection to the database" in str(caught.value) and PASSWORD not in str(caught.value)
            server.start()
            assert everything(store) == before
            store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
            store.close()

    def test_a_cloud_loses_and_doubles_nothing_while_connections_are_lost(
        self, store: PostgresStore, url: str, sql: Callable[..., list[Any]], tmp_path: Path
    ) -> None:
        link = Link(tmp_path)
        link.cloud.close()
        link.cloud = Cloud(store, link.broker.transport(), clock=lambda: link.now)
        for start in range(0, 200, 10):
            link.push(start, start + 10)
            link.edge.step()
            if start % 30 == 0:
                end_connections(sql, url)
            link.run(1)
        link.run(10)
        assert link.edge.is_done
        link.edge.close()
        assert link.cloud.counts["", "failures of the store"] > 0
        expect_all(store, 200)

    def test_no_server(self) -> None:
        with pytest.raises(
            StoreError, match=r"postgresql://me@127.0.0.1:1/db: no connection to the database"
        ) as caught:
            open_store("postgresql://me:secret@127.0.0.1:1/db")
        assert "secret" not in str(caught.value)

    def test_a_wrong_password_is_not_shown(self, url: str) -> None:
        with pytest.raises(StoreError, match="password authentication failed") as caught:
            PostgresStore(url.replace(PASSWORD, "battery-staple"))
        assert "battery" not in str(caught.value)

    @pytest.mark.parametrize(
        "bad",
        [
            "postgresql://me:sec/ret@127.0.0.1:1/db",
            "postgresql://me:sec?ret@127.0.0.1:1/db",
            "postgresql://me:sec#ret@127.0.0.1:1/db",
            "postgresql://me:sec%ret@127.0.0.1:1/db",
            "postgresql://me:sec@ret@127.0.0.1:1/db",
            "postgresql://me:sec:ret@127.0.0.1:1/db",
            "postgresql://me:sec[ret@127.0.0.1:1/db",
            "postgresql://me:sec]ret@127.0.0.1:1/db",
            "postgresql://me:sec ret@127.0.0.1:1/db",
            "postgresql://127.0.0.1:1/db?user=me&password=sec%20ret",
            "postgresql://127.0.0.1:1/db?user=me&passwort=secret",
        ],
    )
    def test_no_part_of_a_password_is_shown(self, bad: str) -> None:
        with pytest.raises(StoreError) as caught:
            PostgresStore(bad)
        assert "sec" not in str(caught.value) and "ret" not in str(caught.value)

    def test_without_psycopg_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(StoreError, match=r"pip install 'orthostream\[postgres\]'"):
            PostgresStore("postgresql://127.0.0.1/db")

    def test_threads_share_a_store(self, store: PostgresStore) -> None:
        def fill(edge: str) -> int:
            store.add(Batch([opening(edge)]))
            for i in range(20):
                store.add(Batch([], [message(i, [[1.0, 2.0]], [i], i, edge)]))
                list(store.readings(edge))
            return len(found(store, edge, "a")[edge, "a"])

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(fill, ["a", "b", "c", "d"])) == [20] * 4

    def test_commits_wait_for_the_disk_whatever_the_default_is(
        self, url: str, sql: Callable[..., list[Any]], store: PostgresStore
    ) -> None:
        lazy = url.replace("options=", "options=-csynchronous_commit%3Doff%20")
        with psycopg.connect(lazy) as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("off",)
        with PostgresStore(lazy) as other, other._connection.use() as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)


class TestManyProcesses:
    def test_tables_are_made_once(self, url: str) -> None:
        start = threading.Barrier(6)

        def make(_: int) -> int:
            start.wait(10)
            with PostgresStore(url) as store:
                return len(store.streams())

        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(make, range(6))) == [0] * 6

    def test_each_message_is_stored_by_one_of_them(self, url: str) -> None:
        """Four writers race for the same messages of one stream, and each has edges of its own."""
        n_messages = 30
        with PostgresStore(url) as store:
            store.add(Batch([opening()]))
        start = threading.Barrier(4)

        def race(who: int) -> int:
            won, refused = 0, []
            with PostgresStore(url) as store:
                store.add(Batch([opening(f"own{who}", sensors=tuple("abcdefgh"))]))
                start.wait(10)
                for i in range(n_messages):
                    own = message(i, np.full((3, 8), who), [i] * 3, 3 * i, f"own{who}")
                    try:
                        store.add(Batch([], [message(i, [[float(i), float(who)]], [i], i), own]))
                        won += 1
                    except StoreError as error:
                        refused.append(str(error))
                        store.add(Batch([], [own]))
            assert all("another process has stored messages of roof" in each for each in refused)
            return won

        with ThreadPoolExecutor(4) as pool:
            wins = list(pool.map(race, range(4)))
        with PostgresStore(url) as store:
            assert sum(wins) == store.streams("roof")[0].next == len(found(store, "roof", "a")["roof", "a"])
            for who in range(4):
                readings = found(store, f"own{who}")
                assert len(readings) == 8
                assert all(
                    pairs == [(i, float(who)) for i in range(30) for _ in range(3)] for pairs in readings.values()
                )

    def test_streams_opened_at_once_keep_their_sensors_apart(self, url: str) -> None:
        with PostgresStore(url):
            pass
        start = threading.Barrier(4)
        names = tuple(f"s{i:03d}" for i in range(200))

        def fill(who: int) -> None:
            with PostgresStore(url) as store:
                start.wait(10)
                values = np.arange(200.0)[None, :] + 1000 * who
                store.add(Batch([opening(f"e{who}", sensors=names)], [message(0, values, [1], 0, f"e{who}")]))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(fill, range(4)))
        with PostgresStore(url) as store:
            for who in range(4):
                got = [pairs for _, pairs in found(store, f"e{who}").items()]
                assert got == [[(1, 1000.0 * who + i)] for i in range(200)]


class TestTables:
    def test_tables_of_others_are_left_alone(self, url: str, sql: Callable[..., list[Any]]) -> None:
        sql("CREATE TABLE messages(a int)")
        for create in (True, False):
            with pytest.raises(StoreError, match="tables of another program: there is no table about"):
                PostgresStore(url, create=create)
        assert sql("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()") == [("messages",)]

    def test_a_part_of_a_store_is_refused(self, store: PostgresStore, url: str, sql: Callable[..., list[Any]]) -> None:
        sql("DROP TABLE replaced")
        with pytest.raises(StoreError, match="there is no table replaced"):
            PostgresStore(url)

    @pytest.mark.parametrize(
        ("statement", "reason"),
        [
            ("UPDATE about SET value = '2' WHERE name = 'version'", "is of version 2, and only version 1 is known"),
            ("DELETE FROM about", "tables of another program"),
            ("ALTER TABLE about RENAME COLUMN value TO wert", "tables of another program"),
        ],
    )
    def test_other_versions_are_refused(
        self, store: PostgresStore, url: str, sql: Callable[..., list[Any]], statement: str, reason: str
    ) -> None:
        sql(statement)
        with pytest.raises(StoreError, match=reason):
            PostgresStore(url)

    def test_a_full_disk(self, store: PostgresStore, sql: Callable[..., list[Any]]) -> None:
        """The server's own error, raised by a trigger after the messages of a batch are in."""
        store.add(two_messages())
        before = everything(store)
        sql(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$"
        )
        sql("CREATE TRIGGER full_disk AFTER INSERT ON readings FOR EACH STATEMENT EXECUTE FUNCTION full_disk()")
        with pytest.raises(StoreError, match="the disk of the database is full; make room"):
            store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))
        assert everything(store) == before
        sql("DROP TRIGGER full_disk ON readings")
        store.add(Batch([], [message(2, [[4.0, 40.0]], [280], 3)]))

    def test_one_sensor_and_one_day_are_found_by_the_index(
        self, store: PostgresStore, sql: Callable[..., list[Any]]
    ) -> None:
        values = np.random.default_rng(0).normal(size=(5000, 8))
        store.add(Batch([opening(sensors=tuple("abcdefgh"))], [message(0, values, 60 * np.arange(5000), 0)]))
        sql("ANALYZE")
        plan = "\n".join(
            line
            for (line,) in sql(
                "EXPLAIN SELECT time, sample, value FROM readings WHERE sensor = 3 AND (time, sample) > (6000, -1)"
                " AND time <= 92400 ORDER BY time, sample LIMIT 65536"
            )
        )
        assert "readings_pkey" in plan and "Filter" not in plan, plan

    def test_a_user_that_may_only_read_can_read(
        self, store: PostgresStore, url: str, sql: Callable[..., list[Any]]
    ) -> None:
        store.add(two_messages())
        ((schema,),) = sql("SELECT current_schema()")
        reader = f"reader_of_{schema}"
        sql(f"CREATE ROLE {reader} LOGIN PASSWORD 'look'")
        sql(f"GRANT USAGE ON SCHEMA {schema} TO {reader}")
        sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {reader}")
        theirs = url.replace(f"{USER}:{PASSWORD}@", f"{reader}:look@")
        with PostgresStore(theirs, create=False) as other:
            assert everything(other) == everything(store)
            with pytest.raises(StoreError, match="permission denied"):
                other.add(Batch([opening("cellar")]))


class TestGrafana:
    @pytest.mark.parametrize("unit", ["ns", "us", "ms", "s"])
    def test_times_are_timestamps(self, store: PostgresStore, sql: Callable[..., list[Any]], unit: str) -> None:
        ticks = {"ns": 10**9, "us": 10**6, "ms": 1000, "s": 1}[unit] * np.array([1_500_000_000, 1_500_000_060])
        store.add(Batch([opening(unit=unit)], [message(0, [[1.0, 10.0], [2.0, np.nan]], ticks, 0)]))
        rows = sql(
            "SELECT edge, sensor, unit, extract(epoch FROM time)::float8, value FROM readings_by_name ORDER BY 5"
        )
        assert rows == [
            ("roof", "a", "degC", 1_500_000_000.0, 1.0),
            ("roof", "a", "degC", 1_500_000_060.0, 2.0),
            ("roof", "b", "degC", 1_500_000_000.0, 10.0),
        ]
        between = "SELECT value FROM readings_between('roof', 'a', to_timestamp(%s), to_timestamp(%s))"
        assert sql(between, 1_500_000_000, 1_500_000_060) == [(1.0,)]
        assert sql(between, 1_500_000_000.5, 1_500_000_061) == [(2.0,)]
        assert sql(between, 0, 10**11) == [(1.0,), (2.0,)]

    def test_fractions_of_a_second(self, store: PostgresStore, sql: Callable[..., list[Any]]) -> None:
        moment = 1_700_000_000_123_456
        store.add(Batch([opening(unit="us")], [message(0, [[1.0, 1.0]], [moment], 0)]))
        assert sql("SELECT (extract(epoch FROM time) * 1000000)::bigint FROM readings_by_name") == [(moment,)] * 2

    def test_no_time_stops_a_query(self, store: PostgresStore, sql: Callable[..., list[Any]]) -> None:
        ends = [-(2**63), 0, 2**63 - 1]
        for unit in ("ns", "us", "ms", "s", "", "1e-3"):
            edge = f"edge{unit}"
            store.add(Batch([opening(edge, unit=unit)], [message(0, [[1.0, 1.0]] * 3, ends, 0, edge)]))
        rows = sql(
            "SELECT edge, count(*), count(time) FROM readings_by_name WHERE sensor = 'a' GROUP BY edge ORDER BY edge"
        )
        assert rows == [("edgems", 3, 1), ("edgens", 3, 3), ("edges", 3, 1), ("edgeus", 3, 1)]
        between = "SELECT count(*) FROM readings_between('edgens', 'a', '0001-01-01Z', '9999-12-31Z')"
        assert sql(between) == [(2,)]

    def test_a_range_is_found_by_the_index(self, store: PostgresStore, sql: Callable[..., list[Any]]) -> None:
        values = np.random.default_rng(0).normal(size=(5000, 8))
        store.add(Batch([opening(sensors=tuple("abcdefgh"))], [message(0, values, 60 * np.arange(5000), 0)]))
        sql("ANALYZE")
        query = "EXPLAIN SELECT * FROM readings_between('roof', 'c', to_timestamp(600), to_timestamp(1200))"
        plan = "\n".join(line for (line,) in sql(query))
        assert "readings_pkey" in plan and "first_tick" not in plan.split("Filter")[-1], plan


def test_the_address_has_no_password(store: PostgresStore, url: str) -> None:
    parts = urlsplit(url)
    assert store.path == f"postgresql://{parts.username}@127.0.0.1:{parts.port}{parts.path}"
    assert BOOT not in repr(store).encode() and PASSWORD not in repr(store)
