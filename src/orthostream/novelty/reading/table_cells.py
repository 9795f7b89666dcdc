"""Cells of a line of a table, quoted or not."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

SEPARATORS = (",", ";", "\t", "|")


class Cells(NamedTuple):
    """The cells of a line.

    Attributes
    ----------
    texts : list of str
    is_open : bool
        Whether the last one is quoted and goes on in the next line.
    is_clean : bool
        Whether nothing stands between the closing quote of a cell and the separator.
    """

    texts: list[str]
    is_open: bool = False
    is_clean: bool = True


def split_cells(line: str, separator: str, most: int, *, in_quotes: bool = False) -> Cells:
    """Split a line; stop after one cell more than ``most``. With ``in_quotes``, it goes on with the line before.

    Quotes count if they are the first character of a cell; in a quoted cell, two of them stand for one. The standard
    library's reader cannot be used: it has one limit for the size of a cell in the whole process, and cannot say
    whether a cell is open.

    >>> split_cells('7,"Cocoa, ""fine"" and', ",", 3)
    Cells(texts=['7', 'Cocoa, "fine" and'], is_open=True, is_clean=True)
    >>> split_cells('cheap",ok', ",", 3, in_quotes=True)
    Cells(texts=['cheap', 'ok'], is_open=False, is_clean=True)
    """
    if '"' not in line:
        return Cells([line], is_open=True) if in_quotes else Cells(line.split(separator, most))
    texts: list[str] = []
    is_clean = True
    # Each cell ends with a separator, except for an open one. In front of the line feed, no quote can be doubled.
    text = f'"\n{line}{separator}' if in_quotes else line + separator
    for match in _pattern(separator).finditer(text):
        quoted, end, tail, plain = match.groups()
        if quoted is None:
            texts.append(plain)
        elif end is None:
            texts.append(quoted[:-1].replace('""', '"'))
        else:
            texts.append(quoted.replace('""', '"') + tail)
            is_clean = is_clean and not tail
        if len(texts) > most:
            break
    if in_quotes:
        texts[0] = texts[0][1:]
    return Cells(texts, is_open=quoted is not None and end is None, is_clean=is_clean)


@cache
def _pattern(separator: str) -> re.Pattern[str]:
    end, other = re.escape(separator), f"[^{re.escape(separator)}]*+"
    return re.compile(f'"([^"]*+(?:""[^"]*+)*+)(?:(")({other}){end}|\\Z)|({other}){end}')
