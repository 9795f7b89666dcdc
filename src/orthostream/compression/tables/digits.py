"""Decimals with more digits than a double holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

# More than 17 digits from the first to the last that is not zero. A search begins at the space before a cell.
_MANY = re.compile(rb" [-+]?0*(?:[.,]0*)?([1-9](?:[.,]?\d){16,}[1-9])[^ ]*")
# No double has more digits than 767.
_MOST = 800


class RoundedCell(NamedTuple):
    """A cell of a table whose last digits are not kept: the number of its line, the name of its column, its text."""

    line: int
    column: str
    text: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column!r}: {self.text[:40]!r} has more digits than a double holds"


def first_rounded(cells: Sequence[bytes]) -> int | None:
    """Return the place of the first cell whose last digits a double does not keep, None if there is none.

    Up to 17 digits are not looked at, and neither are the digits of a number that was a double when it was written.

    >>> first_rounded([b"1.5", b"0.10000000000000000555", b"0.12345678901234567890123"])
    2
    """
    # A cell with a space in it would be counted as two.
    joined = b" " + b" ".join(cell.replace(b" ", b"_") for cell in cells)
    for match in _MANY.finditer(joined):
        text = match[0].decode().replace(",", ".")
        digits = len(match[1].replace(b".", b"").replace(b",", b""))
        if not _is_kept(text, digits):
            return joined.count(b" ", 0, match.start())
    return None


def _is_kept(text: str, digits: int) -> bool:
    """Return whether a double, written with as many digits, is the number that a text is."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        # The exponent is too large even for a decimal.
        return False
    return number == Decimal(f"{float(text):.{min(digits - 1, _MOST)}e}")
