"""Frames: payloads with a checksum that only fits the state that they were made for.

A frame is as long as the message that carries it; a file writes its length before it. One of readings that follow the
ones before is *plain*: payload and checksum, nothing else. All others say what they are in a first byte, and have a
checksum of four bytes, begun differently, so that neither is taken for the other.
"""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from orthostream.compression.errors import FrameError

#: Kinds of frame; the first three are kinds of payload.
READINGS, DICTIONARY, UPDATE, HEADER, INDEX, END = range(6)
#: Flags beside the kind: the state is restarted before this frame; times stand before the payload; the frame would
#: otherwise look plain.
RESTART, TIMED, OTHER = 8, 16, 32

#: Plain frames of at most this many bytes have a checksum of 12 bits, of 16, and of 32 beyond.
_TINY, _SHORT = 8, 64
#: Maximum number of bytes of a frame.
LONGEST = 1 << 24
_PLAIN_START, _MARKED_START = 0x4F535430, 0x4F535431


class Chain(NamedTuple):
    """What both sides remember of the frames since the last restart: it goes into the checksum of the next one.

    Short checksums hold the number of the frame, so that one that follows a lost frame never fits, and the seed after
    the first frame, or after the last whose number is a multiple of 64, so that other streams do not fit and states
    that differ for any other reason part soon; long ones hold the seed itself.
    """

    seed: int = 0
    number: int = 0
    anchor: int = 0

    def after(self, frame: bytes, digest: int | None) -> Chain:
        """Return the chain after a frame; ``digest`` is that of the codec after one of readings."""
        seed = zlib.crc32(frame, self.seed) ^ (digest or 0)
        number = self.number + 1
        return Chain(seed, number, seed if number == 1 or number % 64 == 0 else self.anchor)


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


def _check_12(body: bytes, chain: Chain) -> int:
    return _crc_12(_seeded(chain.anchor, _PLAIN_START) + body) ^ (chain.number & 0xFFF)


def _check_16(body: bytes, chain: Chain) -> bytes:
    value = binascii.crc_hqx(_seeded(chain.anchor, _PLAIN_START) + body, 0xFFFF) ^ (chain.number & 0xFFFF)
    return value.to_bytes(2, "little")


def _check_32(body: bytes, seed: int, start: int) -> bytes:
    return zlib.crc32(_seeded(seed, start) + body).to_bytes(4, "little")


def pack_plain(body: bytes, chain: Chain) -> bytes:
    """Return a plain frame: it takes one or two bytes more than its payload if that is tiny, two if it is short."""
    if len(body) + 2 <= _TINY or (len(body) + 1 <= _TINY and body and body[-1] & 15 == 0):
        # The checksum begins in the middle of a byte; zeros at the end of a payload mean nothing.
        if not body or body[-1] & 15:
            body += b"\0"
        check = _check_12(body, chain)
        return body[:-1] + bytes([body[-1] | check >> 8, check & 0xFF])
    if len(body) + 2 <= _SHORT:
        body = body.ljust(_TINY - 1, b"\0")
        return body + _check_16(body, chain)
    body = body.ljust(_SHORT - 3, b"\0")
    return body + _check_32(body, chain.seed, _PLAIN_START)


def _plain_body(data: bytes, chain: Chain) -> bytes | None:
    """Return the payload of a plain frame, None if its checksum does not fit."""
    if len(data) <= _TINY:
        if len(data) < 2:
            return None
        body = data[:-2] + bytes([data[-2] & 0xF0])
        return body if _check_12(body, chain) == (data[-2] & 15) << 8 | data[-1] else None
    if len(data) <= _SHORT:
        body = data[:-2]
        return body if _check_16(body, chain) == data[-2:] else None
    body = data[:-4]
    return body if _check_32(body, chain.seed, _PLAIN_START) == data[-4:] else None


def _neighbours(data: bytes) -> Iterator[bytes]:
    """Yield bytes, and all that one flipped bit makes of them."""
    yield data
    if len(data) <= _SHORT:
        whole = int.from_bytes(data, "little")
        for bit in range(8 * len(data)):
            yield (whole ^ 1 << bit).to_bytes(len(data), "little")


def pack_marked(kind: int, flags: int, body: bytes, chain: Chain | None = None) -> bytes:
    """Return a frame that says what it is.

    A decoder that remembers ``chain`` never takes it for a plain one, even with one bit flipped.
    """
    seed = chain.seed if chain is not None and not _alone(kind, flags) else 0
    for extra in (0, OTHER):
        raw = bytes([kind | flags | extra]) + body
        data = raw + _check_32(raw, seed, _MARKED_START)
        if chain is None or not any(_plain_body(near, chain) is not None for near in _neighbours(data)):
            break
    return data


def _alone(kind: int, flags: int) -> bool:
    """Return whether a frame can be read without knowing the ones before it."""
    return bool(flags & RESTART) or kind >= HEADER


def open_frame(data: bytes, chain: Chain | None) -> Frame:
    """Return the frame that bytes are, for a decoder that remembers ``chain`` (None: nothing)."""
    if not 2 <= len(data) <= LONGEST:
        raise FrameError(f"{len(data)} bytes are no frame")
    if chain is not None:
        body = _plain_body(data, chain)
        if body is not None:
            return Frame(READINGS, 0, body)
    if len(data) >= 5:
        mark = data[0]
        kind, flags = mark & 7, mark & (RESTART | TIMED)
        seed = 0 if _alone(kind, flags) else None if chain is None else chain.seed
        fits = seed is not None and data[-4:] == _check_32(data[:-4], seed, _MARKED_START)
        if fits and mark < 64 and kind <= END and not (flags and kind >= HEADER):
            return Frame(kind, flags, data[1:-4])
    if chain is None:
        raise FrameError("a frame is damaged, or frames before it are missing; one that restarts the state is needed")
    raise FrameError("a frame is damaged, or does not follow the ones before it")
