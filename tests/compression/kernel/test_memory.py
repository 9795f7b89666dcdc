"""A longer memory of each sensor, and the accounts that say which way of coding pays."""

from __future__ import annotations

import numpy as np
from scipy import signal

from orthostream.compression.kernel.account import chosen_shape, compare, probability_alone, rehearses, shape_account
from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP, new_memory
from orthostream.compression.kernel.mixture import new_mixture
from orthostream.compression.kernel.student import FOUR, TEN

from .groups import encode, whole_group

RNG = np.random.default_rng(0)
#: Two resonances and a trend: six steps back tell much more than two.
AR6 = np.poly([*(0.97 * np.exp(1j * np.array([0.7, -0.7, 1.9, -1.9]))), 0.9, 0.5]).real


def spent(rows: np.ndarray, remembers: bool) -> tuple[int, bool]:
    """Return the bytes of some rows of a sensor, and whether its memory is used at the end."""
    group = whole_group(1)
    if not remembers:
        group = group._replace(memory=new_memory(0))
    data = encode(group, rows)[0]
    if not remembers:
        return len(data), False
    errors = group.memory.errors[0]
    return len(data), bool(errors[1] < 0.985 * errors[0] or errors[3] < 0.92 * errors[2])


def test_the_memory_pays_where_the_past_tells() -> None:
    rows = np.rint(50.0 * signal.lfilter([1.0], AR6, RNG.normal(size=1500)))[:, None]
    (with_it, used), (without, _) = spent(rows, True), spent(rows, False)
    assert used
    assert with_it < 0.93 * without


def test_the_memory_is_not_used_on_white_noise() -> None:
    rows = np.rint(50.0 * RNG.normal(size=(800, 1)))
    (with_it, used), (without, _) = spent(rows, True), spent(rows, False)
    assert not used
    assert with_it < 1.01 * without


def test_large_groups_have_no_memory() -> None:
    assert whole_group(LARGEST_SMALL_GROUP).memory.steps.shape[0] == LARGEST_SMALL_GROUP
    assert whole_group(LARGEST_SMALL_GROUP + 1).memory.steps.shape[0] == 0


class TestAccount:
    def test_the_mixture_is_used_for_a_switch(self) -> None:
        group = whole_group(1)
        encode(group, 37.0 * (np.cumsum(RNG.random((300, 1)) < 0.05, axis=0) % 2))
        assert group.mixture.mixes[0] == 1

    def test_the_mixture_is_not_used_for_noise(self) -> None:
        group = whole_group(1)
        group.mixture.mixes[0] = 1
        encode(group, np.rint(40.0 * RNG.normal(size=(500, 1))))
        assert group.mixture.mixes[0] == 0

    def test_the_mixture_must_lead_before_it_is_used(self) -> None:
        mixture = new_mixture(1)
        mixture.cost[0] = 1.0
        compare(mixture, 0, 1, 2.0**-4, False)
        assert mixture.mixes[0] == 0
        for _ in range(4):
            compare(mixture, 0, 1, 2.0**-4, False)
        assert mixture.mixes[0] == 1
        mixture.cost[0] = 9.0
        compare(mixture, 0, 1, 0.5, False)
        assert mixture.mixes[0] == 1
        compare(mixture, 0, 1, 0.5, False)
        compare(mixture, 0, 1, 0.5, False)
        assert mixture.mixes[0] == 0

    def test_probabilities_of_all_cells_add_up(self) -> None:
        for expected, scale, width in ((0.3, 0.5, 1.0), (17.2, 30.0, 5.0)):
            cells = np.arange(-400, 400) * int(width)
            if scale <= 1.5 * width:
                cells += round(expected)
            total = sum(probability_alone(expected, scale, width, int(cell), TEN) for cell in cells)
            assert abs(total - 1.0) < 1e-3

    def test_small_groups_always_rehearse(self) -> None:
        assert all(rehearses(0.0, t, LARGEST_SMALL_GROUP) for t in range(600))
        large = [t for t in range(1024) if rehearses(0.0, t, LARGEST_SMALL_GROUP + 1)]
        assert large == [16, 17, 528, 529]
        assert rehearses(0.5, 3, LARGEST_SMALL_GROUP + 1)

    def test_the_shape_waits_for_a_lead(self) -> None:
        assert chosen_shape(FOUR, 3.9) == FOUR
        assert chosen_shape(TEN, -3.9) == TEN
        assert chosen_shape(FOUR, 4.1) == TEN
        assert chosen_shape(TEN, -4.1) == FOUR

    def test_an_outlier_speaks_for_heavy_tails(self) -> None:
        assert shape_account(0.0, 9.5, 8.5, 1.0) < 0.0 < shape_account(0.0, 1.5, 0.5, 1.0)
