"""Frames: payloads with a checksum that only fits the state it was made for.

A frame is as long as the message that carries it; a file writes its length before it. One of readings that follow the
ones before is *plain*: payload and checksum, nothing else. All others say what they are in a first byte, and have a
checksum of four bytes, begun differently, so that neither is taken for the other.
"""

from __future__ import annotations

import binascii
import zlib
from typing import NamedTuple

from orthostream.compression.errors import FrameError

#: Kinds of frame; the first three are kinds of payload.
READINGS, DICTIONARY, UPDATE, HEADER, INDEX, END = range(6)
#: Flags beside the kind: the state is forgotten before this frame; times stand before the payload; the frame would
#: otherwise look plain.
RESTART, TIMED, OTHER = 8, 16, 32

#: Plain frames of at most this many bytes have a checksum of 12 bits, of 16, and of 32 beyond.
_TINY, _SHORT = 8, 64
#: Bytes that a frame has at most.
LONGEST = 1 << 24
_PLAIN_START, _MARKED_START = 0x4F535430, 0x4F535431


class Frame(NamedTuple):
    """A frame whose checksum fits."""

    kind: int
    flags: int
    body: bytes


def _table_of_12_bits() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 4
        for _ in range(8):
            value = (value << 1) ^ (0x80F if value & 0x800 else 0)
        table.append(value & 0xFFF)
    return table


_TABLE = _table_of_12_bits()


def _crc_12(data: bytes) -> int:
    value = 0xFFF
    for byte in data:
        value = ((value << 8) & 0xFFF) ^ _TABLE[(value >> 4) ^ byte]
    return value


def _seeded(seed: int, start: int) -> bytes:
    return (seed ^ start).to_bytes(4, "little")


def pack_plain(body: bytes, seed: int) -> bytes:
    """Return a plain frame: it takes one or two bytes more than its payload if that is tiny, two if it is short."""
    start = _seeded(seed, _PLAIN_START)
    if len(body) + 2 <= _TINY or (len(body) + 1 <= _TINY and body and body[-1] & 15 == 0):
        # The checksum begins in the middle of a byte; zeros at the end of a payload mean nothing.
        if not body or body[-1] & 15:
            body += b"\0"
        check = _crc_12(start + body)
        return body[:-1] + bytes([body[-1] | check >> 8, check & 0xFF])
    if len(body) + 2 <= _SHORT:
        body = body.ljust(_TINY - 1, b"\0")
        return body + binascii.crc_hqx(start + body, 0xFFFF).to_bytes(2, "little")
    body = body.ljust(_SHORT - 3, b"\0")
    return body + zlib.crc32(start + body).to_bytes(4, "little")


def _plain_body(data: bytes, seed: int) -> bytes | None:
    """Return the payload of a plain frame, None if its checksum does not fit."""
    start = _seeded(seed, _PLAIN_START)
    if len(data) <= _TINY:
        if len(data) < 2:
            return None
        body = data[:-2] + bytes([data[-2] & 0xF0])
        return body if _crc_12(start + body) == (data[-2] & 15) << 8 | data[-1] else None
    if len(data) <= _SHORT:
        body = data[:-2]
        return body if binascii.crc_hqx(start + body, 0xFFFF).to_bytes(2, "little") == data[-2:] else None
    body = data[:-4]
    return body if zlib.crc32(start + body).to_bytes(4, "little") == data[-4:] else None


def pack_marked(kind: int, flags: int, body: bytes, seed: int, plain_seed: int | None = None) -> bytes:
    """Return a frame that says what it is, and that no decoder in the state of ``plain_seed`` takes for a plain one."""
    for extra in (0, OTHER):
        raw = bytes([kind | flags | extra]) + body
        data = raw + zlib.crc32(_seeded(seed, _MARKED_START) + raw).to_bytes(4, "little")
        if plain_seed is None or _plain_body(data, plain_seed) is None:
            break
    return data


def open_frame(data: bytes, seed: int | None) -> Frame:
    """Return the frame that bytes are, for a decoder in the state of ``seed`` (None: it knows nothing yet)."""
    if not 2 <= len(data) <= LONGEST:
        raise FrameError(f"{len(data)} bytes are no frame")
    if seed is not None:
        body = _plain_body(data, seed)
        if body is not None:
            return Frame(READINGS, 0, body)
    if len(data) >= 5:
        mark = data[0]
        kind, flags = mark & 7, mark & (RESTART | TIMED)
        alone = bool(flags & RESTART) or kind >= HEADER
        state = 0 if alone else seed
        fits = state is not None and data[-4:] == zlib.crc32(_seeded(state, _MARKED_START) + data[:-4]).to_bytes(4, "little")
        if fits and mark < 64 and kind <= END and not (flags and kind >= HEADER):
            return Frame(kind, flags, data[1:-4])
    if seed is None:
        raise FrameError("a frame is damaged, or frames before it are missing; one that starts again is needed")
    raise FrameError("a frame is damaged, or does not follow the ones before it")


def next_seed(seed: int, frame: bytes) -> int:
    """Return the seed of the frame after one: it chains all frames since the last restart."""
    return zlib.crc32(frame, seed)
