"""Lattices that fit are told from those that only a search can judge."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression.codecs.conditional.lattices import Levels, Linear
from orthostream.compression.codecs.conditional.lattices.better import better_lattice
from orthostream.compression.codecs.conditional.lattices.settled import is_settled
from orthostream.compression.codecs.conditional.lattices.wanted import Wanted, widened

RNG = np.random.default_rng(3)
WALK = np.cumsum(RNG.integers(-5, 6, 400)).astype(float)
LOSSLESS = Wanted()


@pytest.mark.parametrize("error", [0.0, 0.05, 0.1, 0.2, 0.5])
def test_tenths_on_cells_of_any_width(error: float) -> None:
    wanted = Wanted(error)
    lattice = widened(Linear(1, 1.0, 10.0), wanted) if error else Linear(1, 1.0, 10.0)
    assert lattice is not None
    column = WALK / 10
    assert is_settled(lattice, column, wanted)
    assert better_lattice(lattice, column, wanted) is None
    assert is_settled(lattice, np.where(RNG.random(400) < 0.3, np.nan, column), wanted)


@pytest.mark.parametrize(
    "column",
    [2 * WALK, 3 * WALK + 1, WALK / 2, np.full(400, 7.0), WALK[:8], WALK + 1e-4, WALK * 1e40, np.full(400, np.nan)],
)
def test_what_only_a_search_can_judge(column: np.ndarray) -> None:
    for error in (0.0, 0.4):
        assert not is_settled(Linear(), column, Wanted(error))


def test_few_strays_do_not_hide_a_coarser_step() -> None:
    column = 2 * WALK
    column[::100] += 1
    assert not is_settled(Linear(), column, LOSSLESS)


def test_few_values_far_apart_may_be_levels() -> None:
    column = RNG.choice([0.0, 1.0, 500.0, 1009.0, 2001.0], 400)
    assert not is_settled(Linear(), column, LOSSLESS)
    assert is_settled(Linear(), column, Wanted(0.4))
    assert not is_settled(Levels.of(np.unique(column)), column, LOSSLESS)
