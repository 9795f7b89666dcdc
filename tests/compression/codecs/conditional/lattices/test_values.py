"""What integers of a lattice stand for: exact where a lattice says so, for every double."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orthostream.compression.codecs.conditional.lattices import Floats, Geometric, Levels, Linear, SensorLattice
from orthostream.compression.codecs.conditional.lattices.levels import MOST_LEVELS
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.group_state import new_group, value_of

DOUBLES = st.lists(st.floats(width=64), min_size=1, max_size=40).map(np.array)
EXTREMES = np.array([5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1.7e308, 0.0, -0.0, math.inf, math.nan])


def back(lattice: SensorLattice, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    placed = lattice.place(column)
    return lattice.values(np.rint(placed.positions).astype(np.int64), placed.rests), placed.held


class TestFloats:
    @given(DOUBLES, st.integers(-1022, 973), st.integers(1, 53))
    @example(EXTREMES, -1022, 53)
    @example(EXTREMES, 973, 53)
    @example(EXTREMES, -1022, 1)
    def test_what_is_held_comes_back_to_the_bit(self, column: np.ndarray, exponent: int, precision: int) -> None:
        lattice = Floats(exponent, precision)
        values, held = back(lattice, column)
        np.testing.assert_array_equal(values[held].view(np.int64), column[held].view(np.int64))

    @given(st.lists(st.floats(2.0**-20, 2.0**20), min_size=1), st.booleans())
    def test_what_is_in_range_is_held(self, numbers: list[float], negative: bool) -> None:
        column = np.array(numbers) * (-1.0 if negative else 1.0)
        assert Floats(-20, 53).place(column).held.all()

    @given(st.lists(st.floats(2.0**-10, 2.0**20, width=32), min_size=1))
    def test_numbers_of_32_bits_need_24(self, numbers: list[float]) -> None:
        lattice = Floats(-10, 24)
        cells, rests, held = lattice.cells_and_rests(np.array(numbers))
        assert held.all()
        assert (rests >> lattice.rest_bits(cells) == 0).all()

    @given(st.floats(2.0**-30, 2.0**19), st.integers(-30, -10))
    def test_is_what_is_written_down(self, x: float, exponent: int) -> None:
        cells, rests, _ = Floats(exponent, 53).cells_and_rests(np.array([x]))
        cell = math.floor(Fraction(x) / Fraction(2) ** exponent)
        assert cells[0] == cell
        if cell:
            bits = 53 - cell.bit_length()
            assert Fraction(cell * 2**bits + int(rests[0])) * Fraction(2) ** (exponent - bits) == Fraction(x)

    @given(st.integers(-(2**50), 2**50), st.integers(-1022, 973), st.integers(1, 53), st.data())
    def test_whatever_is_decoded_is_finite(self, cell: int, exponent: int, precision: int, data: st.DataObject) -> None:
        lattice = Floats(exponent, precision)
        cells = np.array([cell])
        rest = data.draw(st.integers(0, 2 ** int(lattice.rest_bits(cells)[0]) - 1))
        assert np.isfinite(lattice.values(cells, np.array([rest]))).all()


class TestLevels:
    @given(DOUBLES, DOUBLES)
    @example(EXTREMES, EXTREMES)
    def test_levels_come_back_to_the_bit(self, column: np.ndarray, other: np.ndarray) -> None:
        column = np.append(column, 1.0)
        values, held = back(Levels.of(column), np.append(column, other))
        both = np.append(column, other)
        np.testing.assert_array_equal(values[held].view(np.int64), both[held].view(np.int64))
        plain = np.isfinite(column) & ~((column == 0.0) & np.signbit(column))
        np.testing.assert_array_equal(held[: len(column)], plain)

    @given(DOUBLES, DOUBLES)
    def test_old_levels_find_their_new_rank(self, column: np.ndarray, other: np.ndarray) -> None:
        levels = Levels.of(np.append(column, 0.5))
        larger, ranks = levels.merged(other)
        np.testing.assert_array_equal(larger.levels[ranks], levels.levels)
        assert larger == Levels.of(np.concatenate([column, [0.5], other]))
        assert hash(larger) == hash(Levels.of(np.concatenate([column, [0.5], other])))

    def test_too_many_are_not_merged(self) -> None:
        levels = Levels(np.arange(float(MOST_LEVELS)))
        same, ranks = levels.merged(np.array([0.5]))
        assert same is levels
        assert len(ranks) == MOST_LEVELS

    @pytest.mark.parametrize("bad", [[], [1.0, 1.0], [2.0, 1.0], [-0.0], [math.nan], [math.inf], [-0.0, 0.0]])
    def test_impossible_levels_are_refused(self, bad: list[float]) -> None:
        with pytest.raises(ValueError, match="levels must be"):
            Levels(np.array(bad))

    @pytest.mark.parametrize("cell", [-1, 2, 2**50])
    def test_a_rank_that_there_is_not_is_refused(self, cell: int) -> None:
        with pytest.raises(FrameError):
            Levels(np.array([0.0, 1.0])).values(np.array([cell]), np.zeros(1, dtype=np.int64))


class TestLinearAndGeometric:
    @given(
        st.integers(1, 100),
        st.integers(1, 1000),
        st.integers(-(10**6), 10**6),
        st.booleans(),
        st.lists(st.integers(-(2**30), 2**30), min_size=1),
    )
    def test_linear_is_that_of_the_kernel(
        self, step: int, scale: int, offset: int, single: bool, counts: list[int]
    ) -> None:
        lattice = Linear(1, float(step), float(scale), float(offset), single)
        cells = np.array(counts)
        values = lattice.values(cells, np.zeros_like(cells))
        numbers = (np.array([x]) for x in (1.0, step, scale, offset))
        none = np.zeros(1, dtype=np.int64)
        group = new_group(*numbers, np.zeros((1, 32)), np.array([single]), none, none, 0, 2)
        assert values.tolist() == [value_of(group, 0, cell) for cell in counts]
        if not single:
            np.testing.assert_array_equal(np.rint(lattice.place(values).positions), cells)

    @given(DOUBLES)
    @example(EXTREMES)
    def test_linear_holds_numbers_in_reach_only(self, column: np.ndarray) -> None:
        placed = Linear(1, 1.0, 10.0, -3.0).place(column)
        with np.errstate(all="ignore"):
            assert (placed.held == (np.abs(column * 10.0 + 3.0) < 2.0**49)).all()

    @given(st.lists(st.floats(-1e300, 1e300), min_size=1).map(np.array), st.floats(1e-4, 0.5))
    def test_geometric_is_within_its_error(self, column: np.ndarray, error: float) -> None:
        lattice = Geometric(1e-6, (1.0 + error * (1.0 - 1e-9)) ** 2)
        values, held = back(lattice, column)
        assert (np.abs(values - column)[held] <= error * np.abs(column[held]) * (1.0 + 1e-6)).all()
        assert held[np.abs(column) >= 1e-6].all()
