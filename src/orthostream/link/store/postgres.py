"""A store in PostgreSQL, shared by several processes.

Readings are narrow rows of one table, with the primary key (sensor, time, sample): "this sensor, this day" is one range
of its index. One table for each edge was measured too: 560,000 readings of 50 edges with 56 sensors, messages of 20
samples, 50 messages at a time, COPY in binary format, every batch synced, PostgreSQL 15 on a machine of two cores. The
first two runs had numbers of sensors of 4 bytes instead of 8, which take the same room; during the last four, other
programs kept the machine busy.

=================  ==================  ==================  =======  ================  ================
tables             readings a second   readings a second   bytes    one sensor, 200   one sensor, 200
                   (first runs)        (last runs)         each     (first runs)      (last runs)
=================  ==================  ==================  =======  ================  ================
one for all        583,000 - 688,000   209,000 - 288,000   110      0.26 - 0.27 ms    0.38 - 1.03 ms
one for each edge  374,000 - 431,000   132,000 - 192,000   113      0.37 - 0.39 ms    1.26 - 2.15 ms
=================  ==================  ==================  =======  ================  ================

One table is faster, needs no tables to be made when an edge appears, and is what views and Grafana read most simply.

Processes do not trust each other to have different edges: a batch locks the streams that it adds to and fails if one of
them is not where the process left it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.link.errors import StoreError
from orthostream.link.messages import TAG_BYTES
from orthostream.link.store.copy_rows import COPY_BEGIN, COPY_END, copy_rows
from orthostream.link.store.postgres_connection import PostgresConnection
from orthostream.link.store.postgres_schema import prepare
from orthostream.link.store.store import Batch, Chunk, NewMessage, NewStream, Store, Stream
from orthostream.link.store.times import ticks

if TYPE_CHECKING:
    import psycopg

_COLUMNS = "number, edge, boot, generation, header, next, samples, readings, bytes, closed"
#: Readings, and messages, that are fetched at a time.
_CHUNK, _MESSAGES = 1 << 16, 64
_FIRST, _LAST = -(2**63), 2**63 - 1


class _Found(NamedTuple):
    """A stream that is locked until the end of the transaction, and the numbers of its sensors."""

    number: int
    next: int
    closed: int | None
    sensors: IntArray


class PostgresStore(Store):
    """A store in a PostgreSQL database; several processes may write to it.

    A lost connection is a StoreError once; the next call connects again.

    Parameters
    ----------
    url : str
        ``postgresql://user:password@host:port/database``. Tables are made in the first schema of the search path.
    create : bool, default True
        Whether to make the tables if they are not there.

    Attributes
    ----------
    path : str
        The URL without the password.
    """

    def __init__(self, url: str, *, create: bool = True) -> None:
        self._connection = PostgresConnection(url)
        self.path = self._connection.address
        try:
            with self._connection.use() as connection:
                prepare(connection, self.path, create=create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def add(self, batch: Batch) -> None:
        if not batch:
            return
        by_stream: dict[tuple[str, bytes], list[NewMessage]] = {}
        for message in batch.messages:
            by_stream.setdefault((message.edge, message.boot), []).append(message)
        with self._connection.transaction() as connection:
            for stream in batch.streams:
                _open(connection, stream)
            keys = dict.fromkeys([*by_stream, *((each.edge, each.boot) for each in batch.snapshots)])
            found = self._locked(connection, keys)
            for key, messages in by_stream.items():
                self._check(found[key], messages)
            _store(connection, [(found[key], messages) for key, messages in by_stream.items()])
            for edge, boot, sequence, decoder in batch.snapshots:
                connection.execute(
                    "INSERT INTO snapshots VALUES (%s, %s, %s)"
                    " ON CONFLICT (stream) DO UPDATE SET next = excluded.next, decoder = excluded.decoder",
                    (found[edge, boot].number, sequence, decoder),
                )

    def _locked(
        self, connection: psycopg.Connection[Any], keys: Iterable[tuple[str, bytes]]
    ) -> dict[tuple[str, bytes], _Found]:
        """Lock streams, always in the same order, so that processes cannot wait for each other."""
        wanted = list(keys)
        rows = connection.execute(
            "SELECT edge, boot, number, next, closed,"
            " ARRAY(SELECT sensors.number FROM sensors WHERE stream = streams.number ORDER BY place)"
            " FROM streams JOIN unnest(%s::text[], %s::bytea[]) AS wanted(edge, boot) USING (edge, boot)"
            " ORDER BY number FOR UPDATE OF streams",
            ([edge for edge, _ in wanted], [boot for _, boot in wanted]),
        ).fetchall()
        found = {
            (edge, boot): _Found(number, sequence, closed, np.array(sensors, dtype=np.int64))
            for edge, boot, number, sequence, closed, sensors in rows
        }
        for key in wanted:
            if key not in found:
                raise StoreError(f"{self.path}: a message of {key[0]} belongs to no stream")
        return found

    def _check(self, stream: _Found, messages: Sequence[NewMessage]) -> None:
        expected = range(stream.next, stream.next + len(messages))
        if stream.closed is not None or [each.sequence for each in messages] != list(expected):
            raise StoreError(f"{self.path}: another process has stored messages of {messages[0].edge}")

    def streams(self, edge: str | None = None) -> list[Stream]:
        query = (
            f"SELECT {_COLUMNS} FROM streams WHERE %(edge)s::text IS NULL OR edge = %(edge)s"
            " ORDER BY edge, generation, number"
        )
        with self._connection.use() as connection:
            return [Stream(*row) for row in connection.execute(query, {"edge": edge}).fetchall()]

    def is_replaced(self, edge: str, tag: bytes) -> bool:
        query = "SELECT FROM replaced WHERE edge = %s AND tag = %s"
        with self._connection.use() as connection:
            return connection.execute(query, (edge, tag)).fetchone() is not None

    def messages(self, stream: Stream, start: int = 0) -> Iterator[tuple[int, bytes]]:
        query = (
            "SELECT sequence, data FROM messages WHERE stream = %s AND sequence >= %s::bigint ORDER BY sequence LIMIT "
            f"{_MESSAGES}"
        )
        while True:
            with self._connection.use() as connection:
                rows = connection.execute(query, (stream.number, start), binary=True).fetchall()
            yield from rows
            if len(rows) < _MESSAGES:
                return
            start = rows[-1][0] + 1

    def snapshot(self, stream: Stream) -> tuple[int, bytes] | None:
        query = "SELECT next, decoder FROM snapshots WHERE stream = %s"
        with self._connection.use() as connection:
            row: tuple[int, bytes] | None = connection.execute(query, (stream.number,), binary=True).fetchone()
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
            " WHERE (%(edge)s::text IS NULL OR edge = %(edge)s) AND (%(sensor)s::text IS NULL OR name = %(sensor)s)"
            " ORDER BY edge, name, generation, place"
        )
        names = {"edge": edge, "sensor": None if sensor is None else _text(sensor)}
        with self._connection.use() as connection:
            found = connection.execute(query, names).fetchall()
        for number, name_of_edge, name, unit_of_sensor, unit in found:
            first = _FIRST if start is None else max(_FIRST, ticks(start, unit))
            last = _LAST if end is None else min(_LAST, ticks(end, unit) - 1)
            for times, values in self._pages(number, first, last):
                yield Chunk(name_of_edge, name, unit_of_sensor, unit, times, values)

    def _pages(self, sensor: int, first: int, last: int) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield readings of a sensor.

        Each page begins after the last row of the one before, by the index. Unlike a cursor on the server this needs no
        transaction that stays open while somebody reads slowly, and readers can take turns on one connection.
        """
        query = (
            "SELECT time, sample, value FROM readings WHERE sensor = %s AND (time, sample) > (%s::bigint, %s::bigint)"
            f" AND time <= %s::bigint ORDER BY time, sample LIMIT {_CHUNK}"
        )
        sample = -1
        while first <= last:
            with self._connection.use() as connection:
                rows = connection.execute(query, (sensor, first, sample, last), binary=True).fetchall()
            if rows:
                times, samples, values = zip(*rows, strict=True)
                first, sample = times[-1], samples[-1]
                yield np.array(times, dtype=np.int64), np.array(values, dtype=np.float64)
            if len(rows) < _CHUNK:
                return

    def clear_readings(self, stream: Stream) -> None:
        with self._connection.transaction() as connection:
            self._locked(connection, [(stream.edge, stream.boot)])
            connection.execute(
                "DELETE FROM readings WHERE sensor IN (SELECT number FROM sensors WHERE stream = %s)", (stream.number,)
            )
            connection.execute("UPDATE streams SET readings = 0 WHERE number = %s", (stream.number,))

    def add_readings(self, stream: Stream, first_sample: int, values: FloatArray, times: IntArray) -> None:
        key = stream.edge, stream.boot
        with self._connection.transaction() as connection:
            found = self._locked(connection, [key])[key]
            samples = np.arange(first_sample, first_sample + len(values))
            count, rows = copy_rows(found.sensors, samples, times, values)
            _copy(connection, [rows])
            connection.execute("UPDATE streams SET readings = readings + %s WHERE number = %s", (count, stream.number))


