"""Which character separates the cells of a table."""

from __future__ import annotations

from orthostream.novelty.reading.fields import GivenFields, find_fields
from orthostream.novelty.reading.first_lines import FirstLines
from orthostream.novelty.reading.table_cells import SEPARATORS, split_cells
from orthostream.novelty.reading.table_rows import MOST_COLUMNS


def find_separator(first_lines: FirstLines, given: GivenFields) -> str:
    r"""Return the separator with which the header has a text, and most columns, and the lines fit best.

    >>> from orthostream.novelty.reading.lines import TextLine
    >>> find_separator(FirstLines([TextLine(1, "id;text"), TextLine(2, "1;Cocoa, tea, coffee")], True), GivenFields())
    ';'
    >>> find_separator(FirstLines([TextLine(1, "text"), TextLine(2, "Cocoa, tea; coffee")], True), GivenFields())
    '\t'
    """
    header, *others = first_lines.filled

    def merit(separator: str) -> tuple[bool, int, int]:
        names = column_names(header.text, separator)
        fitting = sum(line.text.count(separator) == len(names) - 1 for line in others)
        return has_text(names, given), len(names), fitting

    return max(SEPARATORS, key=merit)


def column_names(header: str, separator: str) -> list[str]:
    """Return the names of columns without the space around them.

    >>> column_names("id, text", ",")
    ['id', 'text']
    """
    return [cell.strip() for cell in split_cells(header, separator, MOST_COLUMNS).texts]


def has_text(names: list[str], given: GivenFields) -> bool:
    """Return whether one of the columns has a text or a title."""
    fields = find_fields(names, given)
    return bool(fields.text or fields.title)
