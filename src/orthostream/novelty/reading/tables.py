"""A document in each row of a table of text, such as CSV."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orthostream.novelty.document import Document
from orthostream.novelty.reading.document_format import DocumentFormat
from orthostream.novelty.reading.errors import DocumentError
from orthostream.novelty.reading.fields import Fields, GivenFields, check_fields, find_fields
from orthostream.novelty.reading.lines import TextLine
from orthostream.novelty.reading.problems import Problems
from orthostream.novelty.reading.records import RecordReader
from orthostream.novelty.reading.table_rows import MOST_COLUMNS, Row, TableRows


class Tables(DocumentFormat):
    r"""Tables with a header; a document in each row.

    Parameters
    ----------
    separator : str
    max_bytes : int
        Of a row.
    given : GivenFields
    records : RecordReader
    problems : Problems

    Raises
    ------
    DocumentError
        By `documents`: if there are no such columns.

    Examples
    --------
    >>> from orthostream.novelty.reading.recent_ids import RecentIds
    >>> lines = [TextLine(1, "day,title,text"), TextLine(2, '1987-02-26,Cocoa,"Prices rose, slightly"')]
    >>> problems = Problems()
    >>> table = Tables(",", 1000, GivenFields(time="day"), RecordReader(problems, RecentIds()), problems)
    >>> list(table.documents(lines))
    [Document(text='Cocoa\nPrices rose, slightly', title='Cocoa', id='2', time='1987-02-26')]
    """

    def __init__(
        self, separator: str, max_bytes: int, given: GivenFields, records: RecordReader, problems: Problems
    ) -> None:
        self._rows = TableRows(separator, max_bytes, problems)
        self._given, self._records, self._problems = given, records, problems
        self._fields = Fields()
        self._n_columns = 0
        self._places: dict[str, int] = {}

    def documents(self, lines: Iterable[TextLine | None]) -> Iterator[Document | None]:
        is_first = True
        self._rows.n_columns = None
        for row in self._rows.rows(lines):
            if row is None:
                yield None
            elif is_first and self._is_header(row):
                self._read_header(row)
            elif (document := self._document(row)) is not None:
                yield document
            is_first = is_first and row is None
            # Only now: a file that takes the place of another one can have more columns, or no header.
            self._rows.n_columns = None if is_first else self._n_columns

    def _is_header(self, row: Row) -> bool:
        return not self._places or set(self._places) <= {cell.strip() for cell in row.cells}

    def _read_header(self, row: Row) -> None:
        if len(row.cells) > MOST_COLUMNS:
            raise DocumentError(f"line {row.number} has more than {MOST_COLUMNS:,} columns; is this a table?")
        names = [cell.strip() for cell in row.cells]
        check_fields(names, self._given, "column")
        self._fields = find_fields(names, self._given)
        self._n_columns = len(names)
        self._places = {name: names.index(name) for role in self._fields for name in role}

    def _document(self, row: Row) -> Document | None:
        if len(row.cells) != self._n_columns:
            reason = f"{len(row.cells)} instead of {self._n_columns}"
            self._problems.report("wrong number of cells", row.number, reason)
            return None
        record = {name: row.cells[place] for name, place in self._places.items()}
        return self._records.read(record, self._fields, row.number)
