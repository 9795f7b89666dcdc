"""Decimals with more digits than a double holds: odd ones, and long ones."""

from __future__ import annotations

import time

import pytest

from orthostream.compression.tables.digits import first_rounded


@pytest.mark.parametrize("exponent", ["-400", "-99999999999999999999", "+99999999999999999999"])
def test_an_exponent_beyond_every_double(exponent: str) -> None:
    assert first_rounded([b"1.5", b"1234567890123456789e" + exponent.encode()]) == 1


@pytest.mark.parametrize("cell", [b"0" * 100_000, b"0." + b"0" * 100_000, b"1." + b"0" * 100_000, b"0" * 50_000 + b"x"])
def test_many_zeros_take_no_time(cell: bytes) -> None:
    start = time.perf_counter()
    assert first_rounded([cell]) is None
    assert time.perf_counter() - start < 2.0


@pytest.mark.parametrize("cell", [b"000.000123456789012345678", b"0,1234567890123456789", b"-.1234567890123456789"])
def test_zeros_before_the_first_digit_do_not_count(cell: bytes) -> None:
    assert first_rounded([cell]) == 0
    assert first_rounded([cell[:-6]]) is None
