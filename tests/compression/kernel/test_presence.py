"""Which readings there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream.compression.kernel.presence import code_presence, new_presence
from orthostream.compression.kernel.range_coder import CODER_SIZE, finish_encoding, start_decoding, start_encoding


def pack(masks: np.ndarray) -> np.ndarray:
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(2 * masks.size + 16, dtype=np.uint8)
    start_encoding(coder)
    presence = new_presence(masks.shape[1])
    for row in masks.astype(np.int64):
        code_presence(coder, buffer, presence, row)
    return buffer[: finish_encoding(coder, buffer)].copy()


def unpack(data: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_decoding(coder, data, len(data))
    presence = new_presence(shape[1])
    masks = np.zeros(shape, dtype=np.int64)
    for row in masks:
        code_presence(coder, data, presence, row)
    return masks


@settings(max_examples=100, deadline=None)
@given(arrays(bool, st.tuples(st.integers(1, 30), st.integers(1, 8))))
def test_masks_come_back(masks: np.ndarray) -> None:
    np.testing.assert_array_equal(unpack(pack(masks), masks.shape), masks)


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_what_does_not_change_costs_almost_nothing(share: float) -> None:
    masks = np.broadcast_to(np.random.default_rng(0).random(50) < share, (200, 50))
    assert len(pack(masks)) <= 40


def test_sensors_that_go_together_cost_less_than_apart() -> None:
    generator = np.random.default_rng(0)
    together = np.repeat(np.repeat(generator.random((100, 1)) < 0.3, 20, axis=1), 5, axis=0)
    apart = generator.permuted(together, axis=0)
    assert len(pack(together)) < 0.3 * len(pack(apart))
