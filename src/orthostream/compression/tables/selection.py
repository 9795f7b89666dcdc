"""Columns chosen by name."""

from __future__ import annotations

from collections.abc import Sequence

from orthostream.compression.tables.errors import TableError


def select(names: Sequence[str], wanted: Sequence[str], table: str) -> list[int]:
    """Return the places of columns in a table; TableError if there is no such column, or if one is named twice.

    >>> select(["a", "b", "c"], ["c", "a"], "table")
    [2, 0]
    """
    for place, name in enumerate(wanted):
        if name not in names:
            shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
            raise TableError(f"{table} has no column {name!r}; it has {shown}")
        if name in wanted[:place]:
            raise TableError(f"{table}: column {name!r} is chosen twice")
    return [names.index(name) for name in wanted]
