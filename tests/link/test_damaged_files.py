"""Files that were cut or garbled anywhere give a clear error, or a part of the readings; never a wrong reading."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from tests.link.one_link import BOUND, ROWS, TIMES, Link, stored

from orthostream.compression import FrameError
from orthostream.link import LinkError, SqliteStore, rebuild
from orthostream.link.errors import StoreError


def recorded(folder: Path) -> Link:
    """Return a link that has sent 40 samples, and holds 20 more that are not sent, and 5 that wait."""
    link = Link(folder, max_delay=60.0)
    for start in range(0, 40, 10):
        link.push(start, start + 10)
        link.edge.flush()
        link.run()
    link.up.is_connected = False
    for start in range(40, 60, 10):
        link.push(start, start + 10)
        link.edge.flush()
    link.push(60, 65)
    return link


def check_nothing_wrong(store: SqliteStore) -> int:
    """Assert that all readings are readings of the source, each at most once; return how many there are."""
    count = 0
    for sensor in range(ROWS.shape[1]):
        times, values = stored(store, sensor)
        assert len(np.unique(times)) == len(times)
        places = np.searchsorted(TIMES, times)
        assert (TIMES[places] == times).all()
        assert (np.abs(values - ROWS[places, sensor]) <= BOUND).all()
        count += len(times)
    return count


def offsets(size: int, step: int) -> list[int]:
    return [*range(0, size, step), size - 1]


def resume(source: Path, folder: Path, name: str, data: bytes) -> int:
    """Go on with one of the files replaced; return how many readings are stored, -1 if it was refused."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    (folder / name).write_bytes(data)
    try:
        link = Link(folder, max_delay=0.0)
    except LinkError:
        return -1
    try:
        for _ in range(3):
            link.run()
            link.now += 20.0
        return check_nothing_wrong(link.cloud.store)  # type: ignore[arg-type]
    except StoreError:
        return -1
    finally:
        link.up.close()
        link.edge.outbox.close()
        link.cloud.store.close()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of a link whose power was cut."""
    folder, copy = tmp_path_factory.mktemp("run"), tmp_path_factory.mktemp("copies") / "copy"
    link = recorded(folder)
    shutil.copytree(folder, copy)
    link.close()
    assert {each.name for each in copy.iterdir()} >= {"out.db", "store.db", "out.db-wal", "store.db-wal"}
    return copy


ALL = np.isfinite(ROWS[:65]).sum()


@pytest.mark.parametrize("name", ["out.db-wal", "store.db-wal", "out.db", "store.db"])
@pytest.mark.parametrize("step", [3001, pytest.param(499, marks=pytest.mark.slow)])
def test_cut_anywhere(run: Path, tmp_path: Path, name: str, step: int) -> None:
    data = (run / name).read_bytes()
    for cut in offsets(len(data), step):
        count = resume(run, tmp_path / "folder", name, data[:cut])
        assert -1 <= count <= ALL
    assert resume(run, tmp_path / "folder", name, data) == ALL


@pytest.mark.parametrize("name", ["out.db-wal", "store.db-wal", "out.db", "store.db"])
@pytest.mark.parametrize("step", [3001, pytest.param(499, marks=pytest.mark.slow)])
def test_garbled_anywhere(run: Path, tmp_path: Path, name: str, step: int) -> None:
    data = (run / name).read_bytes()
    for place in offsets(len(data), step):
        garbled = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        assert -1 <= resume(run, tmp_path / "folder", name, garbled) <= ALL


@pytest.fixture(scope="module")
def calm_run(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same files after all of it was moved from the write-ahead logs into the databases."""
    copy = tmp_path_factory.mktemp("calm") / "copy"
    shutil.copytree(run, copy)
    for name in ("out.db", "store.db"):
        connection = sqlite3.connect(copy / name)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
    return copy


@pytest.mark.parametrize("step", [3001, pytest.param(499, marks=pytest.mark.slow)])
def test_a_garbled_outbox_never_sends_wrong_readings(calm_run: Path, tmp_path: Path, step: int) -> None:
    data = (calm_run / "out.db").read_bytes()
    assert len(data) > 40_000
    for place in offsets(len(data), step):
        garbled = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        assert -1 <= resume(calm_run, tmp_path / "folder", "out.db", garbled) <= ALL


@pytest.mark.parametrize("step", [3001, pytest.param(499, marks=pytest.mark.slow)])
def test_a_garbled_store_is_rebuilt_from_its_messages_or_refused(calm_run: Path, tmp_path: Path, step: int) -> None:
    """Readings have no checksums, but messages do: whatever is rebuilt is right."""
    data = (calm_run / "store.db").read_bytes()
    rebuilt = 0
    for place in offsets(len(data), step):
        (tmp_path / "store.db").write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            with SqliteStore(tmp_path / "store.db") as store:
                rebuild(store)
                rebuilt += check_nothing_wrong(store) > 0
        except (LinkError, FrameError):
            pass
    assert rebuilt > 0


def test_damaged_snapshots(tmp_path: Path) -> None:
    """A damaged snapshot costs a new stream (edge) or a replay (cloud), and no reading."""
    link = recorded(tmp_path)
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
    assert check_nothing_wrong(link.cloud.store) == ALL  # type: ignore[arg-type]
    link.close()
