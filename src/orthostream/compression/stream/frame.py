"""Frames: payloads with a checksum that only fits the state that they were made for.

A frame is as long as the message that carries it; a file writes its length before it. One of readings that follow the
ones before is *plain*: payload and checksum, nothing else. All others say what they are in a first byte.
"""

from __future__ import annotations

from typing import NamedTuple

from orthostream.compression.varint import put_varint

#: Kinds of frame; the first three are kinds of payload. END is of version 1 alone.
READINGS, DICTIONARY, UPDATE, HEADER, INDEX, END = range(6)
#: Flags beside the kind: the state is restarted before this frame; times stand before the payload; the frame would
#: otherwise look plain.
RESTART, TIMED, OTHER = 8, 16, 32
#: Maximum number of bytes of a frame.
LONGEST = 1 << 24


class Frame(NamedTuple):
    """A frame whose checksum fits."""

    kind: int
    flags: int
    body: bytes


def stands_alone(kind: int, flags: int) -> bool:
    """Return whether a frame can be read without knowing the ones before it."""
    return bool(flags & RESTART) or kind >= HEADER


def is_mark(mark: int, last_kind: int) -> bool:
    """Return whether a byte can be the first one of a marked frame."""
    kind, flags = mark & 7, mark & (RESTART | TIMED)
    return mark < 64 and kind <= last_kind and not (flags and kind >= HEADER)


def with_length(data: bytes) -> bytes:
    """Return bytes with their number before them."""
    out = bytearray()
    put_varint(out, len(data))
    return bytes(out) + data
