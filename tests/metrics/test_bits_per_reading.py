"""Bits per reading of a sparse code."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from orthostream.metrics import bits_per_reading


@pytest.mark.parametrize(("components", "nonzero"), [(4, 2), (7, 3), (5, 0), (5, 5), (9, 1)])
def test_positions_are_counted(components: int, nonzero: int) -> None:
    ways = len(list(combinations(range(components), nonzero)))
    expected = (np.log2(ways) + nonzero * 12) / 10
    assert bits_per_reading(10, nonzero, n_components=components, value_bits=12) == pytest.approx(expected)


def test_all_coefficients_cost_what_the_readings_cost() -> None:
    assert bits_per_reading(56, 56) == 16.0
    assert bits_per_reading(56, 0) == 0.0


@pytest.mark.parametrize("eta", [2, 8, 10, 17, 25, 35])
def test_the_ratio_of_the_paper_is_optimistic(eta: int) -> None:
    honest = 16.0 / bits_per_reading(56, eta)
    assert honest < 56 / eta
    assert np.diff([bits_per_reading(56, count) for count in (eta, eta + 1)])[0] > 0.0


def test_huge_dictionaries() -> None:
    assert bits_per_reading(100_000, 5_000) == pytest.approx((28_639 + 5_000 * 16) / 100_000, rel=0.01)


def test_numbers_of_numpy() -> None:
    assert bits_per_reading(np.int64(56), np.int32(2)) == bits_per_reading(56, 2)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_features": 0},
        {"n_features": 5.0},
        {"n_nonzero": 6},
        {"n_nonzero": -1},
        {"n_nonzero": 1.5},
        {"n_components": 0},
        {"n_components": 2},
        {"value_bits": 0},
        {"value_bits": np.inf},
        {"value_bits": np.nan},
    ],
)
def test_bad_parameters(parameters: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        bits_per_reading(**({"n_features": 5, "n_nonzero": 3} | parameters))
