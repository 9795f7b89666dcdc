"""Bits of a mixture: what was met before is expected, and both sides learn the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.compression.kernel.halving import code_mixed
from orthostream.compression.kernel.logistic import REHEARSING
from orthostream.compression.kernel.mixture import Mixture, mixed_bit, moved, new_mixture, slot_of
from orthostream.compression.kernel.range_coder import (
    CODER_SIZE,
    EVEN,
    MODE,
    finish_encoding,
    start_decoding,
    start_encoding,
)
from orthostream.compression.kernel.repeats import last_cell, take_cell

from .groups import assert_same_state


def writer(size: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_encoding(coder)
    return coder, np.zeros(size, dtype=np.uint8)


def mixed(bits: list[int], contexts: list[int]) -> float:
    """Return how many bits it takes to code bits, each in a context of its own and in one that says nothing."""
    mixture = new_mixture(1)
    coder, buffer = writer()
    for bit, context in zip(bits, contexts, strict=True):
        mixture.inputs[0] = 0
        mixture.places[1], mixture.places[2] = slot_of(mixture.slots, 1000 + context), -1
        assert mixed_bit(coder, buffer, mixture, 0, 3, bit) == bit
    return 8.0 * finish_encoding(coder, buffer)


def test_a_context_that_tells_the_bit_is_trusted() -> None:
    contexts = np.random.default_rng(0).integers(0, 2, 1000).tolist()
    assert mixed(contexts, contexts) < 150.0


def test_a_context_that_tells_nothing_costs_little() -> None:
    bits, contexts = np.random.default_rng(0).integers(0, 2, (2, 1000)).tolist()
    assert 990.0 < mixed(bits, contexts) < 1060.0


def test_a_slot_starts_anew_for_another_context() -> None:
    slots = new_mixture(1).slots
    place = slot_of(slots, 7)
    slots[place] = (slots[place] >> 30 << 30) | moved(EVEN, 1, 250)
    learnt = int(slots[place])
    assert slot_of(slots, 7) == place and slots[place] == learnt
    assert slot_of(slots, 7 + (1 << 16)) == place and slots[place] & 0x3FFFFFFF == EVEN


def code(mixture: Mixture, coder: np.ndarray, buffer: np.ndarray, cell: int, centre: float, scale: float) -> int:
    found = code_mixed(coder, buffer, mixture, 0, centre, scale, cell)
    take_cell(mixture, 0, found)
    return found


cells = st.integers(-(2**38), 2**38) | st.integers(-4, 4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(cells, st.floats(-1e6, 1e6), st.floats(0.02, 2.0**36)), min_size=1, max_size=12))
def test_cells_come_back(sent: list[tuple[int, float, float]]) -> None:
    sender, receiver = new_mixture(1), new_mixture(1)
    coder, buffer = writer()
    for cell, centre, scale in sent:
        assert code(sender, coder, buffer, cell, centre, scale) == cell
    data = buffer[: finish_encoding(coder, buffer)].copy()
    start_decoding(coder, data, len(data))
    for cell, centre, scale in sent:
        assert code(receiver, coder, data, 0, centre, scale) == cell
    assert_same_state(sender, receiver)


def test_a_rehearsal_learns_what_coding_teaches() -> None:
    """And knows what it would have cost."""
    coding, rehearsing = new_mixture(1), new_mixture(1)
    coder, buffer = writer()
    silent = np.zeros(CODER_SIZE, dtype=np.int64)
    silent[MODE] = REHEARSING
    cost = 0.0
    for cell in np.random.default_rng(0).integers(-3, 4, 100).tolist():
        code(coding, coder, buffer, cell, 0.0, 2.0)
        code(rehearsing, silent, buffer[:0], cell, 0.0, 2.0)
        cost += float(rehearsing.cost[0])
    assert_same_state(coding, rehearsing)
    assert abs(cost - 8.0 * finish_encoding(coder, buffer)) < 16.0


class TestRepeats:
    def test_the_last_cells_are_kept(self) -> None:
        mixture = new_mixture(1)
        assert [take_cell(mixture, 0, cell) for cell in (5, 5, 7)] == [0, 1, 0]
        assert [last_cell(mixture, 0, ago) for ago in (1, 2, 3)] == [7, 5, 5]

    def test_a_stretch_that_was_met_before_is_found(self) -> None:
        mixture = new_mixture(1)
        stretch = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]
        for cell in [*stretch, *stretch[:8]]:
            take_cell(mixture, 0, cell)
        assert mixture.length[0] >= 5
        assert mixture.ring[0, mixture.match[0]] == stretch[8]
        take_cell(mixture, 0, 77)
        assert mixture.match[0] == -1

    @pytest.mark.parametrize("share", [0.6, 0.9])
    def test_the_most_frequent_cell_is_known(self, share: float) -> None:
        mixture = new_mixture(1)
        rng = np.random.default_rng(0)
        for cell in np.where(rng.random(300) < share, 42, rng.integers(0, 1000, 300)).tolist():
            take_cell(mixture, 0, cell)
        assert mixture.mode[0] == 42

    def test_the_ring_comes_round(self) -> None:
        mixture = new_mixture(1)
        for cell in np.random.default_rng(0).integers(0, 3, mixture.ring.shape[1] + 50).tolist():
            take_cell(mixture, 0, cell)
        assert last_cell(mixture, 0, 1) == cell
