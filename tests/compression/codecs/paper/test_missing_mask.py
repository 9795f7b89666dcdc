"""Masks of missing readings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream.compression.codecs.paper.missing_mask import pack_mask, unpack_mask
from orthostream.compression.errors import FrameError


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 9), st.data())
def test_round_trip(n_samples: int, n_sensors: int, data: st.DataObject) -> None:
    missing = data.draw(arrays(bool, (n_samples, n_sensors)))
    before = data.draw(arrays(bool, n_sensors))
    given_mask, given_before = missing.copy(), before.copy()
    packed = pack_mask(missing, before)
    assert (missing == given_mask).all() and (before == given_before).all()
    assert (unpack_mask(packed, n_samples, before) == missing).all()
    assert (before == given_before).all()


def test_what_does_not_change_costs_nothing() -> None:
    before = np.arange(50) % 3 == 0
    assert pack_mask(np.repeat(before[None], 24, axis=0), before) == b""
    one = np.repeat(before[None], 24, axis=0)
    one[7:, 20] ^= True
    assert 1 <= len(pack_mask(one, before)) <= 4


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_long_masks(share: float) -> None:
    missing = np.random.default_rng(0).random((60, 56)) < share
    before = np.zeros(56, dtype=bool)
    packed = pack_mask(missing, before)
    assert len(packed) <= 60 * 56 / 8 * 1.05
    assert (unpack_mask(packed, 60, before) == missing).all()


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40) | st.integers(0, 40).map(lambda size: b"\xff" * size))
def test_hostile_bytes(data: bytes) -> None:
    try:
        missing = unpack_mask(data, 20, np.zeros(7, dtype=bool))
    except FrameError:
        return
    assert missing.shape == (20, 7)
