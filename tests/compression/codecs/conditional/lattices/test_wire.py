"""Lattices as bytes: they come back equal, and bytes that nobody wrote are refused."""

from __future__ import annotations

import contextlib
import struct
import zlib

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orthostream.compression.codecs.conditional.lattices import Floats, Geometric, Levels, Linear, SensorLattice
from orthostream.compression.codecs.conditional.lattices.fractions import fractions_between
from orthostream.compression.codecs.conditional.lattices.wire import (
    LEVELS,
    put_lattice,
    put_lattices,
    read_lattice,
    read_lattices,
)
from orthostream.compression.errors import FrameError
from orthostream.compression.varint import Reader, put_varint

POSITIVE = st.floats(5e-324, 1.7e308)
WHOLE = st.integers(1, 2**53).map(float)
LINEAR = st.one_of(
    st.builds(Linear, st.integers(1, 126), POSITIVE, POSITIVE, st.floats(-1e308, 1e308), st.booleans()),
    st.builds(Linear, st.integers(1, 126), WHOLE, WHOLE, st.integers(-(2**53), 2**53).map(float), st.booleans()),
)
GEOMETRIC = st.builds(Geometric, POSITIVE, st.floats(1.0, 16.0, exclude_min=True, exclude_max=True), st.booleans())
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.integers(-(10**6), 10**6).map(lambda count: count / 100),
)
SETS = st.lists(NUMBERS, min_size=1, max_size=60).map(lambda numbers: Levels.of(np.array([*numbers, 0.5])))
FLOATS = st.builds(Floats, st.integers(-1022, 973), st.integers(1, 53))
ONE = st.one_of(LINEAR, GEOMETRIC, SETS, FLOATS)


def written(*lattices: SensorLattice) -> bytes:
    out = bytearray()
    put_lattices(out, lattices)
    return bytes(out)


@given(st.lists(ONE, min_size=1, max_size=6), st.integers(1, 3))
def test_lattices_come_back(several: list[SensorLattice], repeats: int) -> None:
    several = [each for each in several for _ in range(repeats)]
    reader = Reader(written(*several) + b"rest")
    assert read_lattices(reader, len(several)) == several
    assert reader.rest() == b"rest"


def test_equal_neighbours_are_written_once() -> None:
    assert len(written(*[Linear(1, 1.0, 10.0)] * 1000)) == len(written(Linear(1, 1.0, 10.0))) + 1
    assert written(Linear(1, 2.0, 20.0, -5463.0)).hex() == "01" + "04" + "01" + "02" + "14" + "ad55"


@given(st.binary(max_size=60))
@example(bytes([LEVELS, 255, 255, 3, 0]))
@example(bytes([1, LEVELS, 2, 2, 0, 0, 0]))
def test_any_bytes_are_lattices_or_refused(data: bytes) -> None:
    for read in (lambda: read_lattice(Reader(data)), lambda: read_lattices(Reader(data), 1000)):
        try:
            found = read()
        except FrameError:
            continue
        assert found


@given(ONE, st.data())
def test_damaged_lattices_are_lattices_or_refused(lattice: SensorLattice, data: st.DataObject) -> None:
    out = bytearray()
    put_lattice(out, lattice)
    at = data.draw(st.integers(0, len(out) - 1))
    out[at] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(FrameError):
        read_lattice(Reader(bytes(out)))
    with pytest.raises(FrameError):
        read_lattice(Reader(bytes(out[:at])))


def test_bytes_that_swell_are_refused() -> None:
    out = bytearray([LEVELS])
    put_varint(out, 3)
    out.append(3)
    bomb = zlib.compress(bytes(10_000_000))
    put_varint(out, len(bomb))
    with pytest.raises(FrameError, match="another length"):
        read_lattice(Reader(bytes(out) + bomb))


def test_levels_of_all_sensors_are_limited() -> None:
    many = written(Levels(np.arange(60000.0)))
    assert many[0] == 1
    out = bytearray()
    put_varint(out, 1000)
    with pytest.raises(FrameError, match="together"):
        read_lattices(Reader(bytes(out) + many[1:] + bytes(1000)), 1000)
    several = many + written(Levels(np.arange(50000.0)))
    with pytest.raises(FrameError, match="cannot be"):
        read_lattices(Reader(several), 2)


def test_fractions_are_all_but_free() -> None:
    fractions = Levels(fractions_between(-3, 70, 16))
    data = written(fractions)
    assert len(data) < 10
    assert read_lattices(Reader(data + bytes(200)), 1) == [fractions]


@pytest.mark.parametrize(
    ("levels", "most"),
    [
        (np.arange(500) / 100, 1.1),
        (np.arange(500) / 3.0, 8.1),
        (np.arange(500) * np.float64(np.float32(0.37)), 8.1),
        ((np.arange(500) / 10).astype(np.float32).astype(np.float64), 3.5),
    ],
)
def test_levels_are_short(levels: np.ndarray, most: float) -> None:
    assert len(written(Levels(levels))) <= most * len(levels) + 8


@pytest.mark.parametrize("numbers", [(0.0, 1.0, 0.0), (1.0, -1.0, 0.0), (np.nan, 1.0, 0.0), (1.0, 1.0, np.inf)])
def test_impossible_numbers_are_refused(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(FrameError, match="impossible"):
        read_lattice(Reader(bytes([0, 1]) + struct.pack("<3d", *numbers)))
