"""`orthostream query`: read readings back from the store of a cloud."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.reading_files import FORMATS, WideJson, reading_writer
from orthostream.cli.table_files import PIPE, check_output, make_writer, output_name, table_format, whole_output
from orthostream.cli.trouble import bad_values, disk_trouble_with

if TYPE_CHECKING:
    from orthostream.compression.schema import Schema
    from orthostream.link.store import Chunk, Store

_JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
#: Columns of a wide table: each takes one to two megabytes of memory.
_MOST_COLUMNS = 500
#: Names that a message lists.
_MOST_NAMES = 10


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("query", help="read readings back from a store", description=__doc__)
    parser.add_argument(
        "store", metavar="STORE", help="a SQLite file, or postgresql://user@host/database (password in PGPASSWORD)"
    )
    parser.add_argument("--edge", nargs="+", metavar="EDGE", help="the edges to read (all)")
    parser.add_argument("--sensor", nargs="+", metavar="SENSOR", help="the sensors to read (all)")
    parser.add_argument(
        "--from", dest="start", metavar="TIME", help="the first time to read, such as 2017-12-24T18:00 (in UTC)"
    )
    parser.add_argument("--to", dest="stop", metavar="TIME", help="stop before this time")
    parser.add_argument("--format", choices=FORMATS, help="format of the output; json is an object on each line")
    parser.add_argument("--wide", action="store_true", help="one row for each time, a column for each sensor")
    parser.add_argument("-o", "--output", default=PIPE, metavar="FILE", help="where to write (standard output)")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the readings; the exit code is 0 even if there are none."""
    from orthostream.link.errors import StoreError
    from orthostream.link.store import open_store

    kind = _format(options.output, options.format)
    check_output(options.output, options.force, options.store)
    try:
        with open_store(options.store, create=False) as store:
            selection = _select(store, options)
            with (
                bad_values(),
                disk_trouble_with(output_name(options.output)),
                whole_output(options.output, in_one_go=kind == "parquet") as out,
                LateProgress("reading the store") as progress,
            ):
                found = _Reading(store, selection, progress if sys.stderr.isatty() else None)
                if options.wide:
                    _write_wide(found, out, kind)
                else:
                    _write_long(found, out, kind)
    except StoreError as error:
        raise UserError(str(error)) from error
    except OverflowError as error:
        raise UserError("--from or --to lies outside of the times that an edge can have") from error
    if not found.count:
        print("orthostream: warning: there are no such readings", file=sys.stderr)
    return 0


def _format(path: str, given: str | None) -> str:
    """Return the format: the given one, or else the one that the name of the output suggests."""
    if given is None and Path(path).suffix.lower() in _JSON_SUFFIXES:
        return "json"
    return "json" if given == "jsonl" else table_format(path, given)


@dataclass
class _Selection:
    """What to read: sensors by edge, with an upper bound of their readings, and times."""

    sensors: dict[tuple[str, str], int] = field(default_factory=dict)
    units_of_sensors: dict[tuple[str, str], str] = field(default_factory=dict)
    time_units: set[str] = field(default_factory=set)
    start: int | None = None
    stop: int | None = None
    names: list[str] | None = None

    @property
    def edges(self) -> list[str]:
        return list(dict.fromkeys(edge for edge, _ in self.sensors))


def _select(store: Store, options: argparse.Namespace) -> _Selection:
    from orthostream.compression.errors import FrameError
    from orthostream.compression.stream.header import StreamHeader

    selection = _Selection(names=options.sensor)
    streams = store.streams()
    _check_names("edge", options.edge, {stream.edge for stream in streams}, options.store)
    names: set[str] = set()
    for stream in streams:
        if options.edge and stream.edge not in options.edge:
            continue
        try:
            schema = StreamHeader.read(stream.header)[0].schema
        except FrameError as error:
            raise UserError(f"the store is damaged: a stream of {stream.edge}: {error}") from error
        for column in schema.columns:
            names.add(column.name)
            key = stream.edge, column.name
            if not options.sensor or column.name in options.sensor:
                selection.sensors[key] = selection.sensors.get(key, 0) + stream.samples
                selection.units_of_sensors[key] = column.unit
                selection.time_units.add("" if schema.time is None else schema.time.unit)
    _check_names("sensor", options.sensor, names, options.store)
    selection.start = _moment("--from", options.start, selection.time_units)
    selection.stop = _moment("--to", options.stop, selection.time_units)
    return selection


