"""The relative RMSE, of all readings and of each time slot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.metrics import relative_rmse, slot_rmse


def pair(seed: int, shape: tuple[int, ...], missing: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    readings = rng.normal(5.0, 3.0, shape)
    estimates = readings + rng.normal(0.0, 0.4, shape)
    readings[rng.uniform(size=shape) < missing] = np.nan
    return readings, estimates


@given(seed=st.integers(0, 1000), rows=st.integers(2, 30), columns=st.integers(1, 5))
@settings(max_examples=50, deadline=None)
def test_is_the_root_of_two_sums(seed: int, rows: int, columns: int) -> None:
    readings, estimates = pair(seed, (rows, columns))
    readings[0, 0] = 2.0
    errors = total = 0.0
    for reading, estimate in zip(readings.ravel(), estimates.ravel(), strict=True):
        if not np.isnan(reading):
            errors += (reading - estimate) ** 2
            total += reading**2
    assert relative_rmse(readings, estimates) == pytest.approx((errors / total) ** 0.5, rel=1e-12)


@given(seed=st.integers(0, 1000), rows=st.integers(1, 40), slot_size=st.integers(1, 50))
@settings(max_examples=50, deadline=None)
def test_a_slot_is_a_relative_rmse(seed: int, rows: int, slot_size: int) -> None:
    readings, estimates = pair(seed, (rows, 3))
    slots = slot_rmse(readings, estimates, slot_size)
    assert slots.shape == (-(-rows // slot_size),)
    for number, value in enumerate(slots):
        part = slice(number * slot_size, (number + 1) * slot_size)
        if np.isnan(readings[part]).all():
            assert np.isnan(value)
        else:
            assert value == pytest.approx(relative_rmse(readings[part], estimates[part]), rel=1e-12)


def test_the_slots_of_the_paper() -> None:
    readings, estimates = pair(0, (4493, 56), missing=0.0)
    assert slot_rmse(readings, estimates, 6).shape == (749,)


def test_inputs_are_not_written_to() -> None:
    readings, estimates = pair(1, (7, 3))
    kept = readings.copy(), estimates.copy()
    relative_rmse(readings, estimates)
    slot_rmse(readings, estimates, 2)
    np.testing.assert_array_equal(readings, kept[0])
    np.testing.assert_array_equal(estimates, kept[1])


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e200])
def test_the_unit_does_not_matter(scale: float) -> None:
    readings, estimates = pair(2, (9, 4))
    assert relative_rmse(scale * readings, scale * estimates) == pytest.approx(relative_rmse(readings, estimates))
    np.testing.assert_allclose(
        slot_rmse(scale * readings, scale * estimates, 4), slot_rmse(readings, estimates, 4), rtol=1e-9
    )


def test_readings_of_zero() -> None:
    assert relative_rmse([0.0, 0.0], [0.0, 0.0]) == 0.0
    assert relative_rmse([0.0, 0.0], [0.0, 1.0]) == np.inf
    np.testing.assert_array_equal(slot_rmse([0.0, 0.0, 2.0], [0.0, 1.0, 2.0], 1), [0.0, np.inf, 0.0])


def test_estimates_where_nothing_was_read_do_not_matter() -> None:
    assert relative_rmse([3.0, np.nan, 4.0], [3.0, np.inf, 3.0]) == pytest.approx(0.2)
    assert relative_rmse([3.0, np.nan, 4.0], [3.0, np.nan, 3.0]) == pytest.approx(0.2)


def test_whole_numbers_and_single_precision() -> None:
    assert relative_rmse([3, 4], [3, 3]) == pytest.approx(0.2)
    assert relative_rmse(np.float32([3, 4]), np.float32([3, 3])) == pytest.approx(0.2)


@pytest.mark.parametrize("measure", [relative_rmse, lambda readings, estimates: slot_rmse(readings, estimates, 1)])
def test_bad_input(measure) -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        measure(np.ones((2, 3)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="readings holds an infinite"):
        measure([1.0, np.inf], [1.0, 1.0])
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="estimates holds a value that is not finite"):
            measure([1.0, 2.0], [1.0, wrong])
    with pytest.raises(ValueError, match="hold"):
        measure(np.ones((0, 3)), np.ones((0, 3)))


def test_nothing_read() -> None:
    with pytest.raises(ValueError, match="no reading"):
        relative_rmse([np.nan], [1.0])


@pytest.mark.parametrize("slot_size", [0, -1, 2.0, True])
def test_bad_slots(slot_size: float) -> None:
    with pytest.raises(ValueError, match="slot_size"):
        slot_rmse([1.0], [1.0], slot_size)
