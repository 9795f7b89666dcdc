"""Integers of as many bytes as they need."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, fold, put_varint, unfold


def packed(value: int) -> bytes:
    out = bytearray()
    put_varint(out, value)
    return bytes(out)


@given(st.lists(st.integers(0, 2**64 - 1), max_size=8))
def test_integers_come_back(values: list[int]) -> None:
    reader = Reader(b"".join(map(packed, values)))
    assert [reader.varint(2**64 - 1) for _ in values] == values
    assert reader.rest() == b""


@given(st.integers(0, 2**64 - 1))
def test_seven_bits_a_byte(value: int) -> None:
    data = packed(value)
    assert len(data) == max(1, -(-value.bit_length() // 7))
    for size in range(len(data)):
        with pytest.raises(FrameError, match="too early"):
            Reader(data[:size]).varint(2**64 - 1)


def test_nothing_below_zero() -> None:
    with pytest.raises(ValueError, match="byte"):
        put_varint(bytearray(), -1)


@given(st.integers())
def test_folding(value: int) -> None:
    assert fold(value) >= 0
    assert unfold(fold(value)) == value


def test_small_numbers_of_either_sign_fold_to_small_ones() -> None:
    assert [fold(value) for value in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("data", [b"\x80\x00", b"\xff\x80\x00", b"\x80\x80\x80\x00"])
def test_idle_bytes_are_refused(data: bytes) -> None:
    """An integer has one way to be written, so that a frame has one, too."""
    with pytest.raises(FrameError, match="idle"):
        Reader(data).varint()


def test_limits() -> None:
    assert Reader(packed(300)).varint(300) == 300
    with pytest.raises(FrameError, match="300, which is more than the 299"):
        Reader(packed(300)).varint(299)
    with pytest.raises(FrameError):
        Reader(packed(2**63)).varint()
    with pytest.raises(FrameError, match="too many bytes"):
        Reader(b"\xff" * 40).varint(2**64 - 1)


@given(st.binary(max_size=12), st.integers(0, 2**63 - 1))
def test_hostile_bytes(data: bytes, largest: int) -> None:
    reader = Reader(data)
    try:
        value = reader.varint(largest)
    except FrameError:
        return
    assert 0 <= value <= largest
    assert packed(value) == data[: reader.at]


def test_bytes_and_doubles() -> None:
    reader = Reader(b"ab" + struct.pack("<d", -0.1) + b"rest", 1)
    assert reader.byte() == ord("b")
    assert reader.double() == -0.1
    assert reader.take(2) == b"re"
    with pytest.raises(FrameError, match="too early"):
        reader.take(3)
    assert reader.rest() == b"st"
    with pytest.raises(FrameError, match="too early"):
        reader.byte()
    with pytest.raises(FrameError, match="too early"):
        reader.double()