def _check_names(what: str, wanted: list[str] | None, there: set[str], store: str) -> None:
    for name in wanted or ():
        if name not in there:
            known = sorted(there)
            listed = ", ".join(known[:_MOST_NAMES]) + (", ..." if len(known) > _MOST_NAMES else "")
            # The address of a database may hold a password: it is not repeated.
            place = "the database" if "://" in store else store
            raise UserError(f"there is no {what} {name!r} in {place}; there are: {listed or 'none'}")


def _moment(option: str, text: str | None, units: set[str]) -> int | None:
    """Return a time as stores take it: microseconds since 1970, or ticks where times are plain numbers."""
    from orthostream.compression.schema import TimeAxis
    from orthostream.compression.tables.errors import TableError
    from orthostream.compression.tables.times import parse_time
    from orthostream.link.iso_times import TICKS_OF_DATES

    if text is None:
        return None
    if len(units) > 1 and not units <= set(TICKS_OF_DATES):
        raise UserError(f"{option}: some of these edges have dates and others have numbers; choose with --edge")
    plain = units - set(TICKS_OF_DATES)
    try:
        return parse_time(text, TimeAxis("time", plain.pop() if plain else "us"))
    except TableError as error:
        raise UserError(f"{option}: {error}") from error


class _Reading:
    """Reads what was selected, and shows how far it is."""

    def __init__(self, store: Store, selection: _Selection, progress: LateProgress | None) -> None:
        self._store = store
        self.selection = selection
        self._progress = progress
        self._total = max(1, sum(selection.sensors.values()))
        self._bounds = self._lower_bounds()
        self.count = 0

    def _lower_bounds(self) -> dict[tuple[str, str], int]:
        """Return how many readings come before those of each sensor, at most."""
        bounds, before = {}, 0
        for key in sorted(self.selection.sensors):
            bounds[key] = before
            before += self.selection.sensors[key]
        return bounds

    def chunks(self) -> Iterator[Chunk]:
        """Yield the readings, edge by edge and sensor by sensor."""
        previous, done = None, 0
        for edge in sorted(self.selection.edges):
            for sensor in sorted(set(self.selection.names)) if self.selection.names else [None]:
                for chunk in self._store.readings(edge, sensor, self.selection.start, self.selection.stop):
                    key = chunk.edge, chunk.sensor
                    done = len(chunk.times) + (done if key == previous else 0)
                    previous = key
                    self._count(chunk, self._bounds.get(key, 0) + done)
                    yield chunk

    def of_sensor(self, edge: str, sensor: str) -> Iterator[Chunk]:
        """Yield the readings of one sensor."""
        for chunk in self._store.readings(edge, sensor, self.selection.start, self.selection.stop):
            self._count(chunk, self.count + len(chunk.times))
            yield chunk

    def _count(self, chunk: Chunk, done: int) -> None:
        self.count += len(chunk.times)
        if self._progress is not None:
            self._progress(done / self._total)


def _write_long(found: _Reading, out: BinaryIO, kind: str) -> None:
    writer = reading_writer(out, kind, found.selection.time_units)
    try:
        for chunk in found.chunks():
            writer.write(chunk)
        writer.close()
    except BaseException:
        writer.abandon()
        raise


def _write_wide(found: _Reading, out: BinaryIO, kind: str) -> None:
    from orthostream.link.store.wide_rows import wide_rows

    schema = _wide_schema(found.selection)
    writer = WideJson(out, schema) if kind == "json" else make_writer(out, schema, kind)
    try:
        for times, rows in wide_rows([found.of_sensor(*key) for key in found.selection.sensors]):
            writer.write(rows, times)
        writer.close()
    except BaseException:
        writer.abandon()
        raise


def _wide_schema(selection: _Selection) -> Schema:
    """Return the columns of a wide table: sensors, with the names of their edges if there are several."""
    from orthostream.compression.schema import Column, Schema, TimeAxis
    from orthostream.link.iso_times import TICKS_OF_DATES

    if len(selection.time_units) > 1:
        raise UserError(
            f"a wide table has one unit of time, and these streams have {', '.join(map(repr, selection.time_units))};"
            " choose with --edge, or leave --wide out"
        )
    if len(selection.sensors) > _MOST_COLUMNS:
        raise UserError(
            f"a wide table has at most {_MOST_COLUMNS} sensors, and these are {len(selection.sensors)};"
            " choose with --edge or --sensor, or leave --wide out"
        )
    is_one = len(selection.edges) == 1
    columns = tuple(
        Column(sensor if is_one else f"{edge}/{sensor}", selection.units_of_sensors[edge, sensor])
        for edge, sensor in selection.sensors
    )
    unit = next(iter(selection.time_units), "us")
    name = "time"
    while name in {column.name for column in columns}:
        name += "_"
    return Schema(columns, TimeAxis(name, unit, zone="UTC" if unit in TICKS_OF_DATES else ""))
