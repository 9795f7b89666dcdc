"""The first lines of an input, looked at before they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orthostream.novelty.reading.lines import Line
from orthostream.novelty.reading.problems import Problems

#: Lines and characters that are looked at.
_LINES, _CHARACTERS = 100, 1 << 20


class Opening(NamedTuple):
    """The first lines of an input.

    Attributes
    ----------
    lines : list of Line
        From the first one that is not blank on; also those that cannot be used.
    is_all : bool
        Whether the input has no more.
    """

    lines: list[Line]
    is_all: bool

    @property
    def filled(self) -> list[Line]:
        """The lines that are not blank."""
        return [line for line in self.lines if not line.is_blank]


def look_ahead(lines: Iterator[Line | None], problems: Problems) -> Opening:
    """Take the first lines: a hundred, or as many as there are until it takes time to get more.

    >>> look_ahead(iter([None, Line(1, ""), None, Line(2, "text"), None, Line(3, "more")]), Problems()).lines
    [Line(number=2, text='text', is_whole=True)]
    """
    opening = Opening([], is_all=False)
    size = 0
    for line in lines:
        if line is None:
            if opening.lines:
                return opening
        elif not opening.lines and line.is_blank:
            problems.report("empty lines", line.number)
        else:
            opening.lines.append(line)
            size += len(line.text)
            if len(opening.lines) == _LINES or size >= _CHARACTERS:
                return opening
    return opening._replace(is_all=True)
