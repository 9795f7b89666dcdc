"""`orthostream compress`: compress a table of readings, within an error that you choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from orthostream.cli.arguments import count_argument
from orthostream.cli.compile_notice import compile_notice
from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.table_files import (
    PIPE,
    add_table_options,
    check_output,
    input_name,
    open_table,
    output_name,
    share_read,
    table_format,
)
from orthostream.cli.target_options import add_target_options, chosen_target, positive_argument
from orthostream.cli.trouble import trouble_with

if TYPE_CHECKING:
    from orthostream._typing import FloatArray, IntArray
    from orthostream.compression.file.writer import OstWriter
    from orthostream.compression.schema import Schema
    from orthostream.compression.stream.achieved import Achieved
    from orthostream.compression.tables import CsvTable, ParquetTable

#: Samples encoded between two updates of the progress bar.
_SAMPLES_AT_ONCE = 240


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("compress", help="compress a table of readings to an .ost file", description=__doc__)
    parser.add_argument("input", metavar="IN", help="a CSV or Parquet file, - for standard input")
    parser.add_argument(
        "output", nargs="?", metavar="OUT", help="the file to write (the name of IN with .ost), - for standard output"
    )
    add_target_options(parser)
    parser.add_argument(
        "--resolution", default="auto", metavar="G", help="resolution of the readings: auto, none or a number (auto)"
    )
    parser.add_argument(
        "--samples-per-frame", type=count_argument, metavar="K", help="samples in a frame (chosen to suit a file)"
    )
    parser.add_argument(
        "--key-every",
        type=count_argument,
        metavar="N",
        help="readings between key frames, at which a reader can begin or, after damage, go on (1,048,576)",
    )
    parser.add_argument(
        "--keep-integers",
        action="store_true",
        help="decode columns of integers as integers (by default 20.5 may stand for 20 and 21 if the bound allows it)",
    )
    add_table_options(parser)
    parser.add_argument(
        "--append", action="store_true", help="append to OUT, which must have the same columns; its target is kept"
    )
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="read OUT back at the end (yes); each frame is checked before it is written in any case",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compress a table and print its compressed size."""
    from orthostream.compression.file.writer import OstWriter

    source = options.input
    target = options.output or _default_output(source)
    before = _schema_to_append_to(options, target)
    appending = before is not None
    size_before = Path(target).stat().st_size if appending else 0
    with compile_notice(), trouble_with(input_name(source)), open_table(source, options) as table:
        if before is None:
            schema, settings = _new_file(options, table.schema)
        else:
            schema = _continued(before, table.schema, target)
            settings = _settings(options) | chosen_target(options, schema)
        check_output(target, options.force or options.append, source)
        with trouble_with(output_name(target)), _output(target) as out:
            writer = OstWriter(out, schema, append=appending, revert=appending, **settings)
            achieved = _compress(table, source, writer, in_order=appending and not options.any_order)
    is_file = target != PIPE and Path(target).is_file()
    if options.verify and is_file:
        with compile_notice():
            _check_file(target, achieved, appended=appending)
    size = Path(target).stat().st_size - size_before if is_file else achieved.n_bytes
    _report(source, target, table, writer, size, verified=options.verify and is_file)
    return 0


def _schema_to_append_to(options: argparse.Namespace, target: str) -> Schema | None:
    """Return the schema of the file to append to, None for a new file; times are read in the unit of that file."""
    from orthostream.compression.file.reader import OstReader
    from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND

    if options.append and options.force:
        raise UserError("--append extends a file, --force replaces it: choose one")
    if options.append and target == PIPE:
        raise UserError("--append needs a file to append to")
    if not options.append or not Path(target).is_file():
        return None
    with trouble_with(target), OstReader(target) as reader:
        schema = reader.schema
    if schema.time is not None and table_format(options.input, options.format) == "csv":
        options.time_unit = options.time_unit or (schema.time.unit if schema.time.unit in TICKS_PER_SECOND else None)
    return schema


def _new_file(options: argparse.Namespace, schema: Schema) -> tuple[Schema, dict[str, Any]]:
    """Return the schema of a new file, lossless unless told otherwise, and the keyword arguments of its writer."""
    settings = _settings(options) | (chosen_target(options, schema) or {"max_error": 0.0})
    return schema if options.keep_integers else _without_integers(schema, settings), settings


def _report(
    source: str, target: str, table: CsvTable | ParquetTable, writer: OstWriter, size: int, *, verified: bool
) -> None:
    """Say what was not kept, and how small the readings are now."""
    from orthostream.compression.tables import CsvTable
    from orthostream.compression.targets import RelativeError

    if isinstance(table, CsvTable) and table.rounded is not None:
        told = f"{input_name(source)}, {table.rounded}; its last digits are not kept"
        print(f"orthostream: warning: {told}", file=sys.stderr)
    if target != PIPE:
        n_bytes = table.bytes_read if isinstance(table, CsvTable) else table.n_bytes
        is_relative = isinstance(writer.encoder.target, RelativeError)
        told = _summary(source, target, n_bytes, size, writer.encoder.achieved, is_relative=is_relative)
        print(told + ", verified" * verified, file=sys.stderr)


