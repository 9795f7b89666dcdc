"""One sample after another: what both sides know stays the same on both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.kernel.group_state import CORRUPT, CURVE, HASH, SAMPLES, Group, value_of
from orthostream.compression.kernel.readings import CELL, MISSING, RAW
from orthostream.compression.kernel.student import FOUR, TEN

from .groups import assert_same_state, decode, encode, whole_group


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("period", [0, 3])
@pytest.mark.parametrize("width", [1.0, 3.0, 8.0])
def test_both_sides_end_in_the_same_state(period: int, width: float, version: int) -> None:
    generator = np.random.default_rng(0)
    rows = np.rint(np.cumsum(generator.normal(size=(60, 4)) * 5, axis=0))
    rows[generator.random(rows.shape) < 0.1] = np.nan
    rows[7, 2] = np.inf
    sender, receiver = (whole_group(4, width, period, version) for _ in range(2))
    for start in range(0, 60, 20):
        part = rows[start : start + 20].copy()
        data, kinds, cells = encode(sender, part, width / 2)
        found_kinds, found_cells, patterns = decode(receiver, data, part.shape)
        np.testing.assert_array_equal(found_kinds, kinds)
        np.testing.assert_array_equal(found_cells, cells)
        np.testing.assert_array_equal(patterns.view(np.float64)[kinds == RAW], part[kinds == RAW])
        assert np.all(np.abs(cells - part)[kinds == CELL] <= width / 2)
        assert_same_state(sender, receiver)
    assert sender.clock[SAMPLES] == 60


def test_the_hash_follows_every_number() -> None:
    hashes = set()
    for place in range(6):
        rows = np.zeros((3, 2))
        rows.flat[place] = 5.0
        group = whole_group(2)
        encode(group, rows)
        hashes.add(int(group.clock[HASH]))
    assert len(hashes) == 6


@pytest.mark.parametrize("version", [1, 2])
def test_a_reading_that_the_lattice_does_not_hold_is_sent_as_it_is(version: int) -> None:
    rows = np.array([[1.0], [2.25], [3.0]])
    data, kinds, _ = encode(whole_group(1, version=version), rows, 0.1)
    assert kinds.ravel().tolist() == [CELL, RAW, CELL]
    patterns = decode(whole_group(1, version=version), data, rows.shape)[2]
    assert patterns.view(np.float64)[1, 0] == 2.25


@pytest.mark.parametrize("reading", [0.0, 5.0, -3.0])
def test_value_of(reading: float) -> None:
    assert value_of(whole_group(1), 0, int(reading)) == reading


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(1, 5), st.sampled_from([1, 2]))
def test_any_bytes_can_be_read(data: bytes, n_sensors: int, version: int) -> None:
    group = whole_group(n_sensors, version=version)
    kinds, cells, _ = decode(group, np.frombuffer(data, dtype=np.uint8).copy(), (12, n_sensors))
    assert np.isin(kinds, [CELL, MISSING, RAW]).all()
    assert group.clock[CORRUPT] in (0, 1)
    assert np.abs(cells).max() <= 2**50


@pytest.mark.parametrize("n_sensors", [1, 30])
def test_a_sensor_may_be_gone_for_long(n_sensors: int) -> None:
    """What is expected drifts while readings are missing, but never so far that it cannot be coded."""
    rows = np.full((700, n_sensors), np.nan)
    rows[:40] = 2.0 ** np.minimum(np.arange(40), 36)[:, None]
    rows[-1] = -5.0
    sender, receiver = whole_group(n_sensors), whole_group(n_sensors)
    data, kinds, _ = encode(sender, rows)
    found_kinds, found_cells, patterns = decode(receiver, data, rows.shape)
    np.testing.assert_array_equal(found_kinds, kinds)
    decoded = np.where(kinds == RAW, patterns.view(np.float64), found_cells)
    np.testing.assert_array_equal(decoded[kinds != MISSING], rows[kinds != MISSING])
    assert_same_state(sender, receiver)


class TestShapes:
    """Four degrees of freedom for outliers, ten for what is nearly Gaussian."""

    @staticmethod
    def shape_after(errors: np.ndarray) -> int:
        group = whole_group(errors.shape[1])
        encode(group, np.rint(errors))
        return int(group.clock[CURVE])

    def test_light_tails(self) -> None:
        assert self.shape_after(20.0 * np.random.default_rng(0).normal(size=(600, 2))) == TEN

    def test_heavy_tails(self) -> None:
        assert self.shape_after(20.0 * np.random.default_rng(0).standard_t(2, size=(600, 2))) == FOUR

    def test_the_shape_follows(self) -> None:
        rng = np.random.default_rng(1)
        group = whole_group(2)
        encode(group, np.rint(20.0 * rng.normal(size=(600, 2))))
        encode(group, np.rint(20.0 * rng.standard_t(1.5, size=(600, 2))))
        assert group.clock[CURVE] == FOUR


@pytest.mark.parametrize("reading", [-4e10, 0.0, -1.6e12 - 3e11, -1.6e12 + 5.0])
def test_far_from_what_is_expected_readings_are_sent_as_they_are(reading: float) -> None:
    """The distance to what is expected must fit into an integer, also where cells do not move with it."""

    def far_out() -> Group:
        group = whole_group(1)
        group.seen[:] = 1000
        group.history[:] = group.mean[:] = -1.6e12
        group.variance[:] = 1e24
        group.spread[:] = 1e10
        group.mixture.mixes[:] = 1
        return group

    rows = np.array([[reading]])
    data, kinds, cells = encode(far_out(), rows)
    decoded_kinds, decoded_cells, patterns = decode(far_out(), data, (1, 1))
    assert decoded_kinds.tolist() == kinds.tolist()
    if kinds[0, 0] == RAW:
        assert patterns.view(np.float64).tolist() == rows.tolist()
    else:
        assert decoded_cells.tolist() == cells.tolist() == [[int(reading)]]
