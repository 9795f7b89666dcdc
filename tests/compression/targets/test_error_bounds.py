"""How far a decoded reading may be off."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression import Column, Lossless, MaxError, RelativeError, Schema
from orthostream.compression.targets.per_sensor import per_sensor

TWO, THREE = Schema.of(2).columns, Schema.of(3).columns


def test_one_bound_for_all_or_one_for_each() -> None:
    rows = np.array([[1.0, np.nan], [np.inf, -3.0]])
    np.testing.assert_array_equal(MaxError(0.5).bound(TWO).limits(rows), np.full((2, 2), 0.5))
    np.testing.assert_array_equal(MaxError([0.5, 2]).bound(TWO).limits(rows), [[0.5, 2.0], [0.5, 2.0]])
    np.testing.assert_array_equal(Lossless().bound(TWO).limits(rows), np.zeros((2, 2)))


def test_relative_limits_follow_the_reading() -> None:
    rows = np.array([[10.0, -10.0], [0.0, np.nan], [-np.inf, 1e308]])
    limits = RelativeError([0.5, 0.1]).bound(TWO).limits(rows)
    np.testing.assert_allclose(limits, [[5.0, 1.0], [0.0, 0.0], [0.0, 1e307]])


def test_types() -> None:
    names = ["float64", "float32", "Float32", "int8", "UInt16", "bool", "boolean", "Float64"]
    bound = MaxError(1).bound([Column(name, dtype=name) for name in names])
    assert bound.single.tolist() == [False, True, True, False, False, False, False, False]
    assert bound.whole.tolist() == [False, False, False, True, True, True, True, False]


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "abc", 1j, [1, 2], [[1, 2, 3]], [1, -2, 3], None])
def test_max_error_must_be_a_bound(value: object) -> None:
    with pytest.raises(ValueError, match="max_error"):
        MaxError(value).bound(THREE)


@pytest.mark.parametrize("value", [0, 1, -0.1, float("nan"), "abc", [0.1, 0.2], [0.1, 0.0, 0.1]])
def test_relative_error_must_be_a_fraction(value: object) -> None:
    with pytest.raises(ValueError, match="relative_error"):
        RelativeError(value).bound(THREE)


def test_messages_name_the_value() -> None:
    with pytest.raises(ValueError, match=r"max_error .* got -1\."):
        MaxError(-1)
    with pytest.raises(ValueError, match=r"depth .* got 'deep'\."):
        per_sensor("depth", "deep", 3)
    with pytest.raises(ValueError, match=r"depth must be one number or 3, .* got shape \(2,\)\."):
        per_sensor("depth", [1, 2], 3)
