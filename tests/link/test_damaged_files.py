"""Files that were cut or garbled anywhere give a clear error, or a part of the readings; never a wrong reading."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from benchmarks.faults.damage import SUBJECTS, content, outcome, record, try_places
from tests.link.one_link import ROWS, Link, check

from orthostream.link import Outbox, SqliteStore
from orthostream.link.errors import StoreError


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "recorded"
    record(folder)
    return folder


@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("step", [3001, pytest.param(499, marks=pytest.mark.slow)])
def test_damaged_anywhere(recorded: Path, tmp_path: Path, subject: str, step: int) -> None:
    data = content(recorded, subject)
    found = try_places(recorded, subject, [*range(0, len(data), step), len(data) - 1])
    for counts in found.values():
        assert counts["wrong"] == 0 and counts["crashed"] == 0 and counts.total() > 5
        # Nothing can be read whole that was cut.
    assert found["cut"]["all"] == 0
    # The store holds what had arrived.
    whole = "part" if subject == "store" else "all"
    assert outcome(recorded, subject, data, tmp_path / "files") == whole


def test_damaged_snapshots(tmp_path: Path) -> None:
    """A damaged snapshot costs a new stream (edge) or a replay (cloud), and no reading."""
    link = Link(tmp_path)
    link.push(0, 30)
    link.run()
    link.up.is_connected = False
    link.push(30, 60)
    link.edge._recording.save()
    link.up.close()
    link.edge.outbox._connection.execute("UPDATE snapshot SET encoder = substr(encoder, 1, 100)")
    link.edge.outbox.close()
    link.cloud.close()
    link.cloud = link.new_cloud()
    link.cloud.store._connection.execute("UPDATE snapshots SET decoder = zeroblob(500)")  # type: ignore[attr-defined]
    link.edge = link.new_edge()
    for _ in range(3):
        link.run()
        link.now += 60.0
    assert link.edge.is_done
    assert link.edge.status()["streams begun after damage"] == 1
    check(link.cloud.store, 0, 60)
    assert np.isfinite(ROWS[:60]).sum() == sum(each.readings for each in link.cloud.store.streams())
    link.close()


def test_a_garbled_name_of_what_the_file_is(tmp_path: Path) -> None:
    """The row that says what the file is no longer has its name."""
    path = tmp_path / "outbox.db"
    Outbox(path, "roof").close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE about SET name = 'whau' WHERE name = 'what'")
    with pytest.raises(StoreError, match="damaged"):
        Outbox(path, "roof")


@pytest.mark.parametrize("content", [b"time,a\n1,2\n" * 200, b"SQLi", b"OST\x02" + bytes(2000)])
def test_a_file_of_another_kind_is_not_called_damaged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"no SQLite file|damaged") as caught:
        SqliteStore(path, create=False)
    assert ("no SQLite file" in str(caught.value)) == (content != b"SQLi")
    assert path.read_bytes() == content
