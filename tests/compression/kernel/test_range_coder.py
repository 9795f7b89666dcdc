"""Symbols become bytes, and bytes symbols."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream.compression.kernel.range_coder import (
    AT,
    CODER_SIZE,
    EVEN,
    INTEGER_BITS,
    TOTAL,
    code_bit,
    code_bits,
    code_integer,
    code_interval,
    finish_encoding,
    point,
    position_in_bits,
    start_decoding,
    start_encoding,
)


def new_coder(size: int = 0) -> tuple[np.ndarray, np.ndarray]:
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_encoding(coder)
    return coder, np.zeros(size, dtype=np.uint8)


def reader(data: np.ndarray) -> np.ndarray:
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_decoding(coder, data, len(data))
    return coder


def packed(coder: np.ndarray, buffer: np.ndarray) -> np.ndarray:
    return buffer[: finish_encoding(coder, buffer)].copy()


def new_bits(count: int = INTEGER_BITS) -> np.ndarray:
    return np.full(count, EVEN, dtype=np.int64)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 200), min_size=2, max_size=12), st.lists(st.integers(0, 11), max_size=80))
@example([1, 65535], [0] * 40)
@example([65535, 1], [1] * 40)
@example([1, 65534, 1], [1, 2] * 30 + [0])
def test_symbols_of_any_frequencies(weights: list[int], symbols: list[int]) -> None:
    scaled = np.maximum(np.array(weights) * TOTAL // sum(weights), 1)
    scaled[scaled.argmax()] += TOTAL - scaled.sum()
    edges = np.append(0, np.cumsum(scaled))
    symbols = [symbol % len(weights) for symbol in symbols]
    coder, buffer = new_coder(4 * len(symbols) + 16)
    for symbol in symbols:
        code_interval(coder, buffer, int(edges[symbol]), int(scaled[symbol]))
    data = packed(coder, buffer)
    ideal = -sum(math.log2(scaled[symbol] / TOTAL) for symbol in symbols)
    assert len(data) <= ideal / 8 + 2
    coder = reader(data)
    for symbol in symbols:
        found = int(np.searchsorted(edges, point(coder), side="right")) - 1
        assert found == symbol
        code_interval(coder, data, int(edges[found]), int(scaled[found]))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2**62 - 1), st.integers(0, 62)), max_size=20))
def test_bits_as_they_are(numbers: list[tuple[int, int]]) -> None:
    numbers = [(value & ((1 << n_bits) - 1), n_bits) for value, n_bits in numbers]
    coder, buffer = new_coder(200)
    for value, n_bits in numbers:
        assert code_bits(coder, buffer, value, n_bits) == value
    data = packed(coder, buffer)
    coder = reader(data)
    assert [code_bits(coder, data, 0, n_bits) for _, n_bits in numbers] == [value for value, _ in numbers]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 2**40 - 2) | st.integers(0, 20), max_size=30))
def test_integers(values: list[int]) -> None:
    coder, buffer = new_coder(80 * len(values) + 16)
    bits = new_bits()
    for value in values:
        assert code_integer(coder, buffer, bits, 0, value) == value
    data, after = packed(coder, buffer), bits
    coder, bits = reader(data), new_bits()
    assert [code_integer(coder, data, bits, 0, 0) for _ in values] == values
    np.testing.assert_array_equal(bits, after)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=300), st.integers(1, 255))
def test_bits_that_adapt(symbols: list[bool], limit: int) -> None:
    coder, buffer = new_coder(2 * len(symbols) + 16)
    bits = new_bits(1)
    for symbol in symbols:
        code_bit(coder, buffer, bits, 0, limit, int(symbol))
    data = packed(coder, buffer)
    coder, again = reader(data), new_bits(1)
    assert [code_bit(coder, data, again, 0, limit, 0) for _ in symbols] == symbols
    np.testing.assert_array_equal(bits, again)


@pytest.mark.parametrize("symbol", [0, 1])
def test_what_never_changes_costs_almost_nothing(symbol: int) -> None:
    coder, buffer = new_coder(1000)
    bits = new_bits(1)
    for _ in range(5000):
        code_bit(coder, buffer, bits, 0, 250, symbol)
    assert len(packed(coder, buffer)) <= 12


def test_carries_run_back_through_full_bytes() -> None:
    """The interval is kept just below a whole number of bytes, and then crosses it."""
    coder, buffer = new_coder(64)
    for _ in range(6):
        code_interval(coder, buffer, TOTAL - 1, 1)
    code_interval(coder, buffer, TOTAL - 2, 2)
    data = packed(coder, buffer)
    coder = reader(data)
    for _ in range(6):
        assert point(coder) == TOTAL - 1
        code_interval(coder, data, TOTAL - 1, 1)
    assert point(coder) >= TOTAL - 2


def test_zeros_at_the_end_are_not_written() -> None:
    coder, buffer = new_coder(64)
    for _ in range(20):
        code_bits(coder, buffer, 0, 16)
    assert len(packed(coder, buffer)) == 0


def test_position() -> None:
    coder, buffer = new_coder(64)
    begin = position_in_bits(coder)
    code_bits(coder, buffer, 5, 13)
    assert math.isclose(position_in_bits(coder) - begin, 13.0)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=30))
def test_any_bytes_can_be_read(data: bytes) -> None:
    array = np.frombuffer(data, dtype=np.uint8)
    coder, bits = reader(array), new_bits()
    for _ in range(10):
        assert 0 <= code_integer(coder, array, bits, 0, 0) <= 2**40 - 2
        assert 0 <= point(coder) < TOTAL
    assert coder[AT] >= 6
