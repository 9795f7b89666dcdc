"""The durable queue of an edge: samples and messages stay on disk until the cloud has acknowledged them.

One SQLite file, written ahead and synced at every commit. It holds

- *messages*, as they are sent, of one boot after another;
- *samples*, as they were pushed: those that wait for their message, those since the last snapshot of the encoder (which
  replaying them brings back to the bit), and, while there is room, those of messages that are not acknowledged;
- one *snapshot* of the encoder.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.link.errors import LinkError
from orthostream.link.sqlite_files import open_database, translated

#: Bytes that an outbox holds by default.
LIMIT = 256 << 20
_VERSION = 1
_SCHEMA = """
CREATE TABLE about(name TEXT PRIMARY KEY, value);
CREATE TABLE boots(generation INTEGER PRIMARY KEY, boot BLOB UNIQUE NOT NULL, next INTEGER NOT NULL DEFAULT 0,
    acknowledged INTEGER NOT NULL DEFAULT 0, replaced BLOB NOT NULL);
CREATE TABLE messages(generation INTEGER, sequence INTEGER, data BLOB NOT NULL, samples INTEGER NOT NULL,
    PRIMARY KEY(generation, sequence)) WITHOUT ROWID;
CREATE TABLE samples(id INTEGER PRIMARY KEY, generation INTEGER NOT NULL, sequence INTEGER, times BLOB NOT NULL,
    readings BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX samples_by_message ON samples(generation, sequence);
CREATE TABLE snapshot(one INTEGER PRIMARY KEY CHECK(one = 1), generation INTEGER NOT NULL, next INTEGER NOT NULL,
    encoder BLOB NOT NULL);
"""


class Boot(NamedTuple):
    """A stream of an edge: its place among the edge's streams, its name, and how far it was made and acknowledged.

    ``replaced`` are the streams whose samples it sends again, as in an opening.
    """

    generation: int
    name: bytes
    next: int
    acknowledged: int
    replaced: bytes


class Message(NamedTuple):
    """A message that waits for its acknowledgement."""

    sequence: int
    data: bytes
    samples: int


class StoredSamples(NamedTuple):
    """Samples with their times; ``sequence`` is that of their message, None while they wait for one."""

    sequence: int | None
    readings: FloatArray
    times: IntArray


class Snapshot(NamedTuple):
    """An encoder as it was before the message ``next`` of a boot."""

    generation: int
    next: int
    encoder: bytes


class Outbox:
    """The queue of one edge, in one file; only one process may have it open.

    Parameters
    ----------
    path : path or ":memory:"
    edge : str
        The edge that it belongs to; a file of another edge is refused.

    Examples
    --------
    >>> import numpy as np
    >>> with Outbox(":memory:", "roof") as outbox, outbox.transaction():
    ...     boot = outbox.begin_boot(b"12345678")
    ...     outbox.add_samples(boot.generation, np.ones((2, 3)), np.array([10, 20]))
    ...     outbox.add_message(boot.generation, b"message", 2)
    ...     [message.data for message in outbox.messages(boot.generation, 0, 10)]
    [b'message']
    """

    def __init__(self, path: str | os.PathLike[str], edge: str) -> None:
        self.path = str(path) if str(path) == ":memory:" else str(Path(path))
        self._connection = open_database(self.path, "outbox", _VERSION, _SCHEMA, exclusive=True)
        try:
            with translated(self.path), self._connection:
                self._connection.execute("INSERT OR IGNORE INTO about VALUES ('edge', ?)", (edge,))
                (owner,) = self._connection.execute("SELECT value FROM about WHERE name = 'edge'").fetchone()
        except BaseException:
            self._connection.close()
            raise
        if owner != edge:
            self._connection.close()
            raise LinkError(f"{self.path} is the outbox of the edge {owner!r}, not of {edge!r}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make all changes within the block at once and durably, or none of them."""
        with translated(self.path), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    @property
    def n_bytes(self) -> int:
        """Bytes of all messages, samples and the snapshot."""
        pages = self._one("PRAGMA page_count") - self._one("PRAGMA freelist_count")
        return int(pages * self._one("PRAGMA page_size"))

    @property
    def counts(self) -> dict[str, int]:
        """Counters that outlive the process."""
        rows = self._all("SELECT name, value FROM about WHERE name LIKE 'count %'")
        return {name.removeprefix("count "): int(value) for name, value in rows}

    def count(self, name: str, more: int) -> None:
        """Add to a counter."""
        self._connection.execute(
            "INSERT INTO about VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
            (f"count {name}", more),
        )

    def boots(self) -> list[Boot]:
        """Return the boots that have messages or samples, and the newest, in their order."""
        rows = self._all("SELECT generation, boot, next, acknowledged, replaced FROM boots ORDER BY generation")
        return [Boot(*row) for row in rows]

    @property
    def mark(self) -> str | None:
        """How far the source of the samples was read, as `Edge.push` was told last."""
        rows = self._all("SELECT value FROM about WHERE name = 'mark'")
        return str(rows[0][0]) if rows else None

    def set_mark(self, mark: str) -> None:
        """Remember how far the source was read."""
        self._connection.execute("INSERT OR REPLACE INTO about VALUES ('mark', ?)", (mark,))

    @property
    def waiting_since(self) -> float:
        """When the first of the samples that wait came, in seconds since 1970."""
        rows = self._all("SELECT value FROM about WHERE name = 'waiting since'")
        return float(rows[0][0]) if rows else 0.0

    def set_waiting_since(self, seconds: float) -> None:
        """Remember when the first of the samples that wait came."""
        self._connection.execute("INSERT OR REPLACE INTO about VALUES ('waiting since', ?)", (seconds,))

    def begin_boot(self, name: bytes, replaced: bytes = b"\0") -> Boot:
        """Begin a boot."""
        generation = self._one("SELECT COALESCE(MAX(generation), -1) + 1 FROM boots")
        self._connection.execute(
            "INSERT INTO boots(generation, boot, replaced) VALUES (?, ?, ?)", (generation, name, replaced)
        )
        return Boot(generation, name, 0, 0, replaced)

    def end_boot(self, generation: int) -> None:
        """Forget a boot that another one has replaced, with all that is left of it."""
        for table in ("messages", "samples", "boots"):
            self._connection.execute(f"DELETE FROM {table} WHERE generation = ?", (generation,))

    def take_waiting(self, generation: int, n_sensors: int) -> list[StoredSamples]:
        """Return the samples that wait in a boot, and forget them; none if they are of another number of sensors."""
        query = "SELECT readings, times, checksum FROM samples WHERE generation = ? AND sequence IS NULL ORDER BY id"
        rows = self._all(query, (generation,))
        self._connection.execute("DELETE FROM samples WHERE generation = ? AND sequence IS NULL", (generation,))
        found = [_samples(None, readings, times, checksum, n_sensors) for readings, times, checksum in rows]
        return [each for each in found if each is not None]

    def add_samples(self, generation: int, readings: FloatArray, times: IntArray) -> None:
        """Add samples that wait for their message."""
        ticks, values = times.astype("<i8").tobytes(), readings.astype("<f8").tobytes()
        self._connection.execute(
            "INSERT INTO samples(generation, times, readings, checksum) VALUES (?, ?, ?, ?)",
            (generation, ticks, values, zlib.crc32(ticks + values)),
        )

    def add_message(self, generation: int, data: bytes, samples: int) -> None:
        """Add the next message of a boot, which holds all its samples that wait."""
        execute = self._connection.execute
        (sequence,) = execute("SELECT next FROM boots WHERE generation = ?", (generation,)).fetchone()
        execute("INSERT INTO messages VALUES (?, ?, ?, ?)", (generation, sequence, data, samples))
        execute("UPDATE samples SET sequence = ? WHERE generation = ? AND sequence IS NULL", (sequence, generation))
        execute("UPDATE boots SET next = ? WHERE generation = ?", (sequence + 1, generation))

    def messages(self, generation: int, start: int, most: int) -> list[Message]:
        """Return messages of a boot from a sequence number on."""
        query = (
            "SELECT sequence, data, samples FROM messages WHERE generation = ? AND sequence >= ?"
            " ORDER BY sequence LIMIT ?"
        )
        return [Message(*row) for row in self._all(query, (generation, start, most))]

    def samples(self, generation: int, start: int, n_sensors: int) -> Iterator[StoredSamples]:
        """Yield samples of messages from a sequence number on, message by message, then those that wait.

        Samples that are damaged, or of another number of sensors, are left out.
        """
        query = (
            "SELECT sequence, readings, times, checksum FROM samples"
            " WHERE generation = ? AND (sequence >= ? OR sequence IS NULL) ORDER BY sequence IS NULL, sequence, id"
        )
        current: StoredSamples | None = None
        for sequence, readings, times, checksum in self._all(query, (generation, start)):
            part = _samples(sequence, readings, times, checksum, n_sensors)
            if part is None:
                continue
            if current is not None and current.sequence == part.sequence:
                current = StoredSamples(
                    sequence,
                    np.concatenate([current.readings, part.readings]),
                    np.concatenate([current.times, part.times]),
                )
            else:
                if current is not None:
                    yield current
                current = part
        if current is not None:
            yield current

    def acknowledge(self, generation: int, upto: int) -> int:
        """Forget messages before a sequence number; return how many there were."""
        execute = self._connection.execute
        gone = execute("DELETE FROM messages WHERE generation = ? AND sequence < ?", (generation, upto)).rowcount
        execute(
            "UPDATE boots SET acknowledged = MAX(acknowledged, ?) WHERE generation = ?",
            (upto, generation),
        )
        self._forget_samples(generation, upto)
        return int(gone)

    def forget_samples_before_snapshot(self) -> None:
        """Make room: forget samples that only a cloud that has lost its store would ask for."""
        found = self.snapshot()
        if found is not None:
            self._connection.execute("DELETE FROM samples WHERE generation < ? AND sequence IS NOT NULL", (found[0],))
            self._connection.execute("DELETE FROM samples WHERE generation = ? AND sequence < ?", found[:2])

    def _forget_samples(self, generation: int, upto: int) -> None:
        """Forget samples of acknowledged messages, but for those that the encoder is brought back with."""
        found = self.snapshot()
        if found is not None and found.generation == generation:
            upto = min(upto, found.next)
        elif found is None:
            return
        self._connection.execute("DELETE FROM samples WHERE generation = ? AND sequence < ?", (generation, upto))

    def snapshot(self) -> Snapshot | None:
        """Return the last snapshot of the encoder."""
        rows = self._all("SELECT generation, next, encoder FROM snapshot")
        return Snapshot(*rows[0]) if rows else None

    def save_snapshot(self, snapshot: Snapshot) -> None:
        """Replace the snapshot of the encoder, and forget samples that are not needed any more."""
        self._connection.execute("INSERT OR REPLACE INTO snapshot VALUES (1, ?, ?, ?)", snapshot)
        for boot in self.boots():
            if boot.acknowledged:
                self._forget_samples(boot.generation, boot.acknowledged)

    def _one(self, query: str) -> int:
        with translated(self.path):
            return int(self._connection.execute(query).fetchone()[0])

    def _all(self, query: str, values: tuple[object, ...] = ()) -> list[tuple]:  # type: ignore[type-arg]
        with translated(self.path):
            return self._connection.execute(query, values).fetchall()


def _samples(
    sequence: int | None, readings: bytes, times: bytes, checksum: int, n_sensors: int
) -> StoredSamples | None:
    """Return stored samples; None if they are damaged, or of another number of sensors."""
    if len(readings) != len(times) * n_sensors or zlib.crc32(times + readings) != checksum:
        return None
    return StoredSamples(
        sequence,
        np.frombuffer(readings, dtype="<f8").reshape(-1, n_sensors).astype(np.float64),
        np.frombuffer(times, dtype="<i8").astype(np.int64),
    )
