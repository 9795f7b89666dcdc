"""The levels of a sensor as bytes: the shortest of a few ways to write increasing numbers."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray
from orthostream.compression.codecs.conditional.lattices.fractions import (
    LARGEST_DENOMINATOR,
    MOST_MULTIPLES,
    denominators_of,
    fractions_between,
    n_multiples,
)
from orthostream.compression.codecs.conditional.lattices.levels import MOST_LEVELS, Levels
from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, fold, put_varint, unfold

#: How numbers are written: as they are with 64 or 32 bits; as differences of multiples of a decimal; as differences of
#: their bit patterns with 64 or 32 bits, all first bytes before all second bytes and so on, compressed; or as all
#: fractions of some denominators.
DOUBLES, SINGLES, DECIMALS, PLANES, SINGLE_PLANES, FRACTIONS = range(6)
#: Levels that a payload may hold beside `MOST_LEVELS` for each of its bytes, so that a few hostile bytes do not ask for
#: endless work; zeros at its end count.
_LEVELS_PER_BYTE = 64

_MOST_DECIMALS = 15
_LARGEST_COUNT = 2**53
_LARGEST_FRACTION = 1 << 20


def levels_afforded(n_bytes: int) -> int:
    """Return how many levels a payload of so many bytes may hold."""
    return MOST_LEVELS + _LEVELS_PER_BYTE * n_bytes


def least_bytes_of(n_levels: int) -> int:
    """Return how many bytes a payload with so many levels must have."""
    return -(-max(n_levels - MOST_LEVELS, 0) // _LEVELS_PER_BYTE)


def put_levels(out: bytearray, levels: Levels) -> None:
    """Append levels: how many there are, how they are written, and they."""
    numbers = np.asarray(levels.levels, dtype=np.float64)
    ways = {DOUBLES: numbers.astype("<f8").tobytes(), PLANES: _planes(numbers.view(np.uint64))}
    with np.errstate(over="ignore", under="ignore"):
        singles = numbers.astype(np.float32)
    if np.array_equal(singles.astype(np.float64), numbers):
        ways[SINGLES] = singles.astype("<f4").tobytes()
        ways[SINGLE_PLANES] = _planes(singles.view(np.uint32))
    decimals = _decimals(numbers)
    if decimals is not None:
        ways[DECIMALS] = decimals
    fractions = _fractions(numbers)
    if fractions is not None:
        ways[FRACTIONS] = fractions
    way = min(ways, key=lambda each: (len(ways[each]), each))
    put_varint(out, len(numbers))
    out.append(way)
    if way in (PLANES, SINGLE_PLANES):
        put_varint(out, len(ways[way]))
    out += ways[way]


def read_levels(reader: Reader) -> Levels:
    """Return the levels that a reader holds next; raise FrameError where they are impossible."""
    count = reader.varint(MOST_LEVELS)
    way = reader.byte()
    if count == 0:
        raise FrameError("a sensor has no levels")
    numbers: FloatArray
    if way == DOUBLES:
        numbers = np.frombuffer(reader.take(8 * count), dtype="<f8").astype(np.float64)
    elif way == SINGLES:
        numbers = np.frombuffer(reader.take(4 * count), dtype="<f4").astype(np.float64)
    elif way == DECIMALS:
        numbers = _read_decimals(reader, count)
    elif way == PLANES:
        numbers = _read_planes(reader, count, 8).view(np.float64)
    elif way == SINGLE_PLANES:
        numbers = _read_planes(reader, count, 4).view(np.float32).astype(np.float64)
    elif way == FRACTIONS:
        numbers = _read_fractions(reader)
    else:
        raise FrameError(f"levels are written in way {way}, which there is not")
    if len(numbers) != count:
        raise FrameError("levels are damaged: they are more or fewer than they should be")
    try:
        return Levels(numbers)
    except ValueError:
        raise FrameError("levels are damaged: they are not finite or not in order") from None


def _decimals(numbers: FloatArray) -> bytes | None:
    """Return varints: places, the first count and differences of counts; None if the numbers are no short decimals."""
    for places in range(_MOST_DECIMALS + 1):
        scale = 10.0**places
        with np.errstate(over="ignore"):
            counts = np.rint(numbers * scale)
        if not np.abs(counts).max() < _LARGEST_COUNT:
            return None
        if np.array_equal(counts / scale, numbers):
            out = bytearray()
            put_varint(out, places)
            whole = [int(count) for count in counts]
            put_varint(out, fold(whole[0]))
            for before, count in itertools.pairwise(whole):
                put_varint(out, count - before)
            return bytes(out)
    return None


def _read_decimals(reader: Reader, count: int) -> FloatArray:
    if count > len(reader.data) - reader.at:
        raise FrameError("the bytes end too early")
    scale = 10.0 ** reader.varint(_MOST_DECIMALS)
    total = unfold(reader.varint(2 * _LARGEST_COUNT))
    counts = [total]
    for _ in range(count - 1):
        total += reader.varint(2 * _LARGEST_COUNT)
        counts.append(total)
    if max(abs(counts[0]), abs(total)) > _LARGEST_COUNT:
        raise FrameError("levels are damaged: they are larger than can be")
    return np.array(counts, dtype=np.float64) / scale


def _fractions(numbers: FloatArray) -> bytes | None:
    """Return varints: the first and the last number and the largest denominator; None if some fraction is missing."""
    low, high = float(numbers[0]), float(numbers[-1])
    if len(numbers) < 8 or not (low.is_integer() and high.is_integer() and max(-low, high) < _LARGEST_FRACTION):
        return None
    largest = int(denominators_of(numbers).max())
    if largest > LARGEST_DENOMINATOR or n_multiples(int(low), int(high), largest) > MOST_MULTIPLES:
        return None
    if not np.array_equal(fractions_between(int(low), int(high), largest), numbers):
        return None
    out = bytearray()
    put_varint(out, fold(int(low)))
    put_varint(out, int(high) - int(low))
    put_varint(out, largest)
    return bytes(out)


def _read_fractions(reader: Reader) -> FloatArray:
    low = unfold(reader.varint(2 * _LARGEST_FRACTION))
    high = low + reader.varint(2 * _LARGEST_FRACTION)
    largest = reader.varint(LARGEST_DENOMINATOR)
    multiples = n_multiples(low, high, largest)
    if largest == 0 or multiples > MOST_MULTIPLES:
        raise FrameError("levels are damaged: they are more fractions than can be")
    return fractions_between(low, high, largest)


def _planes(patterns: NDArray[Any]) -> bytes:
    """Return differences of bit patterns, put in the order of the numbers, plane by plane, compressed."""
    top = patterns.dtype.type(1 << (8 * patterns.itemsize - 1))
    ordered = np.where(patterns & top, ~patterns, patterns | top)
    steps = np.diff(ordered, prepend=patterns.dtype.type(0))
    little = steps.astype(steps.dtype.newbyteorder("<"))
    return zlib.compress(little.view(np.uint8).reshape(len(steps), -1).T.tobytes(), 9)


def _read_planes(reader: Reader, count: int, size: int) -> NDArray[Any]:
    data = reader.take(reader.varint(len(reader.data)))
    stream = zlib.decompressobj()
    try:
        found = stream.decompress(data, size * count + 1)
    except zlib.error:
        raise FrameError("levels are damaged: they cannot be decompressed") from None
    if len(found) != size * count or not stream.eof or stream.unused_data:
        raise FrameError("levels are damaged: they have another length")
    kind = np.dtype(f"<u{size}")
    steps = np.frombuffer(found, dtype=np.uint8).reshape(size, count).T.copy().view(kind)[:, 0].astype(kind.type)
    ordered = np.cumsum(steps, dtype=kind.type)
    top = kind.type(1 << (8 * size - 1))
    return np.where(ordered & top, ordered ^ top, ~ordered)
