"""Signals that a bell curve does not fit: what repeats, switches or comes round costs next to nothing."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression.codecs.conditional.codec import ConditionalCodec
from orthostream.compression.codecs.conditional.lattices import Floats

from .crafted import bound_of

N = 1000


def signals() -> dict[str, tuple[np.ndarray, float]]:
    """Return signals, and the bits per reading that they may cost."""
    rng = np.random.default_rng(0)
    rain = np.where(rng.random(N) < 0.9, 0.0, np.round(rng.exponential(2.0, N), 1))
    return {
        "constant": (np.full(N, 21.7), 0.2),
        "switch": (37.0 * (np.cumsum(rng.random(N) < 0.02) % 2), 0.5),
        "periodic": (rng.integers(0, 200, 40)[np.arange(N) % 40] / 10.0, 1.3),
        "rain": (rain, 1.4),
        "levels": (rng.choice([0.0, 13.0, 250.0], N, p=[0.9, 0.05, 0.05]), 1.5),
    }


@pytest.mark.parametrize("name", signals())
def test_bits_per_reading(name: str) -> None:
    """And much less than without the mixture, in format version 1."""
    column, limit = signals()[name]
    sizes = {}
    for version in (1, 2):
        sender = ConditionalCodec(1, bound=bound_of(1), version=version)
        reader = ConditionalCodec(1, version=version)
        sizes[version] = 0
        for start in range(0, N, 100):
            part = column[start : start + 100, None]
            payloads = sender.encode(part)
            sizes[version] += sum(len(payload.body) for payload in payloads)
            back = np.concatenate([reader.decode(payload) for payload in payloads])
            np.testing.assert_array_equal(back, part)
    assert 8.0 * sizes[2] / N < limit
    assert sizes[2] < 0.9 * sizes[1]


def test_a_period_is_known_after_it_was_met() -> None:
    column = signals()["periodic"][0]
    sender = ConditionalCodec(1, bound=bound_of(1))
    sizes = [
        sum(len(payload.body) for payload in sender.encode(column[start : start + 100, None]))
        for start in range(0, N, 100)
    ]
    assert sizes[-1] <= 2 < 20 < sizes[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_come_back_to_the_bit(dtype: type) -> None:
    """Their low bits follow the cells as they are; those that cannot are sent as a whole."""
    rng = np.random.default_rng(1)
    rows = (20.0 + np.cumsum(rng.normal(size=(300, 2)), axis=0)).astype(dtype).astype(np.float64)
    rows[50] = [-0.0, 0.0]
    rows[51], rows[52], rows[53] = np.inf, 5e-324, -1.7e308
    rows[54] = 2.0 ** np.array([-200.0, 200.0])
    sender, reader = ConditionalCodec(2, bound=bound_of(2)), ConditionalCodec(2)
    for start in range(0, 300, 60):
        part = rows[start : start + 60]
        back = np.concatenate([reader.decode(payload) for payload in sender.encode(part)])
        assert back.tobytes() == part.tobytes()
        assert sender.digest == reader.digest
    assert all(isinstance(lattice, Floats) for lattice in reader.lattices)
    assert [lattice.precision for lattice in reader.lattices] == [24 if dtype is np.float32 else 53] * 2


def in_frames(column: np.ndarray, size: int, error: float = 0.0) -> list[int]:
    """Return the bytes of each frame of a column, decoded and compared on the way."""
    sender, reader = ConditionalCodec(1, bound=bound_of(1, error)), ConditionalCodec(1)
    sizes = []
    for start in range(0, len(column), size):
        part = column[start : start + size, None]
        payloads = sender.encode(part)
        back = np.concatenate([reader.decode(payload) for payload in payloads])
        assert np.abs(back - part).max() <= error
        sizes.append(sum(len(payload.body) for payload in payloads))
    return sizes


def test_after_a_jump_a_sensor_stays() -> None:
    """Memory that leaks, and is freed at once now and then; with jumps taken for movement it is 381 bytes."""
    rng = np.random.default_rng(2)
    steps = 0.004 + 0.03 * rng.normal(size=4000) - rng.uniform(2.0, 9.0, 4000) * (rng.random(4000) < 0.004)
    assert sum(in_frames(np.round(30.0 + np.cumsum(steps), 2), 500, 0.1)) < 350


def test_curves_wider_than_a_hundred_million_cells() -> None:
    """Steps of 0.15 in units of 1e-9: 27 bits, and two for the shape of the curve."""
    column = np.round(80.0 + np.cumsum(0.15 * np.random.default_rng(3).normal(size=2000)), 9)
    sizes = in_frames(column, 500)
    assert 8 * sum(sizes[1:]) / 1500 < 29.8


@pytest.mark.parametrize("error", [0.0, 0.05])
def test_a_table_that_is_looked_up(error: float) -> None:
    """Smooth curves that come again are met again, even if their cells could be centred on predictions."""
    turn = 2.0 * np.pi * np.arange(700) / 700
    column = np.tile(np.round(50.0 * np.sin(turn) + 10.0 * np.sin(3 * turn), 3), 6)
    sizes = in_frames(column, 2100, error)
    assert sizes[1] < 5
    assert sum(sizes) < 450


def test_long_runs_that_come_again() -> None:
    """What is followed is the programme, not the last run of equal values."""
    rng = np.random.default_rng(4)
    column = np.tile(np.repeat(rng.integers(0, 4, 100), 7), 6).astype(float)
    sizes = in_frames(column, 700)
    assert sizes[-1] <= 6 < 40 < sizes[0]


def test_lattices_do_not_change_where_nothing_is_paid() -> None:
    """Levels would cost more than all that is to come."""
    turn = 2.0 * np.pi * np.arange(350) / 350
    column = np.tile(np.round(50.0 * np.sin(turn) + 10.0 * np.sin(3 * turn), 3), 20)
    assert max(in_frames(column, 350)[2:]) < 10
