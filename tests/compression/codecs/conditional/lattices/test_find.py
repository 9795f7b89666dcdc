"""The lattice that is found for readings of one kind and another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream.compression.codecs.conditional.lattices import Floats, Levels, Linear, SensorLattice
from orthostream.compression.codecs.conditional.lattices.better import better_lattice
from orthostream.compression.codecs.conditional.lattices.find import best_lattice, find_lattices
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted

RNG = np.random.default_rng(0)
WALK = np.cumsum(RNG.integers(-5, 6, 600))
LOSSLESS = Wanted()


def held(lattice: SensorLattice, column: np.ndarray) -> float:
    """Return the share of readings that come back to the bit."""
    placed = lattice.place(column)
    back = lattice.values(np.rint(placed.positions).astype(np.int64), placed.rests)
    return float(np.mean(placed.held & (back == column))) if column.size else 1.0


def float32(column: np.ndarray) -> np.ndarray:
    return column.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (WALK.astype(float), Linear()),
        (WALK / 10, Linear(1, 1.0, 10.0)),
        (WALK * 5.0, Linear(1, 5.0)),
        (WALK / 4, Linear(1, 1.0, 4.0)),
        ((WALK * 10 + 27315) / 100, Linear(1, 2.0, 20.0, 1.0)),
        (float32(WALK / 10), Linear(1, 1.0, 10.0, single=True)),
        (float32(WALK * 67 / 1000), Linear(1, 67.0, 1000.0, single=True)),
        (WALK * 2.0**60, Linear(1, 2.0**60)),
        (WALK * 512.0 + 2.0**60, Linear(1, 512.0, 1.0, 2.0**60 + 512.0 * np.bincount(WALK - WALK.min()).argmax())),
        (np.full(100, 20.0), Linear()),
        (np.array([20.5]), Linear(1, 1.0, 10.0)),
        (np.array([]), Linear()),
        (np.array([np.nan, np.inf]), Linear()),
    ],
)
def test_what_is_found(column: np.ndarray, expected: Linear) -> None:
    found = best_lattice(column, LOSSLESS)
    if column.size and abs(column[0]) > 2.0**59 and expected.numerator == 512.0:
        # The offset may be any reading.
        assert isinstance(found, Linear) and found.numerator == 512.0 and abs(found.offset - 2.0**60) < 2.0**20
        expected = found
    assert found == expected
    column = column[np.isfinite(column)]
    assert held(found, column) == 1.0


@pytest.mark.parametrize(
    ("column", "step"),
    [
        (WALK * (9.80665 / 16384), 9.80665 / 16384),
        (WALK * 9.80665 / 16384, 9.80665 / 16384),
        (WALK * 5.0 / 1023.0, 5.0 / 1023.0),
        (WALK * 3.3 / 4095.0, 3.3 / 4095.0),
        (WALK / 65.5, 1.0 / 65.5),
        (WALK * np.pi, np.pi),
        (float32(WALK * np.pi), np.pi),
        (float32(WALK * (9.80665 / 16384)), 9.80665 / 16384),
        (WALK[::3] * 7 * np.pi, 7 * np.pi),
    ],
)
def test_counts_times_a_constant(column: np.ndarray, step: float) -> None:
    found = best_lattice(column, LOSSLESS)
    assert isinstance(found, Linear)
    assert found.numerator / found.denominator == pytest.approx(step, rel=1e-6 if found.single else 1e-14)
    assert held(found, column) >= 0.98


def test_a_few_strays_do_not_speak_for_the_others() -> None:
    column = WALK / 10
    column[::50] += RNG.random(12)
    assert best_lattice(column, LOSSLESS) == Linear(1, 1.0, 10.0)
    column = (WALK * 10 + 27315) / 100
    column[::60] = 300.01
    assert best_lattice(column, LOSSLESS) == Linear(1, 2.0, 20.0, 1.0)
    column = WALK * (9.80665 / 16384)
    column[::60] = RNG.random(10)
    found = best_lattice(column, LOSSLESS)
    assert isinstance(found, Linear) and abs(found.numerator / found.denominator * 16384 / 9.80665 - 1.0) < 1e-12


def test_strays_that_are_many_make_it_finer() -> None:
    column = WALK.astype(float)
    column[::8] += 0.5
    assert best_lattice(column, LOSSLESS) == Linear(1, 1.0, 2.0)


def test_noise_is_floats() -> None:
    column = 20.0 + np.cumsum(RNG.standard_normal(600))
    found = best_lattice(column, LOSSLESS)
    assert isinstance(found, Floats) and found.precision == 53
    found = best_lattice(float32(column), LOSSLESS)
    assert isinstance(found, Floats) and found.precision == 24
    assert held(found, float32(column)) > 0.99


def test_a_few_odd_values_are_levels() -> None:
    found = best_lattice(RNG.choice(RNG.random(9), 600), LOSSLESS)
    assert isinstance(found, Levels) and len(found.levels) == 9


def test_means_of_a_few_whole_numbers_are_fractions() -> None:
    cars = RNG.integers(1, 12, 900)
    column = np.rint(cars * 60.0 + np.sqrt(cars) * RNG.normal(0.0, 4.0, 900)) / cars
    found = best_lattice(column, LOSSLESS)
    assert isinstance(found, Levels) and len(found.levels) > 2 * len(np.unique(column))
    assert held(found, column) == 1.0


def test_values_that_were_visited_once_are_no_levels() -> None:
    setpoints = np.repeat(RNG.integers(150, 250, 9) / 10, 50)
    assert best_lattice(setpoints, LOSSLESS) == Linear(1, 1.0, 10.0)


@pytest.mark.parametrize(
    ("error", "width", "size"), [(0.05, 1, 0.1), (0.1, 2, 0.2), (0.3, 6, 0.6), (0.0, 1, 0.1), (100.0, 8, 200.0)]
)
def test_cells_are_as_wide_as_the_error_allows(error: float, width: int, size: float) -> None:
    column = (WALK * 10 + 27315) / 100
    found = best_lattice(column, Wanted(error))
    assert isinstance(found, Linear) and found.width == width
    assert found.cell_size == pytest.approx(size)
    positions = found.place(column).positions
    cells = np.rint(positions[0]) + width * np.rint((positions - np.rint(positions[0])) / width)
    assert np.abs(found.values(cells.astype(np.int64), cells.astype(np.int64)) - column).max() <= error


def test_integers_stay_integers() -> None:
    for error in (0.0, 1.0, 2.5, 1e4):
        found = best_lattice(WALK * 5.0 + 2.0, Wanted(error, whole=True))
        assert isinstance(found, Linear)
        assert (found.values(np.arange(-50, 50), np.arange(100)) % 1.0 == 0.0).all()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=64), max_size=60).map(np.array), st.floats(0.0, 10.0), st.booleans(), st.booleans())
@example(np.array([5e-324, -5e-324, 1.7e308, -1.7e308, 0.0, -0.0, 1.0, 2.0] * 4), 0.0, False, False)
def test_any_column_has_a_lattice(column: np.ndarray, error: float, single: bool, twice: bool) -> None:
    with np.errstate(over="ignore", under="ignore"):
        column = float32(column) if single else column
    column = np.repeat(column, 3) if twice else column
    found = best_lattice(column, Wanted(error, single))
    placed = found.place(column)
    assert not placed.held[~np.isfinite(column)].any()
    better_lattice(Linear(), column, Wanted(error, single))


class TestSharing:
    def test_a_sensor_of_which_little_was_seen_is_as_its_neighbours(self) -> None:
        rows = np.stack([WALK[:100] / 10, WALK[100:200] / 10, np.full(100, np.nan), np.full(100, np.nan)], axis=1)
        rows[:5, 3] = 20.0
        assert find_lattices(rows, ["t"] * 4, [LOSSLESS] * 4) == [Linear(1, 1.0, 10.0)] * 4

    def test_labels_and_what_is_wanted_keep_sensors_apart(self) -> None:
        rows = np.stack([WALK / 10, WALK.astype(float), WALK / 10], axis=1)
        found = find_lattices(rows, ["t", "u", "t"], [LOSSLESS, LOSSLESS, Wanted(0.1)])
        assert found == [Linear(1, 1.0, 10.0), Linear(), Linear(2, 2.0, 20.0, 1.0)]

    def test_one_that_is_clearly_another_has_its_own(self) -> None:
        rows = np.stack([WALK / 10, WALK / 10 + 3.0, WALK * 0.00123], axis=1)
        assert find_lattices(rows, [""] * 3, [LOSSLESS] * 3)[2] == Linear(1, 0.00123)


class TestBetter:
    def test_finer_later(self) -> None:
        column = np.append(WALK[:400], WALK[400:] / 10)
        assert better_lattice(Linear(), column, LOSSLESS) == Linear(1, 1.0, 10.0)

    def test_no_change_where_all_is_well(self) -> None:
        assert better_lattice(Linear(1, 1.0, 10.0), WALK / 10, LOSSLESS) is None
        levels = Levels.of(RNG.random(9))
        assert better_lattice(levels, RNG.choice(levels.levels, 600), LOSSLESS) is None

    def test_a_change_pays_for_its_bytes(self) -> None:
        assert better_lattice(Linear(), np.array([1.0, 2.0, 2.5, 3.5, 3.0]), LOSSLESS) == Linear(1, 1.0, 2.0)
        few = np.round(RNG.random(3), 15)
        found = better_lattice(Floats(-10, 53), np.tile(few, 2), LOSSLESS)
        assert found is None
        assert isinstance(better_lattice(Floats(-10, 53), np.tile(few, 40), LOSSLESS), Levels)
