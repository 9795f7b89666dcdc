"""The tables of a store in PostgreSQL, and what Grafana reads them by.

``readings_by_name`` is a view with the names of edges and sensors, and times as timestamps. ``readings_between`` is a
function for one sensor and a range of times, which finds them by the index. Streams whose times are plain numbers are
in neither, and times outside the years 1 to 9999 are null.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orthostream.link.errors import StoreError

if TYPE_CHECKING:
    import psycopg

_VERSION = "1"
#: Number of the lock that is held while tables are made: "orth".
_LOCK = 0x6F727468
_TABLES = ("about", "streams", "replaced", "sensors", "messages", "snapshots", "readings")
# Texts are compared by their bytes, so that all stores have the same order. Names may be long: a hash index takes them.
_STATEMENTS = """
CREATE TABLE about(name text PRIMARY KEY, value text NOT NULL);
CREATE TABLE streams(number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, edge text COLLATE "C" NOT NULL,
    boot bytea NOT NULL, generation bigint NOT NULL, header bytea NOT NULL, next bigint NOT NULL DEFAULT 0,
    samples bigint NOT NULL DEFAULT 0, readings bigint NOT NULL DEFAULT 0, bytes bigint NOT NULL DEFAULT 0,
    closed bigint, time_unit text NOT NULL, UNIQUE(edge, boot)) WITH (fillfactor = 50);
CREATE TABLE replaced(edge text COLLATE "C", tag bytea, start bigint NOT NULL, PRIMARY KEY(edge, tag));
CREATE TABLE sensors(number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, stream bigint NOT NULL,
    place integer NOT NULL, name text COLLATE "C" NOT NULL, unit text NOT NULL, UNIQUE(stream, place));
CREATE INDEX sensors_by_name ON sensors USING hash(name);
CREATE TABLE messages(stream bigint, sequence bigint, data bytea NOT NULL, first_sample bigint NOT NULL,
    samples bigint NOT NULL, PRIMARY KEY(stream, sequence));
CREATE TABLE snapshots(stream bigint PRIMARY KEY, next bigint NOT NULL, decoder bytea NOT NULL);
CREATE TABLE readings(sensor bigint, time bigint, sample bigint, value double precision NOT NULL,
    PRIMARY KEY(sensor, time, sample));
CREATE FUNCTION moment_of(ticks bigint, unit text) RETURNS timestamptz LANGUAGE sql STABLE AS '
    SELECT CASE unit
        WHEN ''s'' THEN CASE WHEN ticks BETWEEN -62135596800 AND 253402300799
            THEN timestamptz ''epoch'' + ticks * interval ''1 second'' END
        WHEN ''ms'' THEN CASE WHEN ticks BETWEEN -62135596800000 AND 253402300799999
            THEN timestamptz ''epoch'' + ticks * interval ''1 millisecond'' END
        WHEN ''us'' THEN CASE WHEN ticks BETWEEN -62135596800000000 AND 253402300799999999
            THEN timestamptz ''epoch'' + ticks * interval ''1 microsecond'' END
        WHEN ''ns'' THEN timestamptz ''epoch'' + ticks / 1000 * interval ''1 microsecond'' END';
CREATE FUNCTION first_tick(moment timestamptz, unit text) RETURNS bigint LANGUAGE sql STABLE AS '
    SELECT greatest(-9223372036854775808, least(9223372036854775807, ceil(extract(epoch FROM moment)::numeric
        * CASE unit WHEN ''s'' THEN 1 WHEN ''ms'' THEN 1000 WHEN ''us'' THEN 1000000 ELSE 1000000000 END)))::bigint';
CREATE VIEW readings_by_name AS
    SELECT streams.edge, sensors.name AS sensor, sensors.unit, moment_of(readings.time, streams.time_unit) AS "time",
        readings.value
    FROM readings JOIN sensors ON sensors.number = readings.sensor JOIN streams ON streams.number = sensors.stream
    WHERE streams.time_unit IN ('s', 'ms', 'us', 'ns');
CREATE FUNCTION readings_between(of_edge text, of_sensor text, since timestamptz, before timestamptz)
    RETURNS TABLE("time" timestamptz, value double precision) LANGUAGE sql STABLE AS '
    SELECT moment_of(readings.time, streams.time_unit), readings.value
    FROM streams JOIN sensors ON sensors.stream = streams.number JOIN readings ON readings.sensor = sensors.number
        AND readings.time >= first_tick(since, streams.time_unit)
        AND readings.time < first_tick(before, streams.time_unit)
    WHERE streams.edge = of_edge AND sensors.name = of_sensor AND streams.time_unit IN (''s'', ''ms'', ''us'', ''ns'')
    ORDER BY 1';
INSERT INTO about VALUES ('what', 'store'), ('version', '1')
"""


def prepare(connection: psycopg.Connection[Any], address: str, *, create: bool) -> None:
    """Check the tables, and make them if there are none; several processes may do so at the same time."""
    if not _tables(connection):
        if not create:
            raise StoreError(f"there is no store at {address}")
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if not _tables(connection):
                _create(connection, address)
    missing = sorted(set(_TABLES) - _tables(connection))
    if missing:
        raise StoreError(
            f"{address} holds a part of a store, or tables of another program: there is no table {', '.join(missing)};"
            " use a database of its own"
        )
    try:
        about = dict(connection.execute("SELECT name, value FROM about").fetchall())
    except _errors().UndefinedColumn:
        about = {}
    if about.get("what") != "store":
        raise StoreError(f"{address} has tables of another program; use a database of its own")
    if about.get("version") != _VERSION:
        raise StoreError(f"{address} is of version {about.get('version')}, and only version {_VERSION} is known")


def _create(connection: psycopg.Connection[Any], address: str) -> None:
    row = connection.execute("SELECT current_schema(), current_setting('server_encoding')").fetchone()
    assert row is not None
    if row[0] is None:
        raise StoreError(f"{address}: none of the schemas in the search path exists")
    if row[1] != "UTF8":
        raise StoreError(f"{address} has the encoding {row[1]}; make the database with ENCODING 'UTF8'")
    for statement in _STATEMENTS.split(";\n"):
        connection.execute(statement.encode())


def _tables(connection: psycopg.Connection[Any]) -> set[str]:
    """Return which of our tables there are in the schema that new tables would be made in."""
    query = "SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema() AND tablename::text = ANY(%s)"
    return {name for (name,) in connection.execute(query, (list(_TABLES),)).fetchall()}


def _errors() -> Any:
    import psycopg

    return psycopg.errors
