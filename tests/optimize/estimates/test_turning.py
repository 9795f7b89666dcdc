"""Pairs of atoms that always occur together, and the comparison of spike and slab with Laplacians."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.optimize import HandOver, PolarStep, SpectralBall, StochasticFrankWolfe
from orthostream.optimize.estimates.hand_over.layout import ADVANTAGE, PHASE
from orthostream.optimize.estimates.hand_over.turning import always_together, turn_pairs

GATES, TOGETHER = np.full(3, 0.3), np.array([[0.3, 0.3, 0.09], [0.3, 0.3, 0.09], [0.09, 0.09, 0.3]])


def test_only_pairs_that_always_occur_together_are_turned() -> None:
    assert always_together(GATES, TOGETHER, 0, 1)
    assert not always_together(GATES, TOGETHER, 0, 2)
    gradient = np.random.default_rng(0).standard_normal((4, 3))
    turned = gradient.copy()
    turn_pairs(turned, GATES, TOGETHER, np.array([[1.0, 0.2, 0.5], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), 1.0)
    np.testing.assert_array_equal(turned[:, 2], gradient[:, 2])
    assert np.abs(turned - gradient)[:, :2].max() > 0.01
    np.testing.assert_allclose(turned @ turned.T, gradient @ gradient.T, atol=1e-12)


def test_the_angle_is_that_of_the_polar_factor() -> None:
    force = np.array([[1.0, 0.3], [-0.1, 0.8]])
    columns = -force.copy()
    turn_pairs(columns, GATES[:2], TOGETHER[:2, :2], force, 1.0)
    left, _, right = np.linalg.svd(force)
    np.testing.assert_allclose(columns, -force @ (left @ right), atol=1e-12)


@pytest.mark.parametrize("sparse", [True, False])
def test_samples_of_unequal_length_are_not_taken_for_sparse_codes(sparse: bool) -> None:
    """Normal codes of unequal energy times a length for each sample look like spike and slab without a closer look."""
    rng = np.random.default_rng(1)
    solver = StochasticFrankWolfe(SpectralBall(), HandOver(), post_step=PolarStep())
    state = solver.init(np.linalg.qr(rng.standard_normal((12, 12)))[0])
    for _ in range(400):
        codes = rng.standard_normal((12, 12)) * np.geomspace(1.0, 0.05, 12)
        if sparse:
            codes = rng.standard_normal((12, 12)) * (rng.random((12, 12)) < 0.3)
        state = solver.step(state, codes * np.exp(2.0 * rng.standard_normal((12, 1))))
    assert (state.memory["numbers"][ADVANTAGE] > 0.0) == sparse
    assert (state.memory["numbers"][PHASE] == 1.0) == sparse
