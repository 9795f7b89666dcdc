"""An object of JSON in each line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from orthostream.novelty.document import Document
from orthostream.novelty.reading.document_format import DocumentFormat
from orthostream.novelty.reading.errors import DocumentError
from orthostream.novelty.reading.fields import Fields, GivenFields, check_fields, find_fields
from orthostream.novelty.reading.first_lines import FirstLines
from orthostream.novelty.reading.lines import TextLine, filled_lines
from orthostream.novelty.reading.problems import Problems
from orthostream.novelty.reading.records import RecordReader

#: Objects that tell which names there are, if more are to come.
_ENOUGH = 10
#: Values of a line: with more of them, a few bytes each, memory would be a large multiple of the line.
_MOST_VALUES = 4_000_000
# Numbers stay as they are written: an identifier such as 1.10 or of 5,000 digits comes out as it went in. Control
# characters in strings are forgiven, as other readers do.
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=lambda _: None)


class JsonLines(DocumentFormat):
    """JSON lines: an object in each, or a string, which is the text itself.

    Parameters
    ----------
    first_lines : FirstLines
        The first lines, which tell the names of the fields.
    given : GivenFields
    records : RecordReader
    problems : Problems

    Raises
    ------
    DocumentError
        If the input is one JSON document instead of lines, or has no such fields.

    Examples
    --------
    >>> from orthostream.novelty.reading.recent_ids import RecentIds
    >>> lines = [TextLine(1, '{"Headline": "Cocoa rose", "id": 7}'), TextLine(2, '"Cocoa fell"'), TextLine(3, "[1]")]
    >>> problems = Problems()
    >>> records = RecordReader(problems, RecentIds())
    >>> for document in JsonLines(FirstLines(lines, True), GivenFields(), records, problems).documents(lines):
    ...     print(document)
    Document(text='Cocoa rose', title='Cocoa rose', id='7', time='')
    Document(text='Cocoa fell', title='Cocoa fell', id='2', time='')
    >>> problems.messages()
    ['malformed lines: 1 (first: line 3: an array, not an object)']
    """

    def __init__(self, first_lines: FirstLines, given: GivenFields, records: RecordReader, problems: Problems) -> None:
        self._records, self._problems = records, problems
        values = [value for line in first_lines.filled if line.is_whole for value in _values(line.text)]
        _check_is_lines(first_lines, values)
        objects = [value for value in values if isinstance(value, dict)]
        names = list(dict.fromkeys(name for each in objects for name in each))
        # A slow stream can begin with something else than a document.
        if len(objects) == len(values) and (len(objects) >= _ENOUGH or (first_lines.is_all and objects)):
            check_fields(names, given)
        self._fields: Fields = find_fields(names, given).or_usual(given)

    def documents(self, lines: Iterable[TextLine | None]) -> Iterator[Document | None]:
        for line in filled_lines(lines, self._problems):
            if line is None:
                yield None
            elif (document := self._document(line)) is not None:
                # UTF-8 has no surrogates, but JSON can spell one without its other half.
                yield self._printable(document, line) if "\\u" in line.text else document

    def _document(self, line: TextLine) -> Document | None:
        try:
            value = _parse(line.text)
        except ValueError as error:
            self._problems.report("malformed lines", line.number, str(error))
            return None
        if isinstance(value, dict):
            return self._records.read(value, self._fields, line.number)
        return self._records.read({"text": value}, Fields(), line.number)

    def _printable(self, document: Document, line: TextLine) -> Document:
        try:
            "".join(document).encode()
        except UnicodeEncodeError:
            self._problems.report("broken encodings", line.number, "half of a surrogate pair")
            return Document(*(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in document))
        return document


def _parse(text: str) -> dict[str, Any] | str:
    """Return the object or string of a line; raise ValueError with the reason if it is neither."""
    if text.count(",") > _MOST_VALUES:
        raise ValueError(f"there are more than {_MOST_VALUES:,} values or commas")
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from None
    if isinstance(value, dict) or (isinstance(value, str) and text.lstrip().startswith('"')):
        return value
    raise ValueError(f"{'an array' if isinstance(value, list) else 'a number or constant'}, not an object")


def _values(text: str) -> list[dict[str, Any] | str]:
    try:
        return [_parse(text)]
    except ValueError:
        return []


def _check_is_lines(first_lines: FirstLines, values: list[dict[str, Any] | str]) -> None:
    """Refuse an array, or an object over several lines; but one damaged line at the start is no reason."""
    filled = first_lines.filled
    first = filled[0].text.strip()
    if 2 * len(values) >= len(filled):
        return
    for kind, begins, jq in (("array", first.startswith("["), "'.[]'"), ("object", first == "{", ".")):
        if begins:
            raise DocumentError(
                f"this is one JSON {kind}, and not one object in each line; rewrite it, for instance with the command"
                f" jq -c {jq} FILE"
            )