def _open(connection: psycopg.Connection[Any], stream: NewStream) -> None:
    for each in stream.replaced:
        _replace(connection, stream.edge, each.tag, each.start)
    added = connection.execute(
        "WITH opened AS (INSERT INTO streams(edge, boot, generation, header, time_unit)"
        " SELECT edge, boot, %s, %s, %s FROM (VALUES (%s::text, %s::bytea)) AS new(edge, boot)"
        " WHERE NOT EXISTS (SELECT FROM replaced WHERE edge = new.edge AND tag = substr(new.boot, 1, %s))"
        " RETURNING number)"
        " INSERT INTO sensors(stream, place, name, unit) SELECT opened.number, place - 1, name, unit"
        " FROM opened, unnest(%s::text[], %s::text[]) WITH ORDINALITY AS wanted(name, unit, place) ORDER BY place",
        (
            *(stream.generation, stream.header, _text(stream.time_unit), stream.edge, stream.boot, TAG_BYTES),
            [_text(name) for name, _ in stream.sensors],
            [_text(unit) for _, unit in stream.sensors],
        ),
    ).rowcount
    if not added:
        raise StoreError(f"a stream of {stream.edge} was replaced before it was opened")


def _replace(connection: psycopg.Connection[Any], edge: str, tag: bytes, start: int) -> None:
    """Forget the readings of a boot from a message on, and close it."""
    connection.execute("INSERT INTO replaced VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", (edge, tag, start))
    for (number,) in connection.execute(
        "SELECT number FROM streams WHERE edge = %s AND substr(boot, 1, %s) = %s ORDER BY number FOR UPDATE",
        (edge, TAG_BYTES, tag),
    ).fetchall():
        row = connection.execute(
            "SELECT MIN(first_sample) FROM messages WHERE stream = %s AND sequence >= %s", (number, start)
        ).fetchone()
        if row is not None and row[0] is not None:
            gone = connection.execute(
                "DELETE FROM readings WHERE sample >= %s AND sensor IN (SELECT number FROM sensors WHERE stream = %s)",
                (row[0], number),
            ).rowcount
            connection.execute(
                "UPDATE streams SET samples = %s, readings = readings - %s WHERE number = %s", (row[0], gone, number)
            )
        connection.execute("UPDATE streams SET closed = %s WHERE number = %s", (start, number))


