"""The recovery error."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.metrics import recovery_error


def test_order_and_signs_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    truth = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    shuffled = truth[rng.permutation(6)] * rng.choice([-1, 1], (6, 1))
    assert recovery_error(shuffled, truth) == pytest.approx(0.0, abs=1e-14)
    assert recovery_error(shuffled[:2], truth) == pytest.approx(0.0, abs=1e-14)


def test_a_rotation_by_an_angle() -> None:
    for angle in (0.0, 1e-3, 0.4, np.pi / 4):
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        assert recovery_error(turn, np.eye(2)) == pytest.approx(0.5 * np.sin(2 * angle) ** 2)


def test_unequal_features() -> None:
    with pytest.raises(ValueError, match="cannot be compared"):
        recovery_error(np.eye(2), np.eye(3))
