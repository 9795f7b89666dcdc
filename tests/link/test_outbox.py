"""The outbox keeps what it was given, in its order, and refuses files that are not its own."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from orthostream.link import LinkError, Outbox, SqliteStore, StoreError
from orthostream.link.outbox import Snapshot

READINGS, TIMES = np.arange(12.0).reshape(4, 3), np.arange(4)


def test_messages_and_samples_come_back_after_it_was_closed(tmp_path: Path) -> None:
    with Outbox(tmp_path / "o.db", "roof") as outbox, outbox.transaction():
        boot = outbox.begin_boot(b"12345678")
        for k in range(3):
            outbox.add_samples(boot.generation, READINGS[:2] + k, TIMES[:2])
            outbox.add_samples(boot.generation, READINGS[2:] + k, TIMES[2:])
            outbox.add_message(boot.generation, b"message %d" % k, 4)
        outbox.add_samples(boot.generation, READINGS, TIMES)
        outbox.set_mark("here")
        outbox.count("samples", 12)
    with Outbox(tmp_path / "o.db", "roof") as outbox:
        (boot,) = outbox.boots()
        assert boot == (0, b"12345678", 3, 0, b"\0")
        assert [each.data for each in outbox.messages(0, 1, 5)] == [b"message 1", b"message 2"]
        found = list(outbox.samples(0, 1, 3))
        assert [each.sequence for each in found] == [1, 2, None]
        np.testing.assert_array_equal(found[1].readings, READINGS + 2)
        np.testing.assert_array_equal(found[2].times, TIMES)
        assert outbox.mark == "here"
        assert outbox.counts == {"samples": 12}


def test_a_failed_transaction_changes_nothing(tmp_path: Path) -> None:
    with Outbox(tmp_path / "o.db", "roof") as outbox:
        with pytest.raises(RuntimeError), outbox.transaction():
            outbox.begin_boot(b"12345678")
            raise RuntimeError
        assert outbox.boots() == []


def test_acknowledged_samples_stay_until_a_snapshot_has_them(tmp_path: Path) -> None:
    with Outbox(tmp_path / "o.db", "roof") as outbox, outbox.transaction():
        outbox.begin_boot(b"12345678")
        outbox.save_snapshot(Snapshot(0, 0, b""))
        for _ in range(4):
            outbox.add_samples(0, READINGS, TIMES)
            outbox.add_message(0, b"message", 4)
        assert outbox.acknowledge(0, 3) == 3
        assert [each.sequence for each in outbox.samples(0, 0, 3)] == [0, 1, 2, 3]
        outbox.save_snapshot(Snapshot(0, 2, b""))
        assert [each.sequence for each in outbox.samples(0, 0, 3)] == [2, 3]
        assert [each.sequence for each in outbox.messages(0, 0, -1)] == [3]


def test_damaged_samples_are_left_out(tmp_path: Path) -> None:
    with Outbox(tmp_path / "o.db", "roof") as outbox, outbox.transaction():
        outbox.begin_boot(b"12345678")
        outbox.add_samples(0, READINGS, TIMES)
        outbox.add_samples(0, READINGS + 1, TIMES)
        outbox._connection.execute("UPDATE samples SET readings = zeroblob(96) WHERE id = 1")
        assert [each.readings[0, 0] for each in outbox.samples(0, 0, 3)] == [1.0]
        assert list(outbox.samples(0, 0, 4)) == []
        assert len(outbox.take_waiting(0, 3)) == 1
        assert list(outbox.samples(0, 0, 3)) == []


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    Outbox(tmp_path / "o.db", "roof").close()
    with pytest.raises(LinkError, match="the outbox of the edge 'roof', not of 'cellar'"):
        Outbox(tmp_path / "o.db", "cellar")
    with pytest.raises(StoreError, match="is not the store of a link, but its outbox"):
        SqliteStore(tmp_path / "o.db")
    foreign = sqlite3.connect(tmp_path / "foreign.db")
    foreign.execute("CREATE TABLE mine(x)")
    foreign.close()
    with pytest.raises(StoreError, match="a database of another program"):
        Outbox(tmp_path / "foreign.db", "roof")
    (tmp_path / "text.db").write_text("no database, but a text that is long enough to be one" * 50)
    with pytest.raises(StoreError, match="is not the outbox of a link: it is no SQLite file"):
        Outbox(tmp_path / "text.db", "roof")
    with pytest.raises(StoreError, match="unable to open"):
        Outbox(tmp_path / "no folder" / "o.db", "roof")


def test_only_one_process_has_it(tmp_path: Path) -> None:
    with Outbox(tmp_path / "o.db", "roof"), pytest.raises(StoreError, match="another process has it open"):
        Outbox(tmp_path / "o.db", "roof")
