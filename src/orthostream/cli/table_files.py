"""Tables that commands read and write: CSV or Parquet, a file or a pipe."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from orthostream._whole_file import whole_file
from orthostream.cli.errors import UserError

if TYPE_CHECKING:
    from orthostream.compression.schema import Schema
    from orthostream.compression.tables import CsvTable, CsvWriter, ParquetTable, ParquetWriter

#: The name of standard input or output.
PIPE = "-"
FORMATS = ("csv", "parquet")

_PARQUET_SUFFIXES = (".parquet", ".pq")


def table_format(path: str, given: str | None) -> str:
    """Return the format of a table: the given one, or else the one that its name suggests.

    >>> table_format("readings.pq", None), table_format("-", None), table_format("-", "parquet")
    ('parquet', 'csv', 'parquet')
    """
    if given is not None:
        return given
    return "parquet" if Path(path).suffix.lower() in _PARQUET_SUFFIXES else "csv"


def input_name(path: str) -> str:
    """Return what messages call an input.

    >>> input_name("a.csv"), input_name("-")
    ('a.csv', 'standard input')
    """
    return "standard input" if path == PIPE else path


def output_name(path: str) -> str:
    """Return what messages call an output."""
    return "standard output" if path == PIPE else path


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for reading a table."""
    parser.add_argument(
        "--time", metavar="COLUMN", help="the time column (the first with dates, or with a name such as time or t)"
    )
    parser.add_argument("--columns", nargs="+", metavar="COLUMN", help="the columns to keep (all)")
    parser.add_argument("--unit", action="append", default=[], metavar="COLUMN=U", help="the unit of a column")
    parser.add_argument("--format", choices=FORMATS, help="format of the table (by its name)")
    parser.add_argument("--header", action=argparse.BooleanOptionalAction, help="the first line holds names (guessed)")
    parser.add_argument("--time-format", metavar="PATTERN", help="how dates are written, such as '%%d/%%m/%%Y %%H:%%M'")
    parser.add_argument("--time-unit", choices=("s", "ms", "us", "ns"), help="unit in which times are stored (guessed)")
    parser.add_argument("--any-order", action="store_true", help="accept times that go back or repeat")


def named_values(pairs: Sequence[str], option: str) -> dict[str, str]:
    """Return the values of COLUMN=VALUE options.

    >>> named_values(["a=1", "b=c=2"], "--unit")
    {'a': '1', 'b=c': '2'}
    """
    values = {}
    for pair in pairs:
        name, equals, value = pair.rpartition("=")
        if not equals or not name:
            raise UserError(f"{option} takes COLUMN=VALUE, got {pair!r}")
        if name in values:
            raise UserError(f"{option} names column {name!r} twice")
        values[name] = value
    return values


@contextmanager
def open_table(path: str, options: argparse.Namespace) -> Iterator[CsvTable | ParquetTable]:
    """Open a table for reading, with the options of `add_table_options`."""
    from orthostream.compression.tables import CsvTable, ParquetTable

    units = named_values(options.unit, "--unit")
    with ExitStack() as stack:
        if table_format(path, options.format) == "parquet":
            if options.time_format or options.time_unit or options.header is not None:
                raise UserError("--time-format, --time-unit and --header are for CSV; a Parquet file knows its types")
            source = stack.enter_context(seekable_input(path)) if path == PIPE else path
            yield stack.enter_context(
                ParquetTable(
                    source,
                    time=options.time,
                    columns=options.columns,
                    units=units,
                    any_order=options.any_order,
                    name=input_name(path),
                )
            )
            return
        yield stack.enter_context(
            CsvTable(
                sys.stdin.buffer if path == PIPE else path,
                time=options.time,
                columns=options.columns,
                units=units,
                header=options.header,
                time_pattern=options.time_format,
                time_unit=options.time_unit,
                any_order=options.any_order,
                name=input_name(path),
            )
        )


@contextmanager
def seekable_input(path: str) -> Iterator[BinaryIO]:
    """Open a file, or copy standard input to a temporary one."""
    if path != PIPE:
        with Path(path).open("rb") as file:
            yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        yield copy


def share_read(table: CsvTable | ParquetTable, path: str) -> float | None:
    """Return the fraction of a table that was read, None if it is unknown."""
    from orthostream.compression.tables import ParquetTable

    if isinstance(table, ParquetTable):
        return table.rows_read / table.n_rows
    size = Path(path).stat().st_size if path != PIPE else 0
    return min(1.0, table.bytes_read / size) if size else None


def make_writer(file: BinaryIO, schema: Schema, kind: str) -> CsvWriter | ParquetWriter:
    """Return a writer for a table of the given format."""
    from orthostream.compression.tables import CsvWriter, ParquetWriter

    return ParquetWriter(file, schema) if kind == "parquet" else CsvWriter(file, schema)


@contextmanager
def whole_output(path: str, in_one_go: bool = False) -> Iterator[BinaryIO]:
    """Open a file that appears only once it is complete, or standard output.

    With ``in_one_go`` standard output gets nothing before everything is written.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = str(Path(folder) / "table.csv")
    ...     with whole_output(target) as file:
    ...         written = file.write(b"a")
    ...     [path.name for path in Path(folder).iterdir()]
    ['table.csv']
    """
    if path == PIPE:
        if in_one_go:
            with tempfile.TemporaryFile() as copy:
                yield copy
                copy.seek(0)
                shutil.copyfileobj(copy, sys.stdout.buffer)
        else:
            yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if target.exists() and not target.is_file():
        # A device such as /dev/null is written to, not replaced.
        with target.open("wb") as file:
            yield file
        return
    with ExitStack() as stack:
        try:
            temporary = stack.enter_context(whole_file(path))
        except OSError as error:
            # Name the file that the user asked for, not the temporary one.
            raise type(error)(error.errno, error.strerror, path) from error
        with temporary.open("wb") as file:
            yield file


def check_output(path: str, force: bool, source: str) -> None:
    """Refuse to replace an existing file without ``force``, and to write over the input."""
    if path == PIPE:
        return
    target = Path(path)
    if target.is_dir():
        raise UserError(f"{path} is a folder, not a file")
    if not target.parent.is_dir():
        raise UserError(f"there is no folder {target.parent} to write {target.name} to")
    if source != PIPE and target.exists() and Path(source).exists() and target.samefile(source):
        raise UserError(f"{path} is the input; choose another name for the output")
    if target.is_file() and not force:
        raise UserError(f"{path} exists already; --force replaces it")
