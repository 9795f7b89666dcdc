"""Rows of a table, whose quoted cells can go over several lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from orthostream.novelty.reading.lines import TextLine
from orthostream.novelty.reading.problems import Problems
from orthostream.novelty.reading.table_cells import Cells, split_cells

#: Columns of a table.
MOST_COLUMNS = 10_000
#: Characters that are read again, for each that is read; with more, some inputs would take for ever.
_MOST_AGAIN = 4
_END = TextLine(0, "", is_whole=False)


class Row(NamedTuple):
    """A row, and the number of the line on which it begins."""

    number: int
    cells: list[str]


class TableRows:
    r"""Takes lines together to rows.

    A quote that opens a cell by mistake would swallow what follows. So if a row over several lines turns out not to be
    one, since it is too long, has a wrong number of cells, or something between a quote and a separator, only its first
    line is left out and counted, and the other lines are read again. Where such rows are the rule, they are left out as
    a whole. When no more lines are there for now, a row is also given up if all lines but its first could be rows.

    Parameters
    ----------
    separator : str
    max_bytes : int
        Of a row; its characters are counted.
    problems : Problems

    Attributes
    ----------
    n_columns : int or None
        None until a header is known; rows with another number of cells are left out and counted.

    Examples
    --------
    >>> problems = Problems()
    >>> texts = ["1,text", '2,"two', 'lines"', '4,"stray', '5,"fine"']
    >>> rows = TableRows(",", 1000, problems)
    >>> rows.n_columns = 2
    >>> [row.cells for row in rows.rows(TextLine(number, text) for number, text in enumerate(texts, start=1))]
    [['1', 'text'], ['2', 'two\nlines'], ['5', 'fine']]
    >>> problems.messages()
    ['stray quotes: 1 (first: line 4: a quote opens a cell, and on line 5 text follows a quote)']
    """

    def __init__(self, separator: str, max_bytes: int, problems: Problems) -> None:
        self.n_columns: int | None = None
        self._separator, self._max_bytes, self._problems = separator, max_bytes, problems
        self._budget = 0

    def rows(self, lines: Iterable[TextLine | None]) -> Iterator[Row | None]:
        """Yield the rows of a file, and None where the lines have one."""
        begun: _OpenRow | None = None
        for next_line in chain(lines, [_END]):
            waiting = deque([next_line])
            self._budget += _MOST_AGAIN * (len(next_line.text) + 1) if next_line is not None else 0
            while waiting:
                line = waiting.popleft()
                if line is None:
                    if begun is not None and begun.could_be_rows:
                        waiting.append(None)
                        self._give_up(begun, "the lines after it could be rows", waiting)
                        begun = None
                    else:
                        yield None
                elif begun is None:
                    cells = self._first_cells(line)
                    if cells is not None and cells.is_open:
                        begun = _OpenRow(line, cells.texts)
                    elif cells is not None:
                        yield Row(line.number, cells.texts)
                elif trouble := begun.add(line, self._separator, self.n_columns, self._max_bytes):
                    self._give_up(begun, trouble, waiting)
                    begun = None
                elif begun.is_complete:
                    yield Row(begun.number, begun.cells)
                    begun = None

    def _give_up(self, begun: _OpenRow, trouble: str, waiting: deque[TextLine | None]) -> None:
        self._problems.report("stray quotes", begun.number, f"a quote opens a cell, and {trouble}")
        if begun.size <= self._budget:
            self._budget -= begun.size
            waiting.extendleft(reversed(begun.lines[1:]))

    def _first_cells(self, line: TextLine) -> Cells | None:
        """Return the cells of the first line of a row, or None if it cannot be one."""
        if not line.is_whole:
            return None
        if line.is_blank:
            self._problems.report("empty lines", line.number)
            return None
        expected = self.n_columns
        cells = split_cells(line.text, self._separator, expected or MOST_COLUMNS)
        found = len(cells.texts)
        if expected is None or found == expected or (cells.is_open and found < expected):
            return cells
        reason = f"{f'more than {expected}' if found > expected else found} instead of {expected}"
        self._problems.report("wrong number of cells", line.number, reason)
        return None


class _OpenRow:
    """A row whose last cell goes on in the next line."""

    def __init__(self, line: TextLine, cells: list[str]) -> None:
        self.number = line.number
        self.lines = [line]
        self.cells = cells[:-1]
        self.size = len(line.text)
        self.is_complete = self.could_be_rows = False
        self._parts = [cells[-1]]

    def add(self, line: TextLine, separator: str, n_columns: int | None, max_bytes: int) -> str:
        """Go on with a line; return why this cannot be a row, or an empty text."""
        self.lines.append(line)
        self.size += len(line.text) + 1
        if line is _END:
            return "it is not closed"
        if self.size > max_bytes or not line.is_whole:
            return f"it is not closed within {max_bytes:,} bytes"
        fits = n_columns is not None and line.text.count(separator) == n_columns - 1
        self.could_be_rows = fits and (self.could_be_rows or len(self.lines) == 2)
        most = n_columns or MOST_COLUMNS
        texts, is_open, is_clean = split_cells(line.text, separator, most, in_quotes=True)
        if not is_clean:
            return f"on line {line.number} text follows a quote"
        self._parts.append(texts[0])
        if len(texts) > 1 or not is_open:
            self.cells += ["\n".join(self._parts), *texts[1:]]
            self._parts = [self.cells.pop()] if is_open else []
        n_cells = len(self.cells) + is_open
        if n_cells > most or (n_columns is not None and not is_open and n_cells < n_columns):
            return f"at the end of line {line.number} the number of cells is {n_cells} instead of {most}"
        self.is_complete = not is_open
        return ""
