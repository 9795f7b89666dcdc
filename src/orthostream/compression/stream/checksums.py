"""Checksums of 12, 16 and 32 bits, each over four bytes of a seed and what follows them."""

from __future__ import annotations

import binascii
import zlib


def _table_of_12_bits() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 4
        for _ in range(8):
            value = (value << 1) ^ (0x80F if value & 0x800 else 0)
        table.append(value & 0xFFF)
    return table


_TABLE = _table_of_12_bits()


def crc_12(data: bytes) -> int:
    """Return a checksum of 12 bits."""
    value = 0xFFF
    for byte in data:
        value = ((value << 8) & 0xFFF) ^ _TABLE[(value >> 4) ^ byte]
    return value


def check_12(body: bytes, seed: int, number: int) -> int:
    """Return 12 bits for a payload, its seed and the number of its frame."""
    return crc_12(seed.to_bytes(4, "little") + body) ^ (number & 0xFFF)


def check_16(body: bytes, seed: int, number: int) -> bytes:
    """Return 16 bits for a payload, its seed and the number of its frame."""
    value = binascii.crc_hqx(seed.to_bytes(4, "little") + body, 0xFFFF) ^ (number & 0xFFFF)
    return value.to_bytes(2, "little")


def check_32(body: bytes, seed: int) -> bytes:
    """Return 32 bits for bytes and a seed."""
    return zlib.crc32(body, zlib.crc32(seed.to_bytes(4, "little"))).to_bytes(4, "little")
