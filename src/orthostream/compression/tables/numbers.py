"""Numbers as a table writes them, one cell or one column at a time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

#: Cells that say that a reading is missing.
MISSING = frozenset(
    {"", "NaN", "nan", "NAN", "NA", "N/A", "n/a", "#N/A", "null", "NULL", "Null", "None", "none", "-", "--"}
)

#: Cells that say yes or no.
TRUTH = {"True": 1.0, "true": 1.0, "TRUE": 1.0, "False": 0.0, "false": 0.0, "FALSE": 0.0}

#: Numbers up to here are all integers of their own in double precision.
LARGEST_INTEGER = 2.0**53

_NUMBER = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf|infinity)", re.ASCII | re.IGNORECASE)
_INTEGER = re.compile(r"[-+]?\d+", re.ASCII)


def parse_number(cell: str, point: str = ".") -> float:
    """Return the number in a cell, NaN if it says that there is none; ValueError if it is anything else.

    >>> parse_number(" 1.5e3 "), parse_number("null"), parse_number("3,5", ","), parse_number("-inf")
    (1500.0, nan, 3.5, -inf)
    """
    cell = cell.strip()
    if cell in MISSING:
        return math.nan
    if point != ".":
        cell = cell.replace(".", "?").replace(point, ".")
    # float() alone would also take 1_000 and the digits of other scripts.
    if not _NUMBER.fullmatch(cell):
        raise ValueError(f"{cell[:40]!r} is not a number")
    if _INTEGER.fullmatch(cell) and len(cell) > 15 and int(float(cell)) != int(cell):
        raise ValueError(f"{cell[:40]!r} is an integer beyond 2**53, which a reading cannot hold exactly")
    number = float(cell)
    if math.isinf(number) and "n" not in cell.lower():
        raise ValueError(f"{cell[:40]!r} is too large for a number in double precision")
    return number


def column_type(cells: Iterable[str]) -> str:
    """Return the type of a column: "bool", "int64" or "float64"; "Int64" or "boolean" if some are missing.

    >>> column_type(["1", "2", "-"]), column_type(["1", "2.0"]), column_type(["True", "False"])
    ('Int64', 'float64', 'bool')
    """
    distinct = {cell.strip() for cell in cells}
    present = distinct - MISSING
    missing = len(present) < len(distinct)
    if present and present <= TRUTH.keys():
        return "boolean" if missing else "bool"
    if present and all(_INTEGER.fullmatch(cell) for cell in present):
        return "Int64" if missing else "int64"
    return "float64"


def is_whole_type(dtype: str) -> bool:
    """Whether a type of column holds whole numbers only.

    >>> is_whole_type("UInt8"), is_whole_type("float32"), is_whole_type("bool")
    (True, False, False)
    """
    return dtype.lower().startswith(("int", "uint"))
