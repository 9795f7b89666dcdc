"""`orthostream compress`: a table of readings into a small file, within an error that you choose."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from orthostream.cli.errors import UserError
from orthostream.cli.late_progress import LateProgress
from orthostream.cli.table_files import (
    PIPE,
    add_table_options,
    check_output,
    named_values,
    open_table,
    share_read,
    table_format,
)
from orthostream.cli.trouble import trouble_with
from orthostream.compression.achieved import Achieved
from orthostream.compression.ost_reader import OstReader
from orthostream.compression.ost_writer import OstWriter
from orthostream.compression.schema import Schema
from orthostream.compression.tables import CsvTable, ParquetTable
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND

_SAMPLES_AT_ONCE = 240


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("compress", help="a table of readings into a small .ost file", description=__doc__)
    parser.add_argument("input", metavar="IN", help="a CSV or Parquet file, - for standard input")
    parser.add_argument(
        "output", nargs="?", metavar="OUT", help="the file to write (IN with .ost), - for standard output"
    )
    bound = parser.add_mutually_exclusive_group()
    bound.add_argument("--max-error", type=_bound, metavar="E", help="no reading is off by more than E")
    bound.add_argument(
        "--relative-error", type=_bound, metavar="R", help="no reading is off by more than R times itself"
    )
    bound.add_argument("--rmse", type=_positive, metavar="R", help="the root of the mean square error is at most R")
    bound.add_argument("--bits-per-reading", type=_positive, metavar="B", help="spend about B bits on a reading")
    bound.add_argument("--lossless", action="store_true", help="keep every reading exactly (the default)")
    bound.add_argument("--paper", type=_count, metavar="ETA0", help="the paper's scheme: ETA0 coefficients of a sample")
    parser.add_argument(
        "--max-error-for", action="append", default=[], metavar="COLUMN=E", help="the bound of one column; repeatable"
    )
    parser.add_argument(
        "--resolution", default="auto", metavar="G", help="of the readings: auto, none or a number (auto)"
    )
    parser.add_argument("--samples-per-frame", type=_count, metavar="K", help="samples in a frame (what suits a file)")
    parser.add_argument(
        "--keep-integers",
        action="store_true",
        help="decode columns of whole numbers as whole numbers (within an error, 20.5 may stand for 20 or 21)",
    )
    add_table_options(parser)
    parser.add_argument("--append", action="store_true", help="go on with OUT, which has the same columns")
    parser.add_argument("--force", action="store_true", help="replace OUT if it is there")
    parser.add_argument(
        "--verify",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="read OUT again when it is written (yes); errors are checked anyway, before a frame is",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Compress, and say how small it is."""
    source = options.input
    target = options.output or _default_output(source)
    if options.append and options.force:
        raise UserError("--append goes on with a file, --force replaces it: choose one")
    if options.append and target == PIPE:
        raise UserError("--append needs a file to go on with")
    before = _schema_of(target) if options.append and Path(target).is_file() else None
    if before is not None and before.time is not None and table_format(source, options.format) == "csv":
        options.time_unit = options.time_unit or (before.time.unit if before.time.unit in TICKS_PER_SECOND else None)
    with trouble_with(source), open_table(source, options) as table:
        schema = table.schema if before is None else _continued(before, table.schema, target)
        words = _target(options, schema)
        if before is None and not options.keep_integers:
            schema = _loosened(schema, words)
        check_output(target, options.force or options.append, source)
        with trouble_with(target), _output(target) as out:
            if options.samples_per_frame is not None:
                words |= {"samples_per_frame": options.samples_per_frame}
            appending = before is not None
            writer = OstWriter(out, schema, append=appending, revert=appending, **words)
            achieved = _compress(table, source, writer, in_order=appending and not options.any_order)
        n_bytes = table.bytes_read if isinstance(table, CsvTable) else table.n_bytes
    is_file = target != PIPE and Path(target).is_file()
    if options.verify and is_file:
        _check_file(target, achieved, appended=before is not None)
    if target != PIPE:
        size = Path(target).stat().st_size if is_file and before is None else achieved.n_bytes
        verified = options.verify and is_file
        print(_summary(source, target, n_bytes, size, achieved) + ", verified" * verified, file=sys.stderr)
    return 0


def _compress(table: CsvTable | ParquetTable, source: str, output: OstWriter, *, in_order: bool) -> Achieved:
    done = 0.0
    last = output.last_time if in_order else None
    with LateProgress(f"compressing {source}") as progress, output as writer:
        for rows, times in table:
            if last is not None and times is not None and len(times) and times[0] <= last:
                raise UserError(
                    f"{source} begins before {output.path} ends; --any-order appends it all the same, "
                    "but --from and --to then miss readings"
                )
            last = None
            share = share_read(table, source)
            # In pieces, so that the bar moves and an interrupt is not kept waiting.
            for start in range(0, len(rows), _SAMPLES_AT_ONCE):
                part = slice(start, start + _SAMPLES_AT_ONCE)
                writer.write(rows[part], None if times is None else times[part])
                progress(None if share is None else done + (share - done) * start / len(rows))
            done = share or 0.0
    return writer.encoder.achieved


