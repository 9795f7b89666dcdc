"""A plot of original and decoded readings, with the error bound as a band."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.cli.table_files import open_table
from orthostream.cli.trouble import trouble_with
from orthostream.compression.file.reader import OstReader
from orthostream.compression.tables.selection import select
from orthostream.compression.tables.time_pattern import TICKS_PER_SECOND

_MOST_COLUMNS = 4


def draw(reader: OstReader, info: dict[str, Any], options: argparse.Namespace) -> None:
    """Draw the first samples of a few columns."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    schema = reader.schema
    names = [column.name for column in schema.columns]
    chosen = options.column or names[:_MOST_COLUMNS]
    places = select(names, chosen, options.input)
    decoded, times = _first(reader, places, options.samples)
    original = None if options.original is None else _original(options, chosen)
    bounds = _bounds(info, decoded, len(names), places)
    moments: Any = np.arange(len(decoded))
    if times is not None and schema.time is not None:
        unit = schema.time.unit
        moments = times.astype(f"datetime64[{unit}]") if unit in TICKS_PER_SECOND else times * float(unit or 1)
    figure, axes = plt.subplots(len(places), 1, figsize=(8.0, 1.0 + 1.9 * len(places)), sharex=True, squeeze=False)
    for k, axis in enumerate(axes[:, 0]):
        column = schema.columns[places[k]]
        if bounds is not None:
            centre = decoded[:, k] if original is None else original[: len(decoded), k]
            band = bounds[: len(centre), k]
            axis.fill_between(moments[: len(centre)], centre - band, centre + band, alpha=0.25, lw=0, label="bound")
        if original is not None:
            axis.plot(moments[: len(original)], original[: len(decoded), k], "k.", ms=3, label="original")
        axis.plot(moments, decoded[:, k], "-", lw=1.2, label="decoded")
        axis.set_title(column.name, loc="left", fontsize=9)
        axis.set_ylabel(column.unit)
        axis.grid(alpha=0.3)
    axes[0, 0].legend(frameon=False, fontsize=8, ncol=3, loc="upper right")
    if schema.time is not None:
        axes[-1, 0].set_xlabel(schema.time.name)
    figure.tight_layout()
    figure.savefig(options.plot, dpi=150)
    plt.close(figure)


def _first(
    pieces: Iterable[tuple[FloatArray, IntArray | None]], places: Sequence[int], n_samples: int
) -> tuple[FloatArray, IntArray | None]:
    """Return the first samples of some columns."""
    rows: list[FloatArray] = []
    times: list[IntArray] = []
    count = 0
    for piece, moments in pieces:
        rows.append(piece[: n_samples - count, places])
        if moments is not None:
            times.append(moments[: n_samples - count])
        count += len(rows[-1])
        if count >= n_samples:
            break
    none = np.empty((0, len(places)))
    return np.concatenate([none, *rows]), np.concatenate(times) if times else None


def _original(options: argparse.Namespace, chosen: Sequence[str]) -> FloatArray:
    unset = {"format": None, "time": None, "header": None, "time_format": None, "time_unit": None}
    how = argparse.Namespace(columns=list(chosen), unit=[], any_order=True, **unset)
    with trouble_with(options.original), open_table(options.original, how) as table:
        return _first(table, range(len(chosen)), options.samples)[0]


def _bounds(info: dict[str, Any], decoded: FloatArray, n_columns: int, places: Sequence[int]) -> FloatArray | None:
    """Return how far a decoded reading may be from the original, None if the file has no such bound."""
    target = info["target"] if isinstance(info["target"], dict) else {}
    if target.get("max_error") is not None:
        each = np.broadcast_to(np.asarray(target["max_error"], dtype=float), n_columns)[list(places)]
        return np.broadcast_to(each, decoded.shape)
    if target.get("relative_error") is not None:
        # The bound is relative to the original x: |x - decoded| <= ratio |x| implies |x| <= |decoded| / (1 - ratio).
        ratio = np.broadcast_to(np.asarray(target["relative_error"], dtype=float), n_columns)[list(places)]
        return np.asarray(np.abs(decoded) * ratio / np.maximum(1.0 - ratio, 1e-3))
    return None
