"""The tables of `orthostream bench compression --field`."""

from __future__ import annotations

from collections.abc import Sequence

from ..measure import table
from .row import FIELD, Row, mode

_COLUMNS = ("kind", "simulated", "readings", "ours", "best", "ratio", "peer", "")


def report(rows: Sequence[Row]) -> str:
    """Return a table for each mode, and what it comes to."""
    parts = []
    for lossless, way in dict.fromkeys((row.lossless, row.way) for row in rows):
        chosen = [row for row in rows if (row.lossless, row.way) == (lossless, way)]
        cells = [(row.stream, _cells(row)) for row in chosen]
        title = f"bits per reading, {mode(lossless, way)}" + (_headers(chosen) if way else "")
        parts.append(table(title, "stream", _COLUMNS, cells) + f"\n{summary(chosen)}")
    return "\n\n".join([*parts, f"all: {summary(rows)}"])


def summary(rows: Sequence[Row]) -> str:
    """Return how many rows are not lost, and how many fields are as small as they should be."""
    kept = sum(not row.lost for row in rows)
    fields = [row for row in rows if row.is_field]
    below = sum(row.kept and row.ratio <= FIELD for row in fields)
    return f"{kept} of {len(rows)} rows within 2 % or below; fields at least 15 % below: {below} of {len(fields)}"


def _cells(row: Row) -> list[str]:
    numbers = [f"{row.ours:.3f}", f"{row.best:.3f}", f"{row.ratio:.2f}"]
    return [row.kind, "yes" if row.simulated else "no", f"{row.readings:,}", *numbers, row.peer, row.mark]


def _headers(rows: Sequence[Row]) -> str:
    sizes = [row.header for row in rows]
    return f"; our header of {min(sizes)} to {max(sizes)} bytes is not counted"
