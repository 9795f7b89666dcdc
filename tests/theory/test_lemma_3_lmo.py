"""Lemma 3: over the unit spectral ball <G, S> is smallest at S = UV', -G = U Sigma V': minus the nuclear norm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orthostream._typing import FloatArray
from orthostream.optimize import SpectralBall, polar

seeds = st.integers(0, 2**32 - 1)
extra_rows = st.integers(0, 4)
scales = st.sampled_from([1e-6, 1.0, 1e6])
# Zeros make the gradient rank-deficient, equal values make its singular vectors ambiguous.
singular_values = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]) | st.floats(1e-3, 1.0), min_size=1, max_size=6)


def inner(a: FloatArray, b: FloatArray) -> FloatArray:
    return (a * b).sum(axis=(-2, -1))


@given(singular_values, extra_rows, scales, seeds)
@settings(deadline=None, max_examples=100)
def test_the_minimum_is_minus_the_nuclear_norm(isometry, with_singular_values, values, extra, scale, seed):
    rng = np.random.default_rng(seed)
    gradient = scale * with_singular_values(rng, values, len(values) + extra)
    nuclear = scale * sum(values)
    s = SpectralBall().lmo(gradient)
    assert SpectralBall().contains(s)
    assert np.isclose(inner(gradient, s), -nuclear, rtol=1e-9, atol=1e-12 * scale)
    # Without the minus, as the paper prints it, it is the maximum: the value of the opposite point.
    assert np.isclose(inner(gradient, -s), nuclear, rtol=1e-9, atol=1e-12 * scale)
    assert nuclear == 0.0 or not np.isclose(inner(gradient, s), nuclear, atol=0.0)
    # No other point of the ball does better.
    others = isometry(rng, *gradient.shape, 200) * rng.random((200, 1, 1))
    assert (inner(gradient, others) >= -nuclear - 1e-12 * scale).all()


@given(st.lists(st.floats(1e-2, 1.0), min_size=1, max_size=6), extra_rows, seeds)
@settings(deadline=None, max_examples=50)
def test_of_a_gradient_of_full_rank_it_is_the_product_of_the_singular_vectors(
    with_singular_values, values, extra, seed
):
    gradient = with_singular_values(np.random.default_rng(seed), values, len(values) + extra)
    u, _, vt = np.linalg.svd(-gradient, full_matrices=False)
    assert np.allclose(SpectralBall().lmo(gradient), u @ vt, atol=1e-10)
    assert np.allclose(SpectralBall(3.0).lmo(gradient), 3.0 * u @ vt, atol=1e-10)


@given(singular_values, extra_rows, seeds)
@settings(deadline=None, max_examples=50)
def test_it_is_a_subgradient_of_the_nuclear_norm(with_singular_values, values, extra, seed):
    rng = np.random.default_rng(seed)
    gradient = with_singular_values(rng, values, len(values) + extra)
    s = SpectralBall().lmo(gradient)
    others = rng.standard_normal((50, *gradient.shape)) - gradient
    norms = np.linalg.norm(others, "nuc", axis=(-2, -1))
    assert (norms >= sum(values) + inner(s, others + gradient) - 1e-10).all()


@given(
    st.lists(st.floats(0.1, 1.0), min_size=1, max_size=3), st.integers(1, 3), extra_rows, st.sampled_from([1, 2]), seeds
)
@settings(deadline=None, max_examples=60)
def test_of_a_gradient_of_deficient_rank_the_oracle_takes_the_minimiser_nearest_to_the_point(
    isometry, with_singular_values, values, missing, extra, stack, seed
):
    rng = np.random.default_rng(seed)
    columns = len(values) + missing
    rows = columns + extra
    gradient = with_singular_values(rng, np.tile(values + [0.0] * missing, (stack, 1)), rows)
    x = isometry(rng, rows, columns, stack)
    ball = SpectralBall()
    s, _ = ball.oracle(gradient, x, ball.memory(x))
    assert np.allclose(s.mT @ s, np.eye(columns), atol=1e-10)
    assert np.allclose(inner(gradient, s), -sum(values))
    # The minimisers that are isometries: fixed on the row space of the gradient, free on its complement.
    u, _, vt = np.linalg.svd(gradient)
    rank = len(values)
    fixed = -u[..., :rank] @ vt[..., :rank, :]
    others = fixed + u[..., rank:] @ isometry(rng, rows - rank, missing, 50, stack) @ vt[..., rank:, :]
    assert np.allclose(inner(gradient, others), -sum(values))
    assert (inner(s - x, s - x) <= inner(others - x, others - x) + 1e-9).all()
    # Which is what a little of the point, added to the gradient, selects.
    limit = polar(-gradient + 1e-7 * x)[0]
    weakest = np.linalg.svd(u[..., rank:].mT @ x @ vt[..., rank:, :].mT)[1].min()
    assume(weakest > 1e-2)
    assert np.allclose(s, limit, atol=1e-3)


def test_of_a_gradient_of_deficient_rank_the_minimiser_is_not_unique():
    # The lemma writes "arg min =": with fewer samples than atoms the first gradients are such.
    gradient = np.diag([1.0, 0.0])
    one, other = np.diag([-1.0, 1.0]), np.diag([-1.0, -1.0])
    assert inner(gradient, one) == inner(gradient, other) == -np.linalg.norm(gradient, "nuc")
    ball = SpectralBall()
    for point in (one, other):
        assert np.allclose(ball.oracle(gradient, point, ball.memory(point))[0], point)


@pytest.mark.parametrize("shape", [(6, 6), (9, 4)])
def test_a_remembered_spectrum_changes_the_way_and_not_the_answer(with_singular_values, shape):
    rng = np.random.default_rng(0)
    ball = SpectralBall()
    gradients = with_singular_values(rng, rng.uniform(0.05, 1.0, (20, shape[1])), shape[0])
    x = polar(rng.standard_normal((20, *shape)))[0]
    expected = ball.lmo(gradients)
    memory = ball.memory(x)
    for _ in range(5):
        s, memory = ball.oracle(gradients, x, memory)
        assert np.allclose(s, expected, atol=1e-8)
        assert (memory > 0.0).all()  # from the second call on, matrix products do the work
        for k in range(20):
            assert np.allclose(ball.oracle(gradients[k], x[k], memory[k])[0], expected[k], atol=1e-8)
