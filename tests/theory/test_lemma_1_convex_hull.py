"""Lemma 1: the convex hull of the orthogonal group is the closed unit spectral ball."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream._typing import FloatArray
from orthostream.optimize import SpectralBall

seeds = st.integers(0, 2**32 - 1)
extra_rows = st.integers(0, 3)  # the same holds for N x K matrices and orthonormal columns
singular_values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6)


def mixture_of_isometries(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weights and isometries whose weighted sum is x, a point of the ball.

    The singular values form a point of a cube, which is a convex combination of the cube's corners: each s_i is the
    mean of sign(s_i - level) over levels uniform in [-1, 1], and only K + 1 patterns of signs occur.
    """
    u, s, vt = np.linalg.svd(x, full_matrices=False)
    levels = np.concatenate([[-1.0], np.sort(np.minimum(s, 1.0)), [1.0]])
    signs = np.where(s >= levels[1:, None], 1.0, -1.0)
    return np.diff(levels) / 2.0, (u * signs[:, None, :]) @ vt


@given(singular_values, extra_rows, seeds)
@settings(deadline=None, max_examples=60)
def test_a_point_of_the_ball_is_a_convex_combination_of_isometries(with_singular_values, values, extra, seed):
    x = with_singular_values(np.random.default_rng(seed), values, len(values) + extra)
    assert SpectralBall().contains(x)
    weights, isometries = mixture_of_isometries(x)
    assert (weights >= 0.0).all()
    assert np.isclose(weights.sum(), 1.0)
    assert np.allclose(isometries.mT @ isometries, np.eye(len(values)), atol=1e-12)
    assert np.allclose(np.tensordot(weights, isometries, axes=1), x, atol=1e-12)


@given(st.integers(1, 6), extra_rows, st.integers(1, 8), seeds)
@settings(deadline=None, max_examples=60)
def test_a_convex_combination_of_isometries_is_in_the_ball(isometry, columns, extra, count, seed):
    rng = np.random.default_rng(seed)
    corners = isometry(rng, columns + extra, columns, count)
    mixture = np.tensordot(rng.dirichlet(np.full(count, 0.5)), corners, axes=1)
    assert SpectralBall().contains(mixture)
    # The ball is no larger than the hull: an isometry, stretched by anything at all, is not in it.
    assert not SpectralBall().contains(1.001 * corners[0])


@given(singular_values, st.floats(1.001, 10.0), extra_rows, seeds)
@settings(deadline=None, max_examples=60)
def test_a_point_outside_is_separated_from_the_hull(isometry, with_singular_values, values, largest, extra, seed):
    rng = np.random.default_rng(seed)
    x = with_singular_values(rng, [largest, *values], len(values) + 1 + extra)
    assert not SpectralBall().contains(x)
    u, _, vt = np.linalg.svd(x, full_matrices=False)
    normal = -np.outer(u[:, 0], vt[0])
    # A linear function is smallest on a hull at one of the corners, and the oracle knows which.
    smallest = float((normal * SpectralBall().lmo(normal)).sum())
    assert np.isclose(smallest, -1.0)
    assert (normal * isometry(rng, *x.shape, 100)).sum(axis=(-2, -1)).min() >= smallest - 1e-12
    assert float((normal * x).sum()) < smallest - 5e-4
