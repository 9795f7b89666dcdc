"""Readings of a window as CSV."""

from __future__ import annotations

import csv
import io

import numpy as np

from orthostream.compression.schema import Schema
from orthostream.compression.tables.times import time_texts
from orthostream.dashboard.view import Window


def csv_text(window: Window, schema: Schema) -> str:
    """Return a line for each sample: its time, and for each sensor what is known, with empty cells where nothing is."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [schema.time.name if schema.time is not None else "sample"]
    columns = []
    for place, sensor in enumerate(window.sensors):
        column = schema.columns[sensor]
        name = column.name + (f" [{column.unit}]" if column.unit else "")
        parts = (("decoded", window.decoded), ("original", window.original), ("largest error", window.band))
        for what, values in parts:
            if values is not None:
                heads.append(f"{name} {what}")
                columns.append(["" if np.isnan(value) else repr(value) for value in values[:, place].tolist()])
    times = time_texts(window.times, schema.time) if schema.time is not None else list(map(str, window.times.tolist()))
    writer.writerow(heads)
    writer.writerows(zip(times, *columns, strict=True))
    return out.getvalue()
