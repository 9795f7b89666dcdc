"""A store in one SQLite file.

Readings are narrow rows, clustered by sensor and time: "this sensor, this day" is one range of the file. The number of
the sample makes rows unique where a clock stands still or jumps back.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.link.errors import StoreError
from orthostream.link.messages import TAG_BYTES
from orthostream.link.sqlite_files import open_database, translated
from orthostream.link.store.store import Batch, Chunk, NewMessage, NewStream, Store, Stream
from orthostream.link.store.times import ticks

_VERSION = 1
_SCHEMA = """
CREATE TABLE about(name TEXT PRIMARY KEY, value);
CREATE TABLE streams(number INTEGER PRIMARY KEY, edge TEXT NOT NULL, boot BLOB NOT NULL, generation INTEGER NOT NULL,
    header BLOB NOT NULL, next INTEGER NOT NULL DEFAULT 0, samples INTEGER NOT NULL DEFAULT 0,
    readings INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, closed INTEGER, time_unit TEXT NOT NULL,
    UNIQUE(edge, boot));
CREATE TABLE replaced(edge TEXT, tag BLOB, start INTEGER NOT NULL, PRIMARY KEY(edge, tag)) WITHOUT ROWID;
CREATE TABLE sensors(number INTEGER PRIMARY KEY, stream INTEGER NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
    unit TEXT NOT NULL, UNIQUE(stream, place));
CREATE TABLE messages(stream INTEGER, sequence INTEGER, data BLOB NOT NULL, first_sample INTEGER NOT NULL,
    samples INTEGER NOT NULL, PRIMARY KEY(stream, sequence)) WITHOUT ROWID;
CREATE TABLE snapshots(stream INTEGER PRIMARY KEY, next INTEGER NOT NULL, decoder BLOB NOT NULL);
CREATE TABLE readings(sensor INTEGER, time INTEGER, sample INTEGER, value REAL NOT NULL,
    PRIMARY KEY(sensor, time, sample)) WITHOUT ROWID;
