"""The first lines of an input, looked at before they are read."""

from __future__ import annotations

import math
from collections.abc import Iterator
from time import monotonic
from typing import NamedTuple

from orthostream.novelty.reading.lines import TextLine
from orthostream.novelty.reading.pieces import ReadingStoppedError
from orthostream.novelty.reading.problems import Problems

#: Lines and characters that are looked at.
_LINES, _CHARACTERS = 100, 1 << 20


class FirstLines(NamedTuple):
    """The first lines of an input.

    Attributes
    ----------
    lines : list of TextLine
        From the first one that is not blank on; also those that cannot be used.
    is_all : bool
        Whether the input has no more.
    """

    lines: list[TextLine]
    is_all: bool

    @property
    def filled(self) -> list[TextLine]:
        """The lines that are not blank."""
        return [line for line in self.lines if not line.is_blank]


def look_ahead(
    lines: Iterator[TextLine | None], problems: Problems, seconds: float = math.inf
) -> tuple[FirstLines, Iterator[TextLine | None]]:
    """Return the first lines, and an iterator over all of them.

    A hundred lines, or as many as there are until one has to wait for more, or until some seconds after the first.

    >>> source = iter([None, TextLine(1, ""), TextLine(2, "text"), None, TextLine(3, "more")])
    >>> first, lines = look_ahead(source, Problems())
    >>> first.lines
    [TextLine(number=2, text='text', is_whole=True)]
    >>> [line and line.text for line in lines]
    ['text', None, 'more']
    """
    first: list[TextLine] = []
    n_characters = 0
    deadline = math.inf
    trouble: Exception | None = None
    is_all = is_silent = False
    while len(first) < _LINES and n_characters < _CHARACTERS and monotonic() < deadline:
        try:
            line = next(lines)
        except StopIteration:
            is_all = True
            break
        except (OSError, ReadingStoppedError) as error:
            # What came before is read first.
            trouble = error
            break
        if line is None:
            is_silent = bool(first)
            if is_silent:
                break
        elif not first and line.is_blank:
            problems.report("empty lines", line.number)
        else:
            deadline = deadline if first else monotonic() + seconds
            first.append(line)
            n_characters += len(line.text)

    def again() -> Iterator[TextLine | None]:
        yield from first
        if is_silent:
            yield None
        if trouble is not None:
            raise trouble
        yield from lines

    return FirstLines(first, is_all), again()
