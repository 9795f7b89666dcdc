"""Probabilities and their logits, in integers."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthostream.compression.kernel.logistic import (
    LARGEST_LOGIT,
    LOGIT,
    REHEARSING,
    SQUASH,
    code_known,
    log2_of,
    logit_of,
)
from orthostream.compression.kernel.range_coder import CODER_SIZE, MODE, TOTAL


def test_the_tables_are_those_of_the_format() -> None:
    """Other numbers here would be another format."""
    assert zlib.crc32(SQUASH.astype("<i8").tobytes()) == 1433716597
    assert zlib.crc32(LOGIT.astype("<i8").tobytes()) == 1808908490


def test_probabilities_grow_with_their_logits() -> None:
    assert (np.diff(SQUASH) >= 0).all()
    assert (np.diff(LOGIT) >= 0).all()
    assert SQUASH.min() >= 1
    assert SQUASH.max() <= TOTAL - 1


def test_both_halves_are_alike() -> None:
    """Up to the rounding down of each."""
    assert np.abs(SQUASH + SQUASH[::-1] - TOTAL).max() <= 1
    assert SQUASH[LARGEST_LOGIT] == TOTAL // 2
    assert LOGIT[TOTAL // 2] == 0


def test_the_tables_are_near_the_functions() -> None:
    logits = np.arange(-LARGEST_LOGIT, LARGEST_LOGIT + 1) / 256.0
    assert np.abs(SQUASH / TOTAL - 1.0 / (1.0 + np.exp(-logits))).max() < 1e-3
    p = np.arange(64, TOTAL - 64) / TOTAL
    assert np.abs(LOGIT[64:-64] / 256.0 - np.log(p / (1.0 - p))).max() < 0.05


@given(st.integers(1, TOTAL - 1))
def test_a_logit_leads_back_to_its_probability(p: int) -> None:
    logit = int(LOGIT[p])
    assert SQUASH[logit + LARGEST_LOGIT] >= min(p, int(SQUASH.max()))
    assert logit == -LARGEST_LOGIT or SQUASH[logit + LARGEST_LOGIT - 1] < p


@pytest.mark.parametrize(("share", "p"), [(-1.0, 1), (0.0, 1), (0.5, 32768), (1.0, 65535), (7.0, 65535)])
def test_logit_of(share: float, p: int) -> None:
    assert logit_of(share) == LOGIT[p]


@given(st.floats(1e-300, 1e300))
def test_the_logarithm(x: float) -> None:
    assert abs(log2_of(x) - math.log2(x)) < 0.01


@pytest.mark.parametrize("power", [-1000, -1, 0, 1, 52])
def test_the_logarithm_of_powers_of_two_is_exact(power: int) -> None:
    assert log2_of(2.0**power) == power


@pytest.mark.parametrize("bit", [0, 1])
def test_a_rehearsal_writes_nothing(bit: int) -> None:
    coder, buffer = np.zeros(CODER_SIZE, dtype=np.int64), np.zeros(4, dtype=np.uint8)
    coder[MODE] = REHEARSING
    before = coder.copy()
    assert code_known(coder, buffer, 5, bit) == bit
    np.testing.assert_array_equal(coder, before)
