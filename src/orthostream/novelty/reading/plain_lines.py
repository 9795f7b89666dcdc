"""One document in each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orthostream.novelty.document import Document
from orthostream.novelty.reading.document_format import DocumentFormat
from orthostream.novelty.reading.errors import DocumentError
from orthostream.novelty.reading.fields import GivenFields
from orthostream.novelty.reading.lines import TextLine, filled_lines
from orthostream.novelty.reading.problems import Problems


class PlainLines(DocumentFormat):
    """Plain text, one document in each line; blank lines are left out and counted.

    >>> list(PlainLines(GivenFields(), Problems()).documents([TextLine(1, "Cocoa rose."), None]))
    [Document(text='Cocoa rose.', title='Cocoa rose.', id='1', time=''), None]
    """

    def __init__(self, given: GivenFields, problems: Problems) -> None:
        for role, name in given.known.items():
            raise DocumentError(
                f"there is no field {name[:60]!r} for the {role} in plain lines; if this is a table or JSON lines after"
                " all, name the format: csv or jsonl"
            )
        self._problems = problems

    def documents(self, lines: Iterable[TextLine | None]) -> Iterator[Document | None]:
        for line in filled_lines(lines, self._problems):
            yield line and Document.of(line.text, id=str(line.number))
