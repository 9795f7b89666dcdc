"""`orthostream inspect`: show what is in an .ost file, and what its bits are spent on."""

from __future__ import annotations

import argparse
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthostream.cli.compile_notice import compile_notice
from orthostream.cli.errors import UserError
from orthostream.cli.table_files import input_name, seekable_input
from orthostream.cli.trouble import bad_values, disk_trouble_with, trouble_with

if TYPE_CHECKING:
    from orthostream.compression.schema import Schema

_MOST_NAMES = 8


def add_parser(commands: Any) -> None:
    """Add the sub-command."""
    parser = commands.add_parser("inspect", help="show what is in an .ost file", description=__doc__)
    parser.add_argument("input", metavar="FILE", help="an .ost file, - for standard input")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    parser.add_argument("--plot", metavar="PNG", help="draw readings and their error band (.png, .svg or .pdf)")
    parser.add_argument(
        "--original", metavar="TABLE", help="the CSV or Parquet file that was compressed, to draw as well"
    )
    parser.add_argument(
        "--column", action="append", metavar="NAME", help="a column to draw; repeatable (the first four)"
    )
    parser.add_argument("--recover", action="store_true", help="go on after damage, and say what is lost")
    parser.add_argument("--samples", type=int, default=500, metavar="K", help="samples to draw (500)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what is in the file; the exit code is 1 if the file is not complete."""
    from orthostream.cli.inspect_plot import draw
    from orthostream.compression.file.reader import OstReader

    if options.plot is None and (options.original is not None or options.column is not None):
        raise UserError("--original and --column go with --plot")
    if options.plot is not None:
        _check_plot(options)
    with compile_notice(), trouble_with(input_name(options.input)), seekable_input(options.input) as file:
        reader = OstReader(file, recover=options.recover)
        info = reader.info()
        schema = reader.schema
        if options.plot is not None:
            file.seek(0)
            with disk_trouble_with(options.plot):
                draw(OstReader(file, recover=options.recover), info, options)
        damage = [("lost", str(stretch)) for stretch in reader.lost]
        damage += [("ignored", str(reader.ignored))] if reader.ignored is not None else []
        if options.json:
            text = json.dumps(_described(info, schema), indent=1)
        else:
            text = _text(options.input, info, schema, damage)
    with trouble_with("standard output"):
        print(text, flush=True)
    return 0 if info["complete"] else 1


def _check_plot(options: argparse.Namespace) -> None:
    from orthostream._checks import integer

    path = Path(options.plot)
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UserError(f"--plot must end in .png, .svg or .pdf, got {path.name}")
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent} to write {path.name} to")
    with bad_values():
        integer("--samples", options.samples, 2)
    if importlib.util.find_spec("matplotlib") is None:
        raise UserError("--plot needs matplotlib: pip install 'orthostream[bench]'")


def _described(info: dict[str, Any], schema: Schema) -> dict[str, Any]:
    columns = [{"name": column.name, "unit": column.unit, "dtype": column.dtype} for column in schema.columns]
    axis = schema.time
    time = None if axis is None else {"name": axis.name, "unit": axis.unit, "text": axis.text, "zone": axis.zone}
    return {**info, "columns": columns, "time": time}


def _state(info: dict[str, Any]) -> str:
    """Return what is wrong with a file, if anything is."""
    if info["ignored"] and not info["lost"]:
        return ", DAMAGED at its end only: all readings before that are there"
    if info["lost"]:
        return ", DAMAGED"
    return "" if info["complete"] else ", CUT SHORT: its end is missing"


def _text(path: str, info: dict[str, Any], schema: Schema, damage: list[tuple[str, str]]) -> str:
    """Return what `inspect` prints about a file."""
    import numpy as np

    from orthostream.compression.tables.times import time_texts

    missing = info["n_missing"] / max(info["n_readings"] + info["n_missing"], 1)
    mean_square = f"root mean square {_number(info['rmse_achieved'])}"
    in_units = ", both in the unit of the readings" if "relative_error" in info["target"] else ""
    lines = [
        ("file", f"{path}, version {info['version']}{_state(info)}"),
        *damage,
        ("codec", f"{info['codec']}, basis: {info['basis']}"),
        ("target", _target_text(info["target"])),
        ("columns", f"{len(schema.columns)}: {_names(schema)}"),
        ("samples", f"{info['n_samples']:,} in {info['frames']:,} frames, {info['key_frames']:,} of them key frames"),
        ("readings", f"{info['n_readings']:,} observed, {100 * missing:.1f} % missing"),
        ("errors", f"at most {_number(info['max_error_achieved'])}, {mean_square}{in_units}"),
        ("bytes", f"{info['bytes']:,}"),
        (
            "bits",
            f"{_number(info['bits_per_observed'])} per observed reading, {_number(info['bits_per_reading'])} per cell",
        ),
    ]
    if schema.time is not None and info["first_time"] is not None:
        first, last = time_texts(np.array([info["first_time"], info["last_time"]]), schema.time)
        lines.insert(5 + len(damage), ("times", f"{first} to {last}"))
    observed = max(info["n_readings"], 1)
    whole = {name: 8.0 * size for name, size in info["bytes_by_component"].items()}
    for title, bits in (("", whole), ("of the readings:", info["bits_by_component"])):
        lines += [("", f"  {title}")] if title and bits else []
        total = max(sum(bits.values()), 1.0)
        for name, count in sorted(bits.items(), key=lambda item: -item[1]):
            lines.append(("", f"  {name:<18s}{count / observed:9.4f}{100 * count / total:8.1f} %"))
    return "\n".join(f"{name:<10s}{text}".rstrip() for name, text in lines)


def _names(schema: Schema) -> str:
    names = [
        column.name + (f" [{column.unit}]" if column.unit and column.unit not in column.name else "")
        for column in schema.columns
    ]
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f", and {more} more" if more > 0 else "")


def _target_text(target: dict[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {_number(value)}" for name, value in target.items())


def _number(value: Any) -> str:
    if isinstance(value, list):
        distinct = sorted({_number(each) for each in value})
        return ", ".join(distinct[:4]) + (", ..." if len(distinct) > 4 else "")
    return "unknown" if value is None else f"{value:.4g}"
