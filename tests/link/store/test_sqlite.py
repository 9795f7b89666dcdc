"""SQLite files that are damaged, cut short, or somebody else's."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from orthostream.link import Outbox, SqliteStore, StoreError
from orthostream.link.store import Batch

from .test_store import everything, message, opening


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of a few thousand readings."""
    place = tmp_path / "store.db"
    with SqliteStore(place) as store:
        values = np.random.default_rng(0).normal(size=(2000, 2))
        store.add(Batch([opening()], [message(0, values, np.arange(2000), 0)]))
    assert not place.with_name("store.db-wal").exists()
    return place


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "readings.csv"
    place.write_text("time,a\n" + "2017-01-01,1\n" * 1000)
    with pytest.raises(StoreError, match=r"readings\.csv is not the store of a link"):
        SqliteStore(place)
    assert place.read_text().startswith("time,a\n")
    with pytest.raises(StoreError, match="unable to open"):
        SqliteStore(tmp_path)
    with pytest.raises(StoreError, match="unable to open"):
        SqliteStore(tmp_path / "no" / "such" / "folder.db")


def test_databases_of_others_are_left_as_they_are(tmp_path: Path) -> None:
    place = tmp_path / "theirs.db"
    connection = sqlite3.connect(place)
    connection.execute("CREATE TABLE streams(a)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="of another program"):
        SqliteStore(place)
    with Outbox(tmp_path / "out.db", "roof"):
        pass
    with pytest.raises(StoreError, match="is not the store of a link, but its outbox"):
        SqliteStore(tmp_path / "out.db")


def test_a_later_version_is_refused(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(StoreError, match="is of version 2"):
        SqliteStore(path)


def test_a_file_that_is_cut_short(path: Path) -> None:
    data = path.read_bytes()
    assert len(data) > 100_000
    # SQLite by itself takes less than 512 bytes for a new file, and a page that was cut for one that ends in zeros.
    sizes = (1, 100, 511, 512, 1000, 4095, 4096, 8192, 20_000, len(data) // 2, len(data) - 4096)
    for size in (*sizes, len(data) - 4000, len(data) - 1):
        place = path.with_name(f"half{size}.db")
        place.write_bytes(data[:size])
        with pytest.raises(StoreError, match=place.name), SqliteStore(place, create=False) as store:
            everything(store)


def test_a_file_with_damage_is_read_or_refused(path: Path) -> None:
    data = path.read_bytes()
    random = np.random.default_rng(1)
    refused = 0
    for i in range(40):
        damaged = bytearray(data)
        start = 4096 * int(random.integers(len(data) // 4096))
        damaged[start : start + 64] = random.bytes(64)
        place = path.with_name(f"damaged{i}.db")
        place.write_bytes(damaged)
        try:
            with SqliteStore(place) as store:
                everything(store)
        except StoreError:
            refused += 1
    assert refused > 20
