"""Bytes of an open stream, piece by piece; None when no more are there for now."""

from __future__ import annotations

import io
import os
import select
import stat
import threading
from collections.abc import Iterator
from typing import BinaryIO, TypeAlias

#: Bytes as they come. None means that all that had come was handed on.
Pieces: TypeAlias = Iterator[bytes | None]

#: Bytes that are read at once.
PIECE = 1 << 18
#: Seconds of silence after which a consumer is told, and between two looks at a file that grows.
WAIT = 0.2


class ReadingStoppedError(Exception):
    """The reader was told to stop; what it has begun to read is incomplete. Never leaves this package."""


def stream_pieces(stream: BinaryIO, stop: threading.Event) -> Pieces:
    """Yield the bytes of a stream, and None after each 0.2 s in which a pipe brings nothing.

    Nothing may have been read from a pipe before: what Python has buffered of it would come late.

    >>> list(stream_pieces(io.BytesIO(b"text"), threading.Event()))
    [b'text']
    """
    # A pipe's `read` would wait until it has as much as it was asked for.
    read = getattr(stream, "read1", stream.read)
    can_wait = is_pipe(stream)
    poller = _poller(stream) if can_wait else None
    while True:
        if stop.is_set():
            raise ReadingStoppedError
        if poller is not None and not poller.poll(1000 * WAIT):
            yield None
            continue
        piece = read(PIECE)
        if piece is None:
            # A stream that does not block.
            yield None
            stop.wait(WAIT)
        elif not piece:
            return
        else:
            yield piece
            if can_wait and poller is None and len(piece) < PIECE:
                yield None


def is_pipe(stream: BinaryIO) -> bool:
    """Return whether one may have to wait for the next byte of a stream, and can see it in its file descriptor.

    >>> is_pipe(io.BytesIO())
    False
    """
    # Of other classes, such as those that decrypt or decompress, bytes can be waiting elsewhere.
    raw = stream.raw if isinstance(stream, io.BufferedReader) else stream
    return isinstance(raw, io.FileIO) and not stat.S_ISREG(os.fstat(raw.fileno()).st_mode)


def _poller(stream: BinaryIO) -> select.poll | None:
    if not hasattr(select, "poll"):
        # On Windows, a short answer has to do as the sign that a pipe is empty.
        return None
    poller = select.poll()
    poller.register(stream.fileno(), select.POLLIN)
    return poller


def after_whole_mark(pieces: Pieces, marks: tuple[bytes, ...]) -> Pieces:
    r"""Hold the first bytes back as long as they could become one of some marks.

    >>> list(after_whole_mark(iter([b"\xef", b"\xbb", b"\xbf", b"text"]), (b"\xef\xbb\xbf",)))
    [b'\xef\xbb\xbf', b'text']
    """
    head = b""
    for piece in pieces:
        if piece is None:
            yield None
            continue
        head += piece
        if not any(mark != head and mark.startswith(head) for mark in marks):
            yield head
            yield from pieces
            return
    if head:
        yield head