def _loosened(schema: Schema, words: dict[str, Any]) -> Schema:
    """Return a schema whose columns of whole numbers may be decoded as halves where an error allows it."""
    bounds = np.broadcast_to(words.get("max_error", 1.0), len(schema.columns))
    least = 0.5 if isinstance(words["resolution"], str | None) else 0.0
    columns = tuple(
        replace(column, dtype="float64") if bound > 0.0 and bound >= least and "int" in column.dtype.lower() else column
        for column, bound in zip(schema.columns, bounds.tolist(), strict=True)
    )
    return replace(schema, columns=columns)


def _schema_of(path: str) -> Schema:
    with trouble_with(path), OstReader(path) as reader:
        return reader.schema


def _continued(before: Schema, after: Schema, target: str) -> Schema:
    """Return the schema to append with: that of the file, if the table has the same columns and kind of times."""
    axes = [None if schema.time is None else (schema.time.name, schema.time.unit) for schema in (before, after)]
    names = [[column.name for column in schema.columns] for schema in (before, after)]
    if names[0] != names[1] or axes[0] != axes[1]:
        raise UserError(f"{target} has other columns, or other times, than what is to be appended")
    return before


def _default_output(source: str) -> str:
    if source == PIPE:
        if sys.stdout.isatty():
            raise UserError("name a file to write, or send the output somewhere: a terminal cannot show it")
        return PIPE
    return str(Path(source).with_suffix(".ost"))


@contextmanager
def _output(target: str) -> Iterator[str | BinaryIO]:
    """Return what the writer is to write to: a pipe or a device as it is, a file by its name."""
    if target == PIPE:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    elif Path(target).exists() and not Path(target).is_file():
        with Path(target).open("wb") as device:
            yield device
    else:
        yield target


def _target(options: argparse.Namespace, schema: Schema) -> dict[str, Any]:
    """Return the words of the writer for what is to be kept."""
    words: dict[str, Any] = {"resolution": _resolution(options.resolution)}
    try:
        bounds = {name: _bound(value) for name, value in named_values(options.max_error_for, "--max-error-for").items()}
    except argparse.ArgumentTypeError as error:
        raise UserError(f"--max-error-for: {error}") from error
    names = [column.name for column in schema.columns]
    for name in bounds:
        if name not in names:
            raise UserError(
                f"--max-error-for: there is no column {name!r}; there are {', '.join(map(repr, names[:10]))}"
            )
    if options.relative_error is not None or options.rmse is not None or options.bits_per_reading is not None:
        if bounds:
            raise UserError("--max-error-for goes with --max-error or --lossless only")
        chosen = ("relative_error", "rmse", "bits_per_reading")
        return words | {name: value for name in chosen if (value := getattr(options, name)) is not None}
    if options.paper is not None:
        if bounds:
            raise UserError("--max-error-for does not go with --paper, which bounds no error")
        return words | {"n_nonzero": options.paper}
    common = options.max_error or 0.0
    return words | {"max_error": [bounds.get(name, common) for name in names] if bounds else common}


def _resolution(text: str) -> str | float | None:
    if text == "auto":
        return "auto"
    if text == "none":
        return None
    try:
        return _positive(text)
    except argparse.ArgumentTypeError as error:
        raise UserError(f"--resolution is auto, none or a number above 0, got {text!r}") from error


def _check_file(path: str, achieved: Achieved, appended: bool) -> None:
    """Read a file from the disk again: it must be whole, and hold as many samples as were written."""
    size = Path(path).stat().st_size
    with trouble_with(path), Path(path).open("rb") as file, LateProgress(f"verifying {path}") as progress:
        reader = OstReader(file)
        for _ in reader:
            progress(file.tell() / size)
        enough = reader.n_samples >= achieved.n_samples if appended else reader.n_samples == achieved.n_samples
        if not (reader.complete and enough):
            raise UserError(f"{path} does not read as it was written; is the disk full or broken?")


def _summary(source: str, target: str, n_bytes: int, size: int, achieved: Achieved) -> str:
    readings = achieved.n_readings + achieved.n_missing
    parts = [
        f"{readings:,} readings" + (f" ({achieved.n_missing:,} missing)" if achieved.n_missing else ""),
        f"{n_bytes:,} -> {size:,} bytes ({n_bytes / max(size, 1):.1f} : 1)",
        f"{8 * size / max(achieved.n_readings, 1):.3g} bits per observed reading",
        f"largest error {achieved.max_error:.6g}, root mean square {achieved.rmse:.3g}",
    ]
    return f"{source} -> {target}: " + "; ".join(parts)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from error
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def _bound(text: str) -> float:
    value = _number(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"an error must not be negative, got {text}")
    return value


def _positive(text: str) -> float:
    value = _number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)
