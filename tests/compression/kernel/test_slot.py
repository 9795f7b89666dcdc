"""One sample after another: what both sides know stays the same on both."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.kernel.range_coder import CODER_SIZE, finish_encoding, start_decoding, start_encoding
from orthostream.compression.kernel.slot import CELL, MISSING, RAW, code_samples
from orthostream.compression.kernel.slot_state import BROKEN, HASH, SAMPLES, Slot, new_slot, value_of


def whole_slot(n_sensors: int, width: float = 1.0, period: int = 0) -> Slot:
    """Return a slot whose lattices are the integers."""
    ones = np.ones(n_sensors)
    return new_slot(
        width * ones,
        ones.copy(),
        ones.copy(),
        0.0 * ones,
        np.zeros((n_sensors, 32)),
        np.zeros(n_sensors, dtype=np.int64),
        period,
    )


def encode(slot: Slot, rows: np.ndarray, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the bytes of some rows, and the kinds and cells that were coded."""
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(40 * rows.size + 64, dtype=np.uint8)
    start_encoding(coder)
    kinds = np.where(np.isnan(rows), MISSING, np.where(np.isinf(rows), RAW, CELL)).astype(np.int64)
    cells = np.zeros(rows.shape, dtype=np.int64)
    known = np.where(np.isfinite(rows), rows, 0.0)
    with np.errstate(all="ignore"):
        code_samples(
            coder, buffer, slot, kinds, cells, known, rows, np.full(rows.shape, limit), rows.view(np.int64).copy()
        )
    return buffer[: finish_encoding(coder, buffer)].copy(), kinds, cells


def decode(slot: Slot, data: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_decoding(coder, data, len(data))
    kinds, cells, patterns = (np.zeros(shape, dtype=np.int64) for _ in range(3))
    nothing = np.zeros(shape)
    with np.errstate(all="ignore"):
        code_samples(coder, data, slot, kinds, cells, nothing, nothing, nothing, patterns)
    return kinds, cells, patterns


def same_state(one: Slot, other: Slot) -> None:
    for name in Slot._fields:
        if name in ("presence", "spent"):
            continue
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for mine, yours in zip(one.presence, other.presence, strict=True):
        np.testing.assert_array_equal(mine, yours)


@pytest.mark.parametrize("period", [0, 3])
@pytest.mark.parametrize("width", [1.0, 3.0, 8.0])
def test_both_sides_end_in_the_same_state(period: int, width: float) -> None:
    generator = np.random.default_rng(0)
    rows = np.rint(np.cumsum(generator.normal(size=(60, 4)) * 5, axis=0))
    rows[generator.random(rows.shape) < 0.1] = np.nan
    rows[7, 2] = np.inf
    sender, receiver = whole_slot(4, width, period), whole_slot(4, width, period)
    for start in range(0, 60, 20):
        part = rows[start : start + 20].copy()
        data, kinds, cells = encode(sender, part, width / 2)
        found_kinds, found_cells, patterns = decode(receiver, data, part.shape)
        np.testing.assert_array_equal(found_kinds, kinds)
        np.testing.assert_array_equal(found_cells, cells)
        np.testing.assert_array_equal(patterns.view(np.float64)[kinds == RAW], part[kinds == RAW])
        assert np.all(np.abs(cells - part)[kinds == CELL] <= width / 2)
        same_state(sender, receiver)
    assert sender.clock[SAMPLES] == 60


def test_the_hash_follows_every_number() -> None:
    hashes = set()
    for place in range(6):
        rows = np.zeros((3, 2))
        rows.flat[place] = 5.0
        slot = whole_slot(2)
        encode(slot, rows, 0.0)
        hashes.add(int(slot.clock[HASH]))
    assert len(hashes) == 6


def test_a_reading_that_the_lattice_does_not_hold_is_sent_as_it_is() -> None:
    rows = np.array([[1.0], [2.25], [3.0]])
    data, kinds, _ = encode(whole_slot(1), rows, 0.1)
    assert kinds.ravel().tolist() == [CELL, RAW, CELL]
    patterns = decode(whole_slot(1), data, rows.shape)[2]
    assert patterns.view(np.float64)[1, 0] == 2.25


@pytest.mark.parametrize("reading", [0.0, 5.0, -3.0])
def test_value_of(reading: float) -> None:
    assert value_of(whole_slot(1), 0, int(reading)) == reading


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(1, 5))
def test_any_bytes_can_be_read(data: bytes, n_sensors: int) -> None:
    slot = whole_slot(n_sensors)
    kinds, cells, _ = decode(slot, np.frombuffer(data, dtype=np.uint8).copy(), (12, n_sensors))
    assert np.isin(kinds, [CELL, MISSING, RAW]).all()
    assert slot.clock[BROKEN] in (0, 1)
    assert np.abs(cells).max() <= 2**50
