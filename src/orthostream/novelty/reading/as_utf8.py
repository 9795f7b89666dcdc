"""Text in any encoding as UTF-8."""

from __future__ import annotations

import codecs

from orthostream.novelty.reading.pieces import Pieces, after_whole_mark

# UTF-32 first: its mark begins with the one of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
#: What encodings that can have a mark are without one.
_UNMARKED = {"utf-8": "utf-8", "utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_KEEP_BROKEN = "orthostream-keep-broken"
# Encoded, a surrogate is broken UTF-8: so damage to the input stays visible after the change of encoding.
codecs.register_error(_KEEP_BROKEN, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


def checked_encoding(encoding: str) -> str:
    """Return the usual name of an encoding of text.

    >>> checked_encoding("UTF8"), checked_encoding("latin1")
    ('utf-8', 'iso8859-1')
    """
    try:
        name = codecs.lookup(encoding).name
        " ".encode(name)
        codecs.getincrementaldecoder(_UNMARKED.get(name, name))(_KEEP_BROKEN).decode(b"\xff\0\0\0", final=True)
    except (LookupError, UnicodeError):
        raise ValueError(f"encoding must be an encoding of text, such as utf-8 or latin-1, got {encoding!r}.") from None
    return name


def as_utf8(pieces: Pieces, encoding: str) -> Pieces:
    """Change an encoding to UTF-8; instead of UTF-8, there may be UTF-16 or UTF-32 with a byte order mark.

    >>> b"".join(as_utf8(iter(["text".encode("utf-16-be")]), "utf-16-be"))
    b'text'
    """
    if encoding not in _UNMARKED:
        yield from _transcoded(pieces, encoding, b"")
        return
    pieces = after_whole_mark(pieces, tuple(_MARKS))
    for piece in pieces:
        if piece is None:
            yield None
            continue
        found = next((name for mark, name in _MARKS.items() if piece.startswith(mark)), _UNMARKED[encoding])
        if found != "utf-8":
            yield from _transcoded(pieces, found, piece)
            return
        yield piece
        yield from pieces


def _transcoded(pieces: Pieces, encoding: str, first: bytes) -> Pieces:
    decoder = codecs.getincrementaldecoder(encoding)(_KEEP_BROKEN)
    yield decoder.decode(first).encode("utf-8", "surrogatepass")
    for piece in pieces:
        yield None if piece is None else decoder.decode(piece).encode("utf-8", "surrogatepass")
    yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
