"""A document of a stream of text."""

from __future__ import annotations

import re
from typing import NamedTuple

#: The usual names of the fields of a record.
TEXT = ("text", "body", "content", "abstract", "description", "summary")
TITLE = ("title", "headline", "subject")
ID = ("id", "_id", "newid", "guid", "url")
TIME = ("date", "time", "timestamp", "published", "dt")
#: Characters of a title that is the beginning of the text, and of a given one.
LONGEST_FIRST_LINE, LONGEST_TITLE = 120, 1000
#: Control characters, and those that turn the direction of writing, can change how the rest of a page looks.
_NOT_PRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+")


class Document(NamedTuple):
    r"""A document of a stream of text.

    Attributes
    ----------
    text : str
        What is scored: title, new line and body, if there are both.
    title : str
        For people: one line without control characters.
    id : str
    time : str
        As written in the input.

    Examples
    --------
    >>> Document.of("Prices rose again.", title="Cocoa at a new high", id="7")
    Document(text='Cocoa at a new high\nPrices rose again.', title='Cocoa at a new high', id='7', time='')
    >>> Document.of("Prices rose\nagain.").title
    'Prices rose'
    """

    text: str
    title: str = ""
    id: str = ""
    time: str = ""

    @classmethod
    def of(cls, body: str, title: str = "", id: str = "", time: str = "") -> Document:  # noqa: A002
        """Return the document with this title and body; one of them may be empty."""
        if not title:
            return cls(body, title_line(body, LONGEST_FIRST_LINE), id, time)
        return cls(f"{title}\n{body}" if body else title, title_line(title, LONGEST_TITLE), id, time)


def title_line(text: str, longest: int) -> str:
    r"""Return the first line of a text, fit to be shown.

    >>> title_line("\n  Cocoa\tat a new high \nPrices rose.", 120), title_line("Cocoa at a new high", 9)
    ('Cocoa at a new high', 'Cocoa at…')
    """
    # Only a part is looked at, since a text can have 10 MB.
    head = text[: 4 * longest].strip() or text.lstrip()[:longest]
    line = head.partition("\n")[0]
    if not line.isprintable():
        line = _NOT_PRINTED.sub(" ", line)
    return line.rstrip() if len(line) <= longest else line[: longest - 1].rstrip() + "…"
