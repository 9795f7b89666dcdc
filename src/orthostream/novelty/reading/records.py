"""Records, such as objects of JSON or rows of a table, as documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orthostream.novelty.document import Document
from orthostream.novelty.reading.fields import Fields
from orthostream.novelty.reading.problems import Problems
from orthostream.novelty.reading.recent_ids import RecentIds


class WrongTypeError(ValueError):
    """A field of a record is neither text, number nor a list of those. Never leaves this package."""


class RecordReader:
    """Makes documents of records.

    Values are texts, lists of texts, which are joined by spaces, or None. An object as text is malformed; as title,
    identifier or time it is ignored. Documents whose identifier came before are counted.

    Parameters
    ----------
    problems : Problems
    recent_ids : RecentIds

    Examples
    --------
    >>> reader = RecordReader(Problems(), RecentIds())
    >>> reader.read({"title": None, "text": ["Cocoa", "rose"], "id": "7"}, Fields(), 1)
    Document(text='Cocoa rose', title='Cocoa rose', id='7', time='')
    """

    def __init__(self, problems: Problems, recent_ids: RecentIds) -> None:
        self._problems, self._recent_ids = problems, recent_ids

    def read(self, record: Mapping[str, Any], fields: Fields, number: int) -> Document | None:
        """Return the document of a record that begins on a line, or None, and count why."""
        try:
            body = _first(record, fields.text)
        except WrongTypeError as error:
            self._problems.report("malformed lines", number, str(error))
            return None
        title = self._optional(record, fields.title, number)
        if not body and not title:
            self._problems.report("no text", number, self._why_empty(record, fields))
            return None
        name = self._optional(record, fields.id, number)
        if name and not self._recent_ids.add(name):
            self._problems.report("duplicate ids", number, repr(name[:60]))
        return Document.of(body, title, name or str(number), self._optional(record, fields.time, number))

    def _optional(self, record: Mapping[str, Any], names: tuple[str, ...], number: int) -> str:
        try:
            return _first(record, names)
        except WrongTypeError as error:
            self._problems.report("fields ignored", number, str(error))
            return ""

    def _why_empty(self, record: Mapping[str, Any], fields: Fields) -> str:
        for name in fields.text + fields.title:
            if name in record:
                return f"{name[:60]!r} is empty"
        return f"there are only {', '.join(repr(name[:60]) for name in list(record)[:10]) or 'no fields'}"


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """Return the first of some fields that is filled, or an empty text."""
    for name in names:
        value = record.get(name)
        if value is None:
            continue
        text = value if isinstance(value, str) else _as_text(name, value)
        if text and not text.isspace():
            return text
    return ""


def _as_text(name: str, value: Any) -> str:
    if isinstance(value, list) and all(each is None or isinstance(each, str) for each in value):
        return " ".join(filter(None, value))
    kind = "an object" if isinstance(value, dict) else "a list of other things than texts"
    raise WrongTypeError(f"{name[:60]!r} is {'true or false' if isinstance(value, bool) else kind}")
