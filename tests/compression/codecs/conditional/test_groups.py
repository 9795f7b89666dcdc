"""Which sensors are coded together."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression import Column, compress
from orthostream.compression.codecs.conditional.groups import groups_of, labels_of
from orthostream.compression.codecs.conditional.lattice import Lattice, linear_lattice
from orthostream.compression.codecs.conditional.resolution import Resolution


def lattice(errors: list[float]) -> Lattice:
    n = len(errors)
    return linear_lattice(np.array(errors), [Resolution(1, 10)] * n, np.zeros(n, dtype=bool), np.zeros(n, dtype=bool))


def walks(scales: list[float], levels: list[float], n_samples: int = 60) -> np.ndarray:
    steps = np.random.default_rng(0).standard_normal((n_samples, len(scales)))
    return np.round(levels + steps.cumsum(axis=0) * scales, 1)


def test_units_and_names_tell_quantities_apart() -> None:
    columns = [Column("a 1", "degC"), Column("a 2", "degC"), Column("a 3", "%"), Column("a 4", "%")]
    assert labels_of(columns) == ["degC/a", "degC/a", "%/a", "%/a"]


@pytest.mark.parametrize(
    ("scales", "levels", "errors", "expected"),
    [
        ([1, 1, 1, 1], [0, 1, 2, 3], [0.5] * 4, [0, 0, 0, 0]),
        ([1, 30, 1, 30], [0, 0, 0, 0], [0.5] * 4, [0, 1, 0, 1]),
        ([1, 1, 1, 1], [0, 0, 1e5, 1e5], [0.5] * 4, [0, 0, 1, 1]),
        ([1, 1, 1, 1], [0, 0, 0, 0], [0.5, 0.5, 2.0, 2.0], [0, 0, 1, 1]),
    ],
    ids=["alike", "other steps", "other levels", "other bounds"],
)
def test_readings_and_bounds_tell_them_apart(
    scales: list[float], levels: list[float], errors: list[float], expected: list[int]
) -> None:
    rows = walks(scales, levels)
    assert groups_of(rows, [""] * 4, lattice(errors), 160).tolist() == expected


def test_sensors_of_which_nothing_is_known_join_the_others() -> None:
    rows = walks([1, 1, 1, 30], [0, 0, 0, 0])
    rows[:, 0] = np.nan
    assert groups_of(rows, [""] * 4, lattice([0.5] * 4), 160).tolist() == [0, 0, 0, 1]


def test_groups_have_a_largest_size() -> None:
    groups = groups_of(walks([1] * 7, [0] * 7), [""] * 7, lattice([0.5] * 7), 3)
    assert np.bincount(groups).tolist() == [3, 3, 1]


def test_two_quantities_side_by_side_cost_what_they_cost_apart() -> None:
    shared = np.random.default_rng(1).standard_normal((600, 2)).cumsum(axis=0)
    noise = np.random.default_rng(2).standard_normal((600, 16))
    rows = np.round(np.repeat(shared, 8, axis=1) * np.repeat([1.0, 40.0], 8) + noise * np.repeat([0.3, 12.0], 8), 1)
    apart = len(compress(rows[:, :8], max_error=0.3)) + len(compress(rows[:, 8:], max_error=0.3))
    assert len(compress(rows, max_error=0.3)) < 1.02 * apart
