"""Frames: payloads with a length, a kind, and a checksum that only fits the state it was made for."""

from __future__ import annotations

import binascii
import zlib
from typing import NamedTuple

from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, put_varint

#: Kinds of frame; the first three are kinds of payload.
READINGS, DICTIONARY, UPDATE, HEADER, INDEX, END = range(6)
#: Flags beside the kind: the state is forgotten before this frame; times stand before the payload.
RESTART, TIMED = 8, 16

#: Frames of at most this many bytes have a checksum of two bytes, longer ones of four.
_SHORT = 64
#: Bytes that a frame's body has at most.
LONGEST = 1 << 24


class Frame(NamedTuple):
    """A frame that is whole; whether it is also true is known once its checksum is compared."""

    kind: int
    flags: int
    body: bytes
    raw: bytes
    checksum: bytes

    def fits(self, seed: int) -> bool:
        """Return whether the checksum fits the bytes and the state that they were made for."""
        return _checksum(self.raw, seed) == self.checksum

    @property
    def size(self) -> int:
        """Bytes of the whole frame."""
        return len(self.raw) + len(self.checksum)


def _checksum(raw: bytes, seed: int) -> bytes:
    start = seed.to_bytes(4, "little")
    if len(raw) <= _SHORT:
        return binascii.crc_hqx(raw, binascii.crc_hqx(start, 0xFFFF)).to_bytes(2, "little")
    return zlib.crc32(raw, zlib.crc32(start)).to_bytes(4, "little")


def pack_frame(kind: int, flags: int, body: bytes, seed: int) -> bytes:
    """Return a frame. One of readings, without flags, of up to 63 bytes takes three bytes more than its payload."""
    plain = kind == READINGS and flags == 0
    raw = bytearray()
    put_varint(raw, 2 * len(body) + (0 if plain else 1))
    if not plain:
        raw.append(kind | flags)
    raw += body
    return bytes(raw) + _checksum(bytes(raw), seed)


def next_seed(seed: int, frame: bytes) -> int:
    """Return the seed of the frame after one: it chains all frames since the last restart."""
    return zlib.crc32(frame, seed)


def take_frame(data: bytes, at: int = 0) -> Frame | None:
    """Return the frame that begins at a place, None if the bytes end before it does; raise FrameError if it is none."""
    head = data[at : at + 10]
    if len(head) < 10 and (not head or (len(head) < 6 and all(byte >= 0x80 for byte in head))):
        return None
    reader = Reader(data, at)
    size = reader.varint(2 * LONGEST + 1)
    kind = flags = 0
    if size & 1:
        if reader.at >= len(data):
            return None
        mark = reader.byte()
        kind, flags = mark & 7, mark & (RESTART | TIMED)
        if mark & ~(7 | RESTART | TIMED) or kind > END or mark == READINGS or (flags and kind >= HEADER):
            raise FrameError(f"there is no frame of kind {mark:#x}")
    start = reader.at
    end = start + (size >> 1)
    after = end + (2 if end - at <= _SHORT else 4)
    if after > len(data):
        return None
    return Frame(kind, flags, data[start:end], data[at:end], data[end:after])