def _store(connection: psycopg.Connection[Any], streams: Sequence[tuple[_Found, Sequence[NewMessage]]]) -> None:
    """Store messages and their readings, those of all streams together."""
    if not streams:
        return
    advances, rows = [], []
    for found, messages in streams:
        values = np.concatenate([each.values for each in messages])
        times = np.concatenate([each.times for each in messages])
        samples = np.concatenate([each.first_sample + np.arange(len(each.values)) for each in messages])
        count, data = copy_rows(found.sensors, samples, times, values)
        rows.append(data)
        advances.append((found.number, len(messages), len(values), count, sum(len(each.data) for each in messages)))
    connection.execute(
        "UPDATE streams SET next = next + new.messages, samples = streams.samples + new.samples,"
        " readings = streams.readings + new.readings, bytes = streams.bytes + new.bytes"
        " FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[])"
        " AS new(number, messages, samples, readings, bytes) WHERE streams.number = new.number",
        [list(column) for column in zip(*advances, strict=True)],
    )
    stored = [
        (found.number, each.sequence, each.data, each.first_sample, len(each.values))
        for found, messages in streams
        for each in messages
    ]
    connection.execute(
        "INSERT INTO messages(stream, sequence, data, first_sample, samples)"
        " SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bytea[], %s::bigint[], %s::bigint[])",
        [list(column) for column in zip(*stored, strict=True)],
    )
    _copy(connection, rows)


def _copy(connection: psycopg.Connection[Any], rows: Iterable[bytes]) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY readings(sensor, time, sample, value) FROM STDIN (FORMAT BINARY)") as copy,
    ):
        copy.write(COPY_BEGIN)
        for data in rows:
            copy.write(data)
        copy.write(COPY_END)


def _text(text: str) -> str:
    """Return a text that PostgreSQL can hold: it has no character 0."""
    return text.replace("\0", "\ufffd")