def _compress(table: CsvTable | ParquetTable, source: str, output: OstWriter, *, in_order: bool) -> Achieved:
    done = 0.0
    last = output.last_time if in_order else None
    with LateProgress(f"compressing {source}") as progress, output as writer:
        for rows, times in _pieces(table, source):
            if last is not None and times is not None and len(times) and times[0] <= last:
                raise UserError(
                    f"{source} begins before {output.path} ends; --any-order appends it anyway, "
                    "but --from and --to then miss readings"
                )
            last = None
            share = share_read(table, source)
            # In small pieces, so that the progress bar moves and an interrupt takes effect soon.
            for start in range(0, len(rows), _SAMPLES_AT_ONCE):
                part = slice(start, start + _SAMPLES_AT_ONCE)
                writer.write(rows[part], None if times is None else times[part])
                progress(None if share is None else done + (share - done) * start / len(rows))
            done = share or 0.0
    return writer.encoder.achieved


def _pieces(table: CsvTable | ParquetTable, source: str) -> Iterator[tuple[FloatArray, IntArray | None]]:
    """Yield rows; errors in the table name the input, not the output."""
    with trouble_with(input_name(source)):
        yield from table


def _without_integers(schema: Schema, settings: dict[str, Any]) -> Schema:
    """Return a schema in which columns of integers become floats if their error bound allows values such as 20.5."""
    import numpy as np

    bounds = np.broadcast_to(settings.get("max_error", 1.0), len(schema.columns))
    least = 0.5 if isinstance(settings["resolution"], str | None) else 0.0
    columns = tuple(
        replace(column, dtype="float64") if bound > 0.0 and bound >= least and "int" in column.dtype.lower() else column
        for column, bound in zip(schema.columns, bounds.tolist(), strict=True)
    )
    return replace(schema, columns=columns)


def _continued(before: Schema, after: Schema, target: str) -> Schema:
    """Return the schema of the file to append to; the table must have the same columns and kind of times."""
    axes = [None if schema.time is None else (schema.time.name, schema.time.unit) for schema in (before, after)]
    names = [[column.name for column in schema.columns] for schema in (before, after)]
    if names[0] != names[1] or axes[0] != axes[1]:
        raise UserError(f"the columns or times of {target} differ from those of the table to append")
    if before.time is not None and after.time is not None and bool(before.time.zone) != bool(after.time.zone):
        has, lacks = (target, "the table to append") if before.time.zone else ("the table to append", target)
        raise UserError(f"the times of {has} have an offset from UTC, those of {lacks} have none")
    return before


def _default_output(source: str) -> str:
    if source == PIPE:
        if sys.stdout.isatty():
            raise UserError("a terminal cannot show compressed data: name an output file, or redirect the output")
        return PIPE
    return str(Path(source).with_suffix(".ost"))


@contextmanager
def _output(target: str) -> Iterator[str | BinaryIO]:
    """Return the target of the writer: an open pipe or device, or the name of a file."""
    if target == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif Path(target).exists() and not Path(target).is_file():
        with Path(target).open("wb") as device:
            yield device
    else:
        yield target


def _settings(options: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of the writer, without its target."""
    frames = {name: getattr(options, name) for name in ("samples_per_frame", "key_every")}
    given = {name: value for name, value in frames.items() if value is not None}
    return {"resolution": _resolution(options.resolution)} | given


def _resolution(text: str) -> str | float | None:
    if text == "auto":
        return "auto"
    if text == "none":
        return None
    try:
        return positive_argument(text)
    except argparse.ArgumentTypeError as error:
        raise UserError(f"--resolution is auto, none or a number above 0, got {text!r}") from error


def _check_file(path: str, achieved: Achieved, appended: bool) -> None:
    """Read the file back: it must be complete and hold all samples that were written."""
    from orthostream.compression.file.reader import OstReader

    size = Path(path).stat().st_size
    with trouble_with(path), Path(path).open("rb") as file, LateProgress(f"verifying {path}") as progress:
        reader = OstReader(file)
        for _ in reader:
            progress(file.tell() / size)
        enough = reader.n_samples >= achieved.n_samples if appended else reader.n_samples == achieved.n_samples
        if not (reader.complete and enough):
            raise UserError(f"{path} cannot be read back as it was written; check the disk for space and errors")


def _summary(source: str, target: str, n_bytes: int, size: int, achieved: Achieved, *, is_relative: bool) -> str:
    readings = achieved.n_readings + achieved.n_missing
    parts = [
        f"{readings:,} readings" + (f" ({achieved.n_missing:,} missing)" if achieved.n_missing else ""),
        f"{n_bytes:,} -> {size:,} bytes ({n_bytes / max(size, 1):.1f} : 1)",
    ]
    if achieved.n_readings:
        parts += [f"{8 * size / achieved.n_readings:.3g} bits per observed reading"]
        if is_relative:
            parts += [f"largest relative error {achieved.max_relative_error:.6g}"]
        else:
            parts += [f"largest error {achieved.max_error:.6g}, root mean square {achieved.rmse:.3g}"]
    return f"{source} -> {target}: " + "; ".join(parts)
