"""How a CSV file is laid out: what separates its cells, its decimal point, its header."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from orthostream.compression.tables.dates import is_date
from orthostream.compression.tables.errors import TableError
from orthostream.compression.tables.numbers import MISSING, TRUTH, parse_number

# A comma may also be a decimal point, the others are nothing but separators.
_DELIMITERS = ("\t", ";", ",")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?", re.ASCII)
_DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?", re.ASCII)
_UNIT = re.compile(r".*[^\s\[(]\s*(?:\[([^\[\]]+)\]|\(([^()]+)\))\s*", re.DOTALL)
_SAMPLE = 50


@dataclass(frozen=True)
class CsvLayout:
    """What a reader must know before it reads cells."""

    delimiter: str
    point: str
    has_header: bool
    names: tuple[str, ...]


def guess_layout(lines: Sequence[str], header: bool | None = None) -> CsvLayout:
    """Guess the layout from the first lines of a table.

    Parameters
    ----------
    lines : without blank ones, at least one
    header : whether the first line has the names; by default it has if a cell of it is text

    Examples
    --------
    >>> guess_layout(["time;temp [degC]", "2017-01-01;12,5"])
    CsvLayout(delimiter=';', point=',', has_header=True, names=('time', 'temp [degC]'))
    """
    delimiter = _guess_delimiter(lines[:_SAMPLE])
    first = split_line(lines[0], delimiter)
    body = list(_split_lines(lines[1:_SAMPLE], delimiter))
    cells = [cell.strip() for row in body or [first] for cell in row]
    commas = delimiter != "," and any(map(_DECIMAL_COMMA.fullmatch, cells))
    point = "," if commas and not any(map(_DECIMAL_POINT.fullmatch, cells)) else "."
    if header is None:
        header = _is_header(first, body[0] if body else [], point)
    names = tuple(first) if header else tuple(f"column_{place}" for place in range(1, len(first) + 1))
    return CsvLayout(delimiter, point, header, names)


def split_line(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line; ValueError if it opens a quote and does not close it.

    >>> split_line('a,"b, c",', ",")
    ['a', 'b, c', '']
    """
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise ValueError("a quotation mark is opened and not closed, or stands inside a cell") from error


def unit_of(name: str) -> str:
    """Return the unit at the end of a name, "" if there is none.

    >>> unit_of("temp [degC]"), unit_of("wind (m/s)"), unit_of("pressure")
    ('degC', 'm/s', '')
    """
    match = _UNIT.fullmatch(name)
    return (match[1] or match[2]).strip() if match else ""


def check_names(names: Sequence[str], where: str) -> None:
    """Raise TableError if two columns have one name."""
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise TableError(f"{where}: two columns are called {twice!r}; give each a name of its own")


def _guess_delimiter(lines: Sequence[str]) -> str:
    def counts(delimiter: str) -> list[int]:
        try:
            return [len(split_line(line, delimiter)) - 1 for line in lines]
        except ValueError:
            return [line.count(delimiter) for line in lines]

    found = {delimiter: counts(delimiter) for delimiter in _DELIMITERS}
    for delimiter, count in found.items():
        if count[0] and len(set(count)) == 1:
            return delimiter
    best = max(found, key=lambda delimiter: found[delimiter][0])
    return best if found[best][0] else ","


def _split_lines(lines: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    for line in lines:
        # A line that cannot be split is reported by who reads it, with its number.
        with suppress(ValueError):
            yield split_line(line, delimiter)


def _is_header(first: Sequence[str], second: Sequence[str], point: str) -> bool:
    if any(_is_text(cell, point) for cell in first):
        return True
    return any(is_date(below) and not is_date(above) for above, below in zip(first, second, strict=False))


def _is_text(cell: str, point: str) -> bool:
    cell = cell.strip()
    if cell in MISSING or cell in TRUTH or is_date(cell):
        return False
    try:
        parse_number(cell, point)
    except ValueError:
        return True
    return False
