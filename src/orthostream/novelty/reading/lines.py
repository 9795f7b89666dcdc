"""Lines of text, in bounded memory."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

from orthostream.novelty.reading.pieces import Pieces
from orthostream.novelty.reading.problems import Problems

_SHOWN_OF_LONG_LINE = 200


class TextLine(NamedTuple):
    """A line without its end.

    Attributes
    ----------
    number : int
        Of the line in the input, from 1.
    text : str
    is_whole : bool
        False if the line is too long; the text is only its beginning then.
    """

    number: int
    text: str
    is_whole: bool = True

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but space."""
        return not self.text or self.text.isspace()


def text_lines(pieces: Pieces, max_bytes: int, problems: Problems, first: int = 1) -> Iterator[TextLine | None]:
    r"""Split UTF-8 into lines; None where the pieces have one.

    Broken bytes are replaced and counted. Of a line that is too long only the beginning is kept.

    >>> list(text_lines(iter([b"on", b"e\r\n", None, b"two"]), 99, Problems()))
    [TextLine(number=1, text='one', is_whole=True), None, TextLine(number=2, text='two', is_whole=True)]
    """
    numbers = count(first)
    begun = bytearray()
    for piece in pieces:
        if piece is None:
            yield None
            continue
        *ends, rest = piece.split(b"\n")
        for end in ends:
            if begun:
                begun += end[: max_bytes + 1 - len(begun)]
                end = bytes(begun)
                begun = bytearray()
            yield _line(next(numbers), end, max_bytes, problems)
        begun += rest[: max_bytes + 1 - len(begun)]
    if begun:
        yield _line(next(numbers), bytes(begun), max_bytes, problems)


def _line(number: int, data: bytes, max_bytes: int, problems: Problems) -> TextLine:
    if len(data) > max_bytes:
        problems.report("too long", number, f"the line has more than {max_bytes:,} bytes")
        return TextLine(number, data[: min(max_bytes, _SHOWN_OF_LONG_LINE)].decode("utf-8", "replace"), is_whole=False)
    # Where files were joined, a byte order mark can begin any line.
    data = data.removeprefix(codecs.BOM_UTF8).removesuffix(b"\r")
    try:
        return TextLine(number, data.decode())
    except UnicodeDecodeError as error:
        problems.report("broken encodings", number, f"byte {error.start + 1} does not fit the encoding")
        return TextLine(number, data.decode("utf-8", "replace"))


def filled_lines(lines: Iterable[TextLine | None], problems: Problems) -> Iterator[TextLine | None]:
    """Leave lines out that are too long, and blank ones, which are counted."""
    for line in lines:
        if line is None:
            yield None
        elif not line.is_whole:
            continue
        elif line.is_blank:
            problems.report("empty lines", line.number)
        else:
            yield line
