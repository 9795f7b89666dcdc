"""Decompress gzip, as far as it goes."""

from __future__ import annotations

import zlib
from contextlib import suppress

from orthostream.novelty.reading.errors import DocumentError
from orthostream.novelty.reading.pieces import PIECE, Pieces, after_whole_mark
from orthostream.novelty.reading.problems import Problems

#: With deflate, the only method that there is.
GZIP_MARK = b"\x1f\x8b\x08"
_GZIP_FORMAT = 31


def gunzipped(pieces: Pieces, problems: Problems) -> Pieces:
    """Decompress a stream that begins like gzip, hand on any other as it is.

    What can be read of a damaged or incomplete one is read; then the damage is counted.

    >>> import gzip
    >>> problems = Problems()
    >>> list(gunzipped(iter([gzip.compress(b"text")[:-1]]), problems)), problems.messages()
    ([b'text'], ['damaged gzip: 1 (first: the input ends early)'])
    """
    pieces = after_whole_mark(pieces, (GZIP_MARK,))
    member = None
    for piece in pieces:
        if piece is None:
            yield None
            continue
        if member is None:
            if not piece.startswith(GZIP_MARK):
                yield piece
                yield from pieces
                return
            member = zlib.decompressobj(_GZIP_FORMAT)
        while piece:
            if member.eof:
                # A file can have several members; zeros after the last one are padding.
                piece = piece.lstrip(b"\0")
                if not piece:
                    break
                member = zlib.decompressobj(_GZIP_FORMAT)
            before = member.copy()
            try:
                plain = member.decompress(piece, PIECE)
            except zlib.error as error:
                yield _readable(before, piece)
                problems.report("damaged gzip", 0, f"the rest cannot be read: {error}")
                return
            if plain:
                yield plain
            piece = member.unused_data if member.eof else member.unconsumed_tail
    if member is not None and not member.eof:
        problems.report("damaged gzip", 0, "the input ends early")


def without_gzip(pieces: Pieces) -> Pieces:
    """Hand on a stream that is not compressed; raise `DocumentError` for one that is."""
    for piece in after_whole_mark(pieces, (GZIP_MARK,)):
        if piece is not None and piece.startswith(GZIP_MARK):
            raise DocumentError("a file that is compressed by gzip cannot be followed; read it as it is")
        yield piece


def _readable(member: zlib._Decompress, piece: bytes) -> bytes:
    """Return what stands before an error: zlib forgets it if it is asked for the whole piece."""
    plain = bytearray()
    with suppress(zlib.error):
        for place in range(len(piece)):
            plain += member.decompress(piece[place : place + 1])
    return bytes(plain)