"""
_COLUMNS = "number, edge, boot, generation, header, next, samples, readings, bytes, closed"
#: Rows that are read at a time.
_CHUNK = 1 << 16


class SqliteStore(Store):
    """A store in one file; only one process may write to it.

    Parameters
    ----------
    path : path or ":memory:"
    create : bool, default True
        Whether to make the file if it is not there.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = str(path)
        if not create and self.path != ":memory:" and not Path(path).is_file():
            raise StoreError(f"there is no store at {self.path}")
        self._connection = open_database(self.path, "store", _VERSION, _SCHEMA, create=create)

    def close(self) -> None:
        self._connection.close()

    def add(self, batch: Batch) -> None:
        with translated(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            for stream in batch.streams:
                self._open(stream)
            numbers: dict[tuple[str, bytes], tuple[int, int]] = {}
            for message in batch.messages:
                key = message.edge, message.boot
                if key not in numbers:
                    numbers[key] = self._find(*key)
                self._store(message, *numbers[key])
            for edge, boot, sequence, decoder in batch.snapshots:
                number, _ = self._find(edge, boot)
                self._connection.execute(
                    "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (number, sequence, decoder)
                )

    def _open(self, stream: NewStream) -> None:
        execute = self._connection.execute
        for each in stream.replaced:
            self._replace(stream.edge, each.tag, each.start)
        row = execute(
            "INSERT INTO streams(edge, boot, generation, header, time_unit) SELECT ?1, ?2, ?3, ?4, ?5"
            " WHERE NOT EXISTS (SELECT * FROM replaced WHERE edge = ?1 AND tag = substr(?2, 1, ?6)) RETURNING number",
            (stream.edge, stream.boot, stream.generation, stream.header, stream.time_unit, TAG_BYTES),
        ).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: a stream of {stream.edge} was replaced before it was opened")
        (number,) = row
        self._connection.executemany(
            "INSERT INTO sensors(stream, place, name, unit) VALUES (?, ?, ?, ?)",
            [(number, place, name, unit) for place, (name, unit) in enumerate(stream.sensors)],
        )

    def _replace(self, edge: str, tag: bytes, start: int) -> None:
        """Forget the readings of a boot from a message on, and close it."""
        execute = self._connection.execute
        execute("INSERT OR IGNORE INTO replaced VALUES (?, ?, ?)", (edge, tag, start))
        for (number,) in execute(
            "SELECT number FROM streams WHERE edge = ? AND substr(boot, 1, ?) = ?", (edge, TAG_BYTES, tag)
        ).fetchall():
            (first,) = execute(
                "SELECT MIN(first_sample) FROM messages WHERE stream = ? AND sequence >= ?", (number, start)
            ).fetchone()
            if first is not None:
                gone = execute(
                    "DELETE FROM readings WHERE sample >= ?2"
                    " AND sensor IN (SELECT number FROM sensors WHERE stream = ?1)",
                    (number, first),
                ).rowcount
                execute(
                    "UPDATE streams SET samples = ?, readings = readings - ? WHERE number = ?", (first, gone, number)
                )
            execute("UPDATE streams SET closed = ? WHERE number = ?", (start, number))

    def _find(self, edge: str, boot: bytes) -> tuple[int, int]:
        """Return the number of a stream, and that of its first sensor."""
        row = self._connection.execute(
            "SELECT number, (SELECT MIN(sensors.number) FROM sensors WHERE stream = streams.number) FROM streams"
            " WHERE edge = ? AND boot = ?",
            (edge, boot),
        ).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: a message of {edge} belongs to no stream")
        return row[0], row[1]

    def _store(self, message: NewMessage, number: int, first_sensor: int) -> None:
        execute = self._connection.execute
        n_samples = len(message.values)
        n_readings = int(np.count_nonzero(~np.isnan(message.values)))
        # First of all: what another process has stored is not there twice.
        changed = execute(
            "UPDATE streams SET next = next + 1, samples = samples + ?, readings = readings + ?, bytes = bytes + ?"
            " WHERE number = ? AND next = ? AND closed IS NULL",
            (n_samples, n_readings, len(message.data), number, message.sequence),
        ).rowcount
        if changed != 1:
            raise StoreError(f"{self.path}: another process has stored messages of {message.edge}")
        self._store_readings(first_sensor, message.first_sample, message.values, message.times)
        execute(
            "INSERT INTO messages VALUES (?, ?, ?, ?, ?)",
            (number, message.sequence, message.data, message.first_sample, n_samples),
        )

    def _store_readings(self, first_sensor: int, first_sample: int, values: FloatArray, times: IntArray) -> int:
        # Sensor by sensor: rows of one sensor lie side by side.
        places, samples = np.nonzero(~np.isnan(values.T))
        self._connection.executemany(
            "INSERT INTO readings VALUES (?, ?, ?, ?)",
            zip(
                (places + first_sensor).tolist(),
                times[samples].tolist(),
                (samples + first_sample).tolist(),
                values[samples, places].tolist(),
                strict=True,
            ),
        )
        return len(places)

    def streams(self, edge: str | None = None) -> list[Stream]:
        query = f"SELECT {_COLUMNS} FROM streams WHERE ?1 IS NULL OR edge = ?1 ORDER BY edge, generation, number"
        with translated(self.path):
            return [Stream(*row) for row in self._connection.execute(query, (edge,))]

    def is_replaced(self, edge: str, tag: bytes) -> bool:
        query = "SELECT COUNT(*) FROM replaced WHERE edge = ? AND tag = ?"
        with translated(self.path):
            return bool(self._connection.execute(query, (edge, tag)).fetchone()[0])

    def messages(self, stream: Stream, start: int = 0) -> Iterator[tuple[int, bytes]]:
        query = "SELECT sequence, data FROM messages WHERE stream = ? AND sequence >= ? ORDER BY sequence"
        with translated(self.path):
            yield from self._connection.execute(query, (stream.number, start))

    def snapshot(self, stream: Stream) -> tuple[int, bytes] | None:
        query = "SELECT next, decoder FROM snapshots WHERE stream = ?"
        with translated(self.path):
            row: tuple[int, bytes] | None = self._connection.execute(query, (stream.number,)).fetchone()
        return row

    def readings(
        self,
        edge: str | None = None,
        sensor: str | None = None,
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Chunk]:
        query = (
            "SELECT sensors.number, edge, name, unit, time_unit FROM sensors JOIN streams ON stream = streams.number"
            " WHERE (?1 IS NULL OR edge = ?1) AND (?2 IS NULL OR name = ?2) ORDER BY edge, name, generation, place"
        )
        with translated(self.path):
            for number, name_of_edge, name, unit_of_sensor, unit in self._connection.execute(
                query, (edge, sensor)
            ).fetchall():
                first = -(2**63) if start is None else ticks(start, unit)
                last = 2**63 - 1 if end is None else ticks(end, unit) - 1
                first, last = max(first, -(2**63)), min(last, 2**63 - 1)
                if first > last:
                    continue
                cursor: sqlite3.Cursor = self._connection.execute(
                    "SELECT time, value FROM readings WHERE sensor = ? AND time BETWEEN ? AND ? ORDER BY time, sample",
                    (number, first, last),
                )
                while rows := cursor.fetchmany(_CHUNK):
                    times, values = zip(*rows, strict=True)
                    yield Chunk(
                        name_of_edge,
                        name,
                        unit_of_sensor,
                        unit,
                        np.array(times, dtype=np.int64),
                        np.array(values, dtype=np.float64),
                    )

    def clear_readings(self, stream: Stream) -> None:
        with translated(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(
                "DELETE FROM readings WHERE sensor IN (SELECT number FROM sensors WHERE stream = ?)", (stream.number,)
            )
            self._connection.execute("UPDATE streams SET readings = 0 WHERE number = ?", (stream.number,))

    def clear_all_readings(self) -> None:
        # Without a condition: rows whose keys are damaged are found by no search.
        with translated(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("DELETE FROM readings")
            self._connection.execute("UPDATE streams SET readings = 0")

    def add_readings(self, stream: Stream, first_sample: int, values: FloatArray, times: IntArray) -> None:
        with translated(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            _, first_sensor = self._find(stream.edge, stream.boot)
            count = self._store_readings(first_sensor, first_sample, values, times)
            self._connection.execute(
                "UPDATE streams SET readings = readings + ? WHERE number = ?", (count, stream.number)
            )
