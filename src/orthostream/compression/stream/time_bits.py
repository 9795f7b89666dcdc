"""How times become bits: adaptive bits that may be coded or only learned from, and integers of either sign.

`TimeBits` codes bits with a range coder, in either direction. `Learning` stands in for it where bits are known already,
and only adapts their probabilities. Both return what a bit costs, in sixteenths of a bit.
"""

from __future__ import annotations

import math
from typing import cast

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel import range_coder
from orthostream.compression.kernel.range_coder import CODER_SIZE

#: How many bits an adaptive bit remembers.
_LIMIT = 250
#: What a bit of probability (i + 1/2) / 256 costs, in sixteenths of a bit.
_COSTS = [math.floor(16 * math.log2(256 / (i + 0.5)) + 0.5) for i in range(256)]

#: Adaptive bits of an integer: a binary tree for its length in bits, a sign for each length, and a tree for each length
#: of the three bits below the leading one.
LENGTH_BITS, _LONGEST, _SHAPE_BITS = 7, 68, 3
_SIGN = 1 << LENGTH_BITS
_SHAPE = _SIGN + _LONGEST + 1
SIGNED_BITS = _SHAPE + ((_LONGEST + 1) << _SHAPE_BITS)

#: Bytes that one time takes at most: every adaptive bit is met at its rarest.
_MOST_BYTES = 40


class TimeBits:
    """A range coder that writes or reads one section."""

    def __init__(self, section: bytes | None, count: int) -> None:
        # Lists and bytearrays are read one element at a time more quickly than arrays are.
        self._coder = cast(IntArray, [0] * CODER_SIZE)
        if section is None:
            self._buffer = bytearray(_MOST_BYTES * count + 32)
            range_coder.start_encoding(self._coder)
        else:
            self._buffer = bytearray(section)
            range_coder.start_decoding(self._coder, cast(ByteArray, self._buffer), len(section))

    def finish(self) -> bytes:
        """Return the section that was written."""
        return bytes(self._buffer[: range_coder.finish_encoding(self._coder, cast(ByteArray, self._buffer))])

    def bit(self, bits: list[int], index: int, bit: int) -> tuple[int, int]:
        """Code a bit; return it and what it cost."""
        likely = bits[index] >> 22
        bit = range_coder.code_bit(self._coder, cast(ByteArray, self._buffer), cast(IntArray, bits), index, _LIMIT, bit)
        return bit, _COSTS[likely if bit else 255 - likely]

    def plain(self, value: int, n_bits: int) -> int:
        """Code some bits as they are."""
        return range_coder.code_bits(self._coder, cast(ByteArray, self._buffer), value, n_bits)

    def unknown(self, value: int) -> int:
        """Code an integer of either sign and at most 65 bits that nothing is known of."""
        length = self.plain(abs(value).bit_length(), LENGTH_BITS)
        if length > 65:
            raise FrameError("times run out of 64 bits")
        if length == 0:
            return 0
        negative = self.plain(int(value < 0), 1)
        below = (1 << (length - 1)) - 1
        size = (below + 1) | self.plain(abs(value) & below, length - 1)
        return -size if negative else size


class Learning:
    """Stands in for a range coder where bits are known: probabilities adapt, nothing is coded."""

    def bit(self, bits: list[int], index: int, bit: int) -> tuple[int, int]:
        """Learn from a bit; return it and what it would have cost."""
        entry = bits[index]
        seen, probability, likely = entry & 255, entry >> 8, entry >> 22
        rate = 327680 // (5 * seen + 8)
        if bit:
            probability += ((4194303 - probability) * rate) >> 16
        else:
            probability -= (probability * rate) >> 16
        bits[index] = (probability << 8) | (seen + 1 if seen < _LIMIT else seen)
        return bit, _COSTS[likely if bit else 255 - likely]

    def plain(self, value: int, n_bits: int) -> int:
        """Return the bits."""
        return value


LEARNING = Learning()


def code_signed(coder: TimeBits | Learning, bits: list[int], value: int) -> tuple[int, int]:
    """Code an integer of either sign with `SIGNED_BITS` adaptive bits; return it and what it cost."""
    size = abs(value)
    length, node, cost = size.bit_length(), 1, 0
    for level in range(LENGTH_BITS - 1, -1, -1):
        bit, more = coder.bit(bits, node, (length >> level) & 1)
        node, cost = 2 * node + bit, cost + more
    length = node - (1 << LENGTH_BITS)
    if length == 0:
        return 0, cost
    if length > _LONGEST:
        raise FrameError("times run out of 64 bits")
    negative, more = coder.bit(bits, _SIGN + length, int(value < 0))
    cost += more
    node, left = 1, length - 1
    while left > 0 and node < 1 << _SHAPE_BITS:
        left -= 1
        bit, more = coder.bit(bits, _SHAPE + (length << _SHAPE_BITS) + node, (size >> left) & 1)
        node, cost = 2 * node + bit, cost + more
    size = (node << left) | coder.plain(size & ((1 << left) - 1), left)
    return -size if negative else size, cost + 16 * left
