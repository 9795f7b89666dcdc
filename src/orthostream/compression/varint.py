"""Integers of as many bytes as they need, and a reader that never runs past the end."""

from __future__ import annotations

import struct

from orthostream.compression.errors import FrameError


def put_varint(out: bytearray, value: int) -> None:
    """Append an integer of at least 0: seven bits a byte, the lowest first, the top bit set on all but the last.

    >>> out = bytearray()
    >>> put_varint(out, 300)
    >>> out.hex()
    'ac02'
    """
    while value >= 0x80:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)


def fold(value: int) -> int:
    """Return an integer of at least 0 for one of any sign: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..."""
    return 2 * value if value >= 0 else -2 * value - 1


def unfold(value: int) -> int:
    """Return the integer that was folded."""
    return value >> 1 if value & 1 == 0 else -((value + 1) >> 1)


class Reader:
    """Bytes that are read from the front; reading past the end raises FrameError."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        """Return the next byte."""
        if self.at >= len(self.data):
            raise FrameError("the bytes end too early")
        self.at += 1
        return self.data[self.at - 1]

    def varint(self, largest: int = 2**63 - 1) -> int:
        """Return the next integer, refusing one above ``largest`` or with idle bytes at its end."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > 63:
                raise FrameError("an integer has too many bytes")
        if value > largest:
            raise FrameError(f"an integer is {value}, which is more than the {largest} that can be")
        if shift > 7 and byte == 0:
            raise FrameError("an integer has idle bytes")
        return value

    def double(self) -> float:
        """Return the next eight bytes as a floating-point number, the lowest byte first."""
        value: float = struct.unpack("<d", self.take(8))[0]
        return value

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        if count > len(self.data) - self.at:
            raise FrameError("the bytes end too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def rest(self) -> bytes:
        """Return all bytes that are left."""
        return self.take(len(self.data) - self.at)
