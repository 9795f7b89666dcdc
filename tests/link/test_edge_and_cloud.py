"""What an edge and a cloud promise: restarts cost nothing, what is lost is asked for, and full disks lose nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.link.one_link import ROWS, SCHEMA, TIMES, Link, check, stored

from orthostream.compression import Column, Lossless, MaxError, Paper, RelativeError, Rmse, Schema, Target, TimeAxis
from orthostream.link import Edge, LinkError, MemoryBroker, OutboxFullError, StoreError, rebuild


def test_all_readings_arrive(tmp_path: Path) -> None:
    link = Link(tmp_path)
    for start in range(0, 600, 50):
        link.push(start, start + 50)
        link.run(1)
    assert link.edge.is_done
    check(link.cloud.store, 0, 600)
    about = link.cloud.status()["edges"]["roof"]
    assert about["samples"] == 600
    assert about["readings"] == np.isfinite(ROWS).sum()
    assert about["bytes"] == link.edge.status()["message bytes"] == link.edge.status()["bytes sent"]
    link.close()


def test_restarts_cost_nothing(tmp_path: Path) -> None:
    """The bytes are those of a run without restarts: the stream goes on with the model that it had."""
    (tmp_path / "calm").mkdir()
    calm, wild = Link(tmp_path / "calm"), Link(tmp_path)
    for start in range(0, 300, 10):
        for link in (calm, wild):
            link.push(start, start + 10)
            link.run(1)
        wild.crash_edge()
        if start % 20:
            wild.crash_cloud()
        else:
            wild.edge.close()
            wild.up.close()
            wild.edge = wild.new_edge()
    check(wild.cloud.store, 0, 300)
    assert len(wild.cloud.store.streams()) == 1
    # Headers differ in the random number of the stream, which changes no length.
    assert wild.cloud.store.streams()[0].n_bytes == calm.cloud.store.streams()[0].n_bytes
    calm.close()
    wild.close()


def test_samples_that_wait_survive_a_crash(tmp_path: Path) -> None:
    link = Link(tmp_path, max_delay=60.0)
    for start in range(0, 30, 3):
        link.push(start, start + 3)
        link.crash_edge()
    assert link.edge.status()["samples waiting"] == 30
    link.run(1)
    assert not link.edge.is_done
    link.now += 61.0
    link.run()
    assert link.edge.is_done
    assert link.cloud.store.streams()[0].next == 1
    check(link.cloud.store, 0, 30)
    link.close()


def test_restarts_do_not_make_samples_wait_for_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = 1.7e9
    monkeypatch.setattr("orthostream.link.recording.time.time", lambda: wall)
    link = Link(tmp_path, max_delay=60.0)
    link.push(0, 5)
    for _ in range(3):
        wall += 25.0
        link.crash_edge()
        link.edge.step()
    assert link.edge.status()["samples waiting"] == 0
    # A clock that has jumped back does no harm.
    link.push(5, 10)
    wall -= 1e6
    link.crash_edge()
    link.edge.step()
    assert link.edge.status()["samples waiting"] == 5
    link.now += 61.0
    link.run()
    check(link.cloud.store, 0, 10)
    link.close()


def test_a_long_time_offline(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.up.is_connected = False
    for start in range(0, 600, 3):
        link.push(start, start + 3)
        link.edge.step()
    assert link.edge.status()["messages to send"] == 200
    link.up.is_connected = True
    link.run(6)
    assert link.edge.is_done
    check(link.cloud.store, 0, 600)
    link.close()


def test_a_cloud_that_has_lost_its_store_gets_what_was_not_acknowledged(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.push(0, 100)
    link.run()
    assert link.edge.is_done
    link.crash_cloud(name="another.db")
    link.push(100, 200)
    for _ in range(8):
        link.run()
    assert link.edge.is_done
    assert link.edge.counts["restarts asked for"] == 1
    check(link.cloud.store, 100, 200)
    link.push(200, 300)
    link.run()
    check(link.cloud.store, 100, 300)
    link.close()


def test_a_cloud_with_an_older_copy_of_its_store_goes_on(tmp_path: Path) -> None:
    """What lies between the copy and the last acknowledgement is lost, and nothing else."""
    link = Link(tmp_path)
    link.push(0, 100)
    link.run()
    link.cloud.close()
    shutil.copy(tmp_path / "store.db", tmp_path / "copy.db")
    link.crash_cloud()
    link.push(100, 200)
    link.run()
    link.crash_cloud(name="copy.db")
    link.push(200, 300)
    for _ in range(8):
        link.run()
    assert link.edge.is_done
    assert [each.samples for each in link.cloud.store.streams()] == [100, 100]
    times, _ = stored(link.cloud.store, 0)
    here = np.flatnonzero(~np.isnan(ROWS[:300, 0]))
    np.testing.assert_array_equal(times, TIMES[here[(here < 100) | (here >= 200)]])
    link.close()


def test_damaged_messages_in_the_store_end_their_stream(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.push(0, 50)
    link.run()
    link.push(50, 100)
    link.run()
    connection = link.cloud.store._connection  # type: ignore[attr-defined]
    connection.execute("UPDATE messages SET data = substr(data, 1, 9) WHERE sequence = 1")
    link.crash_cloud()
    link.push(100, 150)
    for _ in range(3):
        link.run()
    assert link.edge.is_done
    assert link.edge.counts["restarts asked for"] == 1
    check(link.cloud.store, 0, 150)
    link.close()


@pytest.mark.parametrize("what", ["sensors", "target"])
def test_another_schema_or_target_begins_a_new_stream(tmp_path: Path, what: str) -> None:
    link = Link(tmp_path, max_delay=60.0)
    link.push(0, 50)
    link.edge.flush()
    link.push(50, 60)
    if what == "sensors":
        schema = Schema((*SCHEMA.columns, Column("new")), SCHEMA.time)
        link.crash_edge(schema=schema)
        link.edge.push(np.column_stack([ROWS[60:70], np.ones(10)]), TIMES[60:70])
    else:
        link.crash_edge(target=Lossless())
        link.push(60, 70)
    link.edge.flush()
    link.run(6)
    assert link.edge.is_done
    assert [each.samples for each in link.cloud.store.streams()] == [60, 10]
    check(link.cloud.store, 0, 70)
    link.close()


@pytest.mark.parametrize(
    "target",
    [Lossless(), MaxError([0.5] * 8), RelativeError(0.01), Rmse(0.1), Paper(4, value_bits=6, random_state=1)],
    ids=lambda target: type(target).__name__,
)
def test_the_same_target_goes_on_with_its_stream(tmp_path: Path, target: Target) -> None:
    link = Link(tmp_path)
    link.crash_edge(target=target)
    for start in range(0, 200, 50):
        link.push(start, start + 50)
        link.edge.close()
        link.edge = link.new_edge(target=target)
    link.run(6)
    # The first one is of the target that a link has by default, and is empty.
    assert [each.samples for each in link.cloud.store.streams()] == [200]
    link.close()


class TestFullOutbox:
    def test_new_samples_are_refused(self, tmp_path: Path) -> None:
        link = Link(tmp_path, limit=1 << 20)
        link.up.is_connected = False
        taken = 0
        rng = np.random.default_rng(0)
        with pytest.raises(OutboxFullError, match="samples are refused"):
            for taken in range(0, 200_000, 500):
                link.edge.push(np.round(rng.normal(0.0, 1e12, (500, 8))), np.arange(taken, taken + 500))
        assert taken > 1000
        assert link.edge.outbox.n_bytes < 1.2 * (1 << 20)
        link.up.is_connected = True
        for _ in range(60):
            link.run()
        assert link.edge.is_done
        link.edge.push(ROWS[:1], np.array([taken]))
        link.run()
        assert sum(each.samples for each in link.cloud.store.streams()) == taken + 1
        link.close()

    def test_the_oldest_are_dropped(self, tmp_path: Path) -> None:
        link = Link(tmp_path, limit=1 << 20, when_full="drop oldest")
        link.up.is_connected = False
        rng = np.random.default_rng(0)
        for start in range(0, 30_000, 500):
            link.edge.push(np.round(rng.normal(0.0, 1e12, (500, 8))), np.arange(start, start + 500))
        dropped = link.edge.status()["samples dropped"]
        assert 0 < dropped < 25_000
        assert link.edge.outbox.n_bytes < 1.5 * (1 << 20)
        link.up.is_connected = True
        for _ in range(60):
            link.run()
        assert link.edge.is_done
        times, _ = stored(link.cloud.store, 0)
        np.testing.assert_array_equal(times, np.arange(dropped, 30_000))
        link.close()


def test_a_full_disk_of_the_edge_loses_nothing_that_was_taken(tmp_path: Path) -> None:
    link = Link(tmp_path)
    pages = link.edge.outbox._connection.execute("PRAGMA page_count").fetchone()[0]
    link.up.is_connected = False
    link.edge.outbox._connection.execute(f"PRAGMA max_page_count = {pages + 4}")
    taken = 0
    with pytest.raises(StoreError, match="the disk is full"):
        for taken in range(0, 600, 5):
            link.push(taken, taken + 5)
    link.edge.outbox._connection.execute("PRAGMA max_page_count = 1000000")
    link.up.is_connected = True
    link.run(8)
    check(link.cloud.store, 0, taken)
    link.push(taken, 600)
    link.run(8)
    check(link.cloud.store, 0, 600)
    assert len(link.cloud.store.streams()) == 1
    link.close()


def test_a_full_disk_of_the_cloud_acknowledges_nothing(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.push(0, 50)
    link.run()
    connection = link.cloud.store._connection  # type: ignore[attr-defined]
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    link.push(50, 400)
    link.run(8)
    assert not link.edge.is_done
    assert "the disk is full" in link.cloud.status()["last error"]
    connection.execute("PRAGMA max_page_count = 1000000")
    for _ in range(6):
        link.run(8)
    assert link.edge.is_done
    check(link.cloud.store, 0, 400)
    link.close()


def test_a_mark_is_kept_with_its_samples(tmp_path: Path) -> None:
    link = Link(tmp_path)
    assert link.edge.mark is None
    link.edge.push(ROWS[:5], TIMES[:5], mark="line 5")
    with pytest.raises(ValueError, match="8 sensors"):
        link.edge.push(ROWS[:5, :3], TIMES[:5], mark="line 10")
    link.crash_edge()
    assert link.edge.mark == "line 5"
    link.close()


def test_readings_are_made_again_from_messages(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.push(0, 200)
    link.run()
    connection = link.cloud.store._connection  # type: ignore[attr-defined]
    connection.execute("DELETE FROM readings WHERE sensor % 2")
    connection.execute("UPDATE readings SET value = 7")
    assert rebuild(link.cloud.store) == 200
    check(link.cloud.store, 0, 200)
    link.close()


def test_the_papers_mode(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.edge.close()
    link.up.close()
    (tmp_path / "out.db").unlink()
    link.edge = link.new_edge(target=Paper(4), max_delay=60.0)
    for start in range(0, 400, 20):
        link.push(start, start + 20)
        link.edge.flush()
        link.run(1)
        if start == 200:
            link.crash_edge(target=Paper(4), max_delay=60.0)
            link.crash_cloud()
    link.run()
    assert link.edge.is_done
    assert sum(each.samples for each in link.cloud.store.streams()) == 400
    link.close()


def test_answers_that_may_wait(tmp_path: Path) -> None:
    """With ``answer_every`` few messages are answered, and all are in the end."""
    link = Link(tmp_path, answer_every=3600.0)
    for start in range(0, 200, 2):
        link.push(start, start + 2)
        link.edge.step()
        link.cloud.step()
        link.now += 60.0
    link.edge.step()
    check(link.cloud.store, 0, 200)
    assert link.edge.counts["messages sent"] == 100
    assert 6 <= link.edge.counts["answers"] <= 10
    assert not link.edge.is_done
    link.edge.hurry()
    link.run()
    assert link.edge.is_done
    check(link.cloud.store, 0, 200)
    link.close()


def test_keys(tmp_path: Path) -> None:
    link = Link(tmp_path, key=b"k" * 16)
    link.crash_cloud(keys={"roof": b"k" * 16})
    link.push(0, 20)
    link.run()
    assert link.edge.is_done
    link.crash_cloud(keys={"roof": b"x" * 16})
    link.push(20, 40)
    link.run()
    assert not link.edge.is_done
    assert link.cloud.status()["edges"]["roof"]["refused"] >= 1
    link.crash_cloud(keys={"cellar": b"k" * 16})
    link.run(5)
    assert "no key" in link.cloud.last_error
    link.crash_cloud(keys=b"k" * 16)
    link.run(10)
    check(link.cloud.store, 0, 40)
    link.close()


def test_bad_parameters(tmp_path: Path) -> None:
    transport = MemoryBroker().transport()
    good = {"name": "roof", "schema": SCHEMA, "target": MaxError(1.0), "outbox": tmp_path / "o.db"}
    for change, match in (
        ({"name": "a/b"}, "name of 1 to 64"),
        ({"schema": Schema.of(3)}, "needs times"),
        ({"max_delay": -1.0}, "max_delay"),
        ({"max_delay": float("nan")}, "max_delay"),
        ({"when_full": "explode"}, "when_full"),
        ({"limit": 1000}, "limit must be"),
        ({"answer_every": -1.0}, "answer_every"),
        ({"key": b"short"}, "16 to 64 bytes"),
    ):
        with pytest.raises(ValueError, match=match):
            Edge(**(good | change), transport=transport)  # type: ignore[arg-type]
    with Edge(**good, transport=transport), pytest.raises(StoreError, match="another process"):  # type: ignore[arg-type]
        Edge(**good, transport=transport)  # type: ignore[arg-type]
    with pytest.raises(LinkError, match="outbox of the edge 'roof'"):
        Edge(**(good | {"name": "cellar"}), transport=transport)  # type: ignore[arg-type]


def test_times_in_nanoseconds(tmp_path: Path) -> None:
    link = Link(tmp_path)
    link.edge.close()
    link.up.close()
    (tmp_path / "out.db").unlink()
    link.edge = link.new_edge(schema=Schema(SCHEMA.columns, TimeAxis("time", "ns")))
    link.edge.push(ROWS[:50], TIMES[:50] * 10**9)
    link.run()
    start, end = int(TIMES[10]) * 10**6, int(TIMES[20]) * 10**6
    chunks = list(link.cloud.store.readings("roof", SCHEMA.columns[0].name, start, end))
    times = np.concatenate([chunk.times for chunk in chunks])
    np.testing.assert_array_equal(times, TIMES[10:20][~np.isnan(ROWS[10:20, 0])] * 10**9)
    link.close()
