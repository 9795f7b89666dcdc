"""`orthostream decompress`: restore the table from an .ost file."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from orthostream.cli.compile_notice import compile_notice
from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.table_files import (
    FORMATS,
    PIPE,
    check_output,
    input_name,
    make_writer,
    output_name,
    seekable_input,
    table_format,
    whole_output,
)
from orthostream.cli.trouble import disk_trouble_with, trouble_with

if TYPE_CHECKING:
    from orthostream._typing import FloatArray, IntArray
    from orthostream.compression.errors import FrameError
    from orthostream.compression.file.reader import OstReader
    from orthostream.compression.schema import TimeAxis


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("decompress", help="restore the table from an .ost file", description=__doc__)
    parser.add_argument("input", metavar="IN", help="an .ost file, - for standard input")
    parser.add_argument(
        "output",
        nargs="?",
        metavar="OUT",
        help="a .csv or .parquet file (the name of IN with .csv), - for standard output",
    )
    parser.add_argument(
        "--from", dest="start", metavar="TIME", help="the first time to write, such as 2017-12-24T18:00"
    )
    parser.add_argument("--to", dest="stop", metavar="TIME", help="stop before this time")
    parser.add_argument("--columns", nargs="+", metavar="COLUMN", help="the columns to write (all)")
    parser.add_argument("--format", choices=FORMATS, help="format of the table (by its name)")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument(
        "--recover", action="store_true", help="go on after damage, with all readings that can still be decoded"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the table; the exit code is 1 if the file is damaged or cut short, even if no reading is lost."""
    from orthostream.compression.file.reader import OstReader
    from orthostream.compression.tables.parquet_writer import TypeMismatchError

    source = options.input
    target = options.output or (PIPE if source == PIPE else str(Path(source).with_suffix(".csv")))
    kind = table_format(target, options.format)
    with compile_notice(), trouble_with(input_name(source)), seekable_input(source) as file:
        as_float: set[str] = set()
        while True:
            file.seek(0)
            reader = OstReader(file, recover=options.recover)
            check_output(target, options.force, source)
            try:
                with (
                    disk_trouble_with(output_name(target)),
                    whole_output(target, in_one_go=kind == "parquet") as out,
                ):
                    return _write(reader, file, out, kind, options, as_float)
            except TypeMismatchError as error:
                # Decoded values may no longer be integers or single floats: write such a column as double floats.
                as_float.add(error.column)


def _write(
    reader: OstReader, file: BinaryIO, out: BinaryIO, kind: str, options: argparse.Namespace, as_float: set[str]
) -> int:
    from orthostream.compression.errors import FrameError
    from orthostream.compression.schema import Schema
    from orthostream.compression.tables.selection import select

    names = [column.name for column in reader.schema.columns]
    places = select(names, options.columns or names, input_name(options.input))
    columns = tuple(reader.schema.columns[place] for place in places)
    schema = Schema(
        columns=tuple(replace(column, dtype="float64") if column.name in as_float else column for column in columns),
        time=reader.schema.time,
    )
    pieces = _Pieces(reader, options)
    writer = make_writer(out, schema, kind)
    size = os.fstat(file.fileno()).st_size
    error: FrameError | None = None
    try:
        with LateProgress(f"decompressing {options.input}") as progress:
            try:
                for rows, times in pieces:
                    writer.write(rows[:, places], times)
                    progress(file.tell() / size)
            except FrameError as damage:
                error = damage
        writer.close()
    except BaseException:
        writer.abandon()
        raise
    if pieces.complete and error is None:
        return 0
    print(f"orthostream: warning: {input_name(options.input)} is {_damage(reader, error)}", file=sys.stderr)
    return 1


def _damage(reader: OstReader, error: FrameError | None) -> str:
    """Return what is wrong with a file that is not complete, and what was written of it."""
    if reader.lost:
        return f"damaged; lost: {'; '.join(map(str, reader.lost))}; all other readings were written"
    if reader.ignored is not None:
        return f"damaged at its end only: all readings before that were written; ignored: {reader.ignored}"
    if error is not None:
        return (
            f"damaged ({error}): the readings before that were written; --recover goes on at the next frame "
            "that a reader can begin at, if there is one"
        )
    return "cut short: all complete frames were written, the rest is lost"


def _moment(option: str, text: str | None, axis: TimeAxis) -> int | None:
    from orthostream.compression.tables.errors import TableError
    from orthostream.compression.tables.times import parse_time

    try:
        return None if text is None else parse_time(text, axis)
    except TableError as error:
        raise UserError(f"{option}: {error}") from error


class _Pieces:
    """All readings, or those between two times; `complete` tells whether the file held all of them."""

    def __init__(self, reader: OstReader, options: argparse.Namespace) -> None:
        self._reader = reader
        self._source = input_name(options.input)
        axis = reader.schema.time
        if axis is None and (options.start is not None or options.stop is not None):
            raise UserError(f"--from and --to need times, but {options.input} has none")
        self._start = None if axis is None else _moment("--from", options.start, axis)
        self._stop = None if axis is None else _moment("--to", options.stop, axis)
        self._has_stopped = False

    @property
    def complete(self) -> bool:
        return self._reader.complete or (self._has_stopped and not self._reader.lost)

    def __iter__(self) -> Iterator[tuple[FloatArray, IntArray | None]]:
        """Yield rows; errors of the disk name the input, not the output."""
        with disk_trouble_with(self._source):
            yield from self._rows()

    def _rows(self) -> Iterator[tuple[FloatArray, IntArray | None]]:
        pieces = iter(self._reader) if self._start is None else self._reader.between(self._start, None)
        for rows, times in pieces:
            if self._stop is None or times is None:
                yield rows, times
                continue
            kept = times < self._stop
            if kept.any():
                yield rows[kept], times[kept]
            if times[-1] >= self._stop:
                self._has_stopped = True
                return
