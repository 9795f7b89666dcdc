"""What is known of a sensor goes along to its next lattice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression.codecs.conditional.lattices import Floats, Geometric, Levels, Linear, SensorLattice
from orthostream.compression.codecs.conditional.lattices.lattices import Lattices
from orthostream.compression.codecs.conditional.remap import remap
from orthostream.compression.kernel.group_state import Group, new_group, value_of


def group_on(lattice: SensorLattice, seen: int = 9) -> Group:
    lattices = Lattices([lattice] * 3)
    plain = lattices.plain
    numbers = (plain.width.astype(np.float64), plain.numerator, plain.denominator, plain.offset)
    group = new_group(*numbers, plain.powers(), plain.single.astype(np.int64), lattices.exact, lattices.precision, 0, 2)
    group.seen[:] = seen
    return group


@given(st.integers(-1000, 1000), st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from([1.0, 10.0, 4.0]))
def test_values_stay_what_they_are(cell: int, numerator: float, denominator: float) -> None:
    old, new = Linear(1, numerator, denominator, 3.0), Linear(1, 1.0, 100.0, -7.0)
    group = group_on(old)
    group.history[:] = group.mean[:] = cell
    group.mixture.ring[1, :] = group.mixture.mode[1] = cell
    before = value_of(group, 1, cell)
    remap(group, 1, old, new)
    moved = int(np.rint(group.history[0, 1]))
    assert value_of(group, 1, moved) == pytest.approx(before, abs=1e-9)
    assert group.mean[1] == group.history[0, 1]
    assert group.mixture.ring[1, 5] == group.mixture.mode[1] == moved
    assert group.spread[1] == pytest.approx(2.0 * numerator / denominator * 100.0)
    assert group.history[0, 0] == cell


def test_wider_cells() -> None:
    old, new = Linear(1, 1.0, 10.0), Linear(8, 1.0, 10.0)
    group = group_on(old)
    group.history[:] = group.mixture.ring[:] = 40
    remap(group, 0, old, new)
    assert group.history[0, 0] == 40.0
    assert group.mixture.ring[0, 0] == 5
    assert group.spread[0] == 2.0


@given(st.lists(st.integers(0, 100), min_size=1, unique=True), st.lists(st.integers(0, 100)), st.data())
def test_levels_keep_their_values(first: list[int], more: list[int], data: st.DataObject) -> None:
    old = Levels.of(np.array(first, dtype=float))
    new, ranks = old.merged(np.array(more, dtype=float))
    rank = data.draw(st.integers(0, len(first) - 1))
    group = group_on(old)
    group.history[:] = group.mean[:] = group.mixture.ring[:] = rank
    remap(group, 2, old, new)
    assert group.history[0, 2] == group.mean[2] == group.mixture.ring[2, 0] == ranks[rank]
    assert group.variance[2] >= 4.0


def test_positions_between_levels_stay_between_them() -> None:
    old, new = Levels(np.array([0.0, 10.0])), Levels(np.array([0.0, 1.0, 2.0, 10.0, 11.0]))
    group = group_on(old)
    group.history[:, 0] = [-1.0, 0.5, 1.0, 2.0]
    remap(group, 0, old, new)
    assert group.history[:, 0].tolist() == [-1.0, 1.5, 3.0, 4.0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Linear(), Floats(-3, 53)),
        (Floats(-3, 53), Levels(np.array([1.0, 2.0]))),
        (Levels(np.array([1.0, 2.0])), Levels(np.array([1.0, 3.0]))),
        (Linear(), Geometric(1e-6, 1.01)),
        (Linear(), Linear(3, 1e-200)),
    ],
)
def test_otherwise_a_sensor_is_as_new(old: SensorLattice, new: SensorLattice) -> None:
    group, fresh = group_on(old), group_on(new, seen=0)
    for part in (group.history, group.mean, group.covariance, group.memory.steps, group.mixture.ring):
        part[1] = 7
    group.history[:, 1] = 7.0
    remap(group, 1, old, new)
    assert group.seen[1] == 0
    for name in ("width", "numerator", "powers", "exact", "precision", "mean", "variance", "spread"):
        assert np.array_equal(getattr(group, name)[1], getattr(fresh, name)[1]), name
    assert not group.history[:, 1].any()
    assert group.covariance[1].tolist() == [0.0, 1.0, 0.0]
    assert not group.memory.steps[1].any() and not group.mixture.ring[1].any()
