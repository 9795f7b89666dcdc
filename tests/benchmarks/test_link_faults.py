"""The benchmark of faults: that it finds what is wrong, and that nothing is."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from argparse import Namespace
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from benchmarks.faults.comparison import compare
from benchmarks.faults.growing_table import N_SENSORS, SENSORS, GrowingTable, read_table
from benchmarks.faults.lossy_disk import LossyDisk, build_library
from benchmarks.faults.power_cuts import run_power_cuts
from benchmarks.faults.schedules import Schedules

from benchmarks import link_faults
from orthostream.compression import Column, Lossless, Schema, TimeAxis
from orthostream.link import Cloud, Edge, MemoryBroker, SqliteStore

_WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute(f"PRAGMA synchronous = {sys.argv[2]}")
connection.execute("CREATE TABLE IF NOT EXISTS numbers(n INTEGER PRIMARY KEY)")
(n,) = connection.execute("SELECT COALESCE(MAX(n), 0) FROM numbers").fetchone()
while True:
    n += 1
    connection.execute("INSERT INTO numbers VALUES (?)", (n,))
    print(n, flush=True)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        return build_library(tmp_path_factory.mktemp("library"))
    except RuntimeError as error:
        pytest.skip(str(error))


def stored(rows: np.ndarray, times: np.ndarray) -> SqliteStore:
    """Return a store that holds some samples of an edge."""
    schema = Schema(tuple(Column(name) for name in SENSORS), TimeAxis("time", "s"))
    broker = MemoryBroker()
    store = SqliteStore(":memory:")
    cloud = Cloud(store, broker.transport())
    with Edge("edge", schema, Lossless(), ":memory:", broker.transport(), max_delay=0.0) as edge:
        edge.push(rows, times)
        edge.step()
        cloud.step()
    return store


def table_of(folder: Path, count: int = 50) -> tuple[Path, np.ndarray, np.ndarray]:
    table = GrowingTable(folder / "source.csv", 1)
    for _ in range(count // 10):
        table.append(10)
    times, rows = read_table(table.path)
    return table.path, times, rows


def test_a_table_grows_by_whole_samples_with_their_own_times(tmp_path: Path) -> None:
    _, times, rows = table_of(tmp_path)
    np.testing.assert_array_equal(np.diff(times), 1)
    assert rows.shape == (50, N_SENSORS)
    assert 0 < np.isnan(rows).sum() < 100


def test_a_comparison_finds_nothing_where_nothing_is_wrong(tmp_path: Path) -> None:
    source, times, rows = table_of(tmp_path)
    found = compare(stored(rows, times), "edge", source, 0.0)
    assert found.is_right
    assert (found.samples, found.readings, found.streams) == (50, (~np.isnan(rows)).sum(), 1)


def test_a_comparison_finds_lost_doubled_invented_and_wrong_readings(tmp_path: Path) -> None:
    source, times, rows = table_of(tmp_path)
    there = (~np.isnan(rows)).sum(axis=1)
    lost = compare(stored(rows[:-1], times[:-1]), "edge", source, 0.0)
    assert (lost.lost, lost.doubled, lost.invented, lost.beyond) == (there[-1], 0, 0, 0)
    again = compare(stored(rows[[*range(50), 7]], times[[*range(50), 7]]), "edge", source, 0.0)
    assert (again.lost, again.doubled, again.invented, again.beyond) == (0, there[7], 0, 0)
    invented = compare(stored(rows, np.append(times[:-1], times[-1] + 1)), "edge", source, 0.0)
    assert (invented.lost, invented.doubled, invented.invented) == (there[-1], 0, there[-1])
    moved = rows.copy()
    moved[3] += 0.02
    wrong = compare(stored(moved, times), "edge", source, 0.01)
    assert (wrong.lost, wrong.doubled, wrong.invented, wrong.beyond) == (0, 0, 0, there[3])
    assert not any(each.is_right for each in (lost, again, invented, wrong))
    assert not compare(SqliteStore(":memory:"), "edge", source, 0.0).is_right


@pytest.mark.parametrize(("synchronous", "keeps"), [("FULL", True), ("NORMAL", False), ("OFF", False)])
def test_a_lossy_disk_loses_what_was_not_synced_and_only_that(
    tmp_path: Path, library: Path, synchronous: str, keeps: bool
) -> None:
    disk = LossyDisk(tmp_path / "disk", library)
    told = 0
    for _ in range(2):
        command = [sys.executable, "-c", _WRITER, str(disk.folder / "numbers.db"), synchronous]
        environment = {**os.environ, **disk.environment, "LOSSY_MILLISECONDS": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as process:
            assert process.stdout is not None
            for _ in range(20):
                told = max(told, int(process.stdout.readline()))
            time.sleep(0.05)
            process.kill()
            told = max([told, *map(int, process.stdout.read().split())])
        disk.crash()
    # A copy: what this process writes would not be seen as synced.
    shutil.copytree(disk.folder, tmp_path / "copy")
    connection = sqlite3.connect(tmp_path / "copy" / "numbers.db")
    tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    found = connection.execute("SELECT COUNT(*) FROM numbers").fetchone()[0] if tables else 0
    connection.close()
    assert found in (told, told + 1) if keeps else found < told, (found, told)
    assert disk.crashes == 2


@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_a_lossy_disk_keeps_some_sectors(tmp_path: Path, library: Path, kept: float) -> None:
    disk = LossyDisk(tmp_path / "disk", library, kept=kept, seed=3)
    (disk.folder / "file").write_bytes(b"new!" * 1000)
    (disk.folder / ".synced" / "file").write_bytes(b"old." * 1000)
    (disk.folder / "same").write_bytes(b"same")
    (disk.folder / ".synced" / "same").write_bytes(b"same")
    (disk.folder / "file-shm").write_bytes(b"shared")
    disk.crash()
    assert not (disk.folder / "file-shm").exists()
    assert (disk.folder / "same").read_bytes() == b"same"
    left = (disk.folder / "file").read_bytes()
    assert len(left) == 4000
    assert left.count(b"old.") + left.count(b"new!") == 1000
    assert (left.count(b"new!") > 0) == (kept > 0.0)
    assert disk.torn == 1


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0.0, 0.5])
def test_nothing_is_lost_when_the_power_fails(tmp_path: Path, library: Path, kept: float) -> None:
    cuts = run_power_cuts(25, tmp_path, library, kept, 5)
    assert cuts.is_right, cuts
    assert cuts.torn > 0
    assert cuts.cuts == 25


@pytest.mark.slow
def test_nothing_is_lost_when_programs_are_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") is None:
        pytest.skip("Mosquitto is not installed")
    monkeypatch.setattr(link_faults, "_SETTINGS", link_faults._SETTINGS[:1])
    monkeypatch.setattr(link_faults, "_CUTS", {True: 5})
    monkeypatch.setattr(link_faults, "_SCHEDULES", {True: 10})
    monkeypatch.setattr(link_faults, "_STEPS", {True: (5003, 20011)})
    records = tmp_path / "faults.json"
    assert link_faults.run_faults(Namespace(quick=True, seconds=10.0, json=records)) == 0
    told = capsys.readouterr().out
    assert "Mosquitto, SQLite" in told
    assert "every promise was kept" in told
    numbers = {(each["method"], each["metric"]): each["value"] for each in json.loads(records.read_text())}
    assert numbers["kills", "readings"] > 1000
    assert [numbers["kills", what] for what in ("lost", "doubled", "invented", "beyond", "ended")] == [0.0] * 5
    assert numbers["simulated network", "schedules"] == 10.0
    assert numbers["cut", "wrong"] == numbers["garbled", "wrong"] == 0.0 and "decoder snapshot" in told


def test_failed_schedules_are_told_with_their_seeds() -> None:
    text = link_faults.schedule_text(Schedules(500, Counter(samples=7), {41: "AssertionError: lost"}))
    assert text.splitlines() == [
        "500 random schedules of a simulated network, 1 failed",
        "7 samples",
        "seed 41: AssertionError: lost",
    ]
