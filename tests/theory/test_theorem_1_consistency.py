"""Theorem 1: over the orthogonal group and over the spectral ball, the sign-permutations of D_true are optimal."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream._typing import FloatArray
from orthostream.metrics import recovery_error
from orthostream.optimize import ConstantSchedule, LpContrast, SpectralBall, StochasticFrankWolfe

sizes = st.integers(2, 3)
thetas = st.floats(0.05, 0.95)
seeds = st.integers(0, 2**32 - 1)


def sign_permutations(size: int) -> FloatArray:
    """Return all 2^N N! of them, as a stack."""
    orders = np.eye(size)[list(permutations(range(size)))]
    signs = np.array(list(product([1.0, -1.0], repeat=size)))
    return (signs[:, None, :, None] * orders).reshape(-1, size, size)


@pytest.mark.parametrize("size", [2, 3])
def test_the_exact_expectation_is_that_of_the_contrast(expectation, isometry, with_singular_values, size):
    # The appendix draws g from CN(0, 1), whose third moment is 1.33; the constant it uses is that of a real g, 1.60.
    rng = np.random.default_rng(size)
    model = expectation(size, 0.3, isometry(rng, size, size))
    for point in (model.dictionary, with_singular_values(rng, rng.random(size), size)):
        samples = LpContrast(3).value(point, model.draw(rng, 200_000, 1))
        deviation = (samples.mean() - model.value(point)) / (samples.std() / len(samples) ** 0.5)
        assert abs(deviation) < 5.0
        step = 1e-6 * rng.standard_normal((size, size))
        slope = model.value(point + step) - model.value(point - step)
        assert np.isclose(slope, 2.0 * (model.gradient(point) * step).sum(), rtol=1e-6)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("theta", [0.1, 0.3, 0.7])
def test_every_sign_permutation_has_the_optimal_value(expectation, isometry, size, theta):
    model = expectation(size, theta, isometry(np.random.default_rng(0), size, size))
    stack = sign_permutations(size)
    assert len(np.unique(stack, axis=0)) == 2**size * [1, 1, 2, 6][size]
    assert np.allclose(model.value(model.dictionary @ stack.mT), model.optimum, rtol=1e-12)


@given(sizes, thetas, st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3), seeds)
@settings(deadline=None, max_examples=150)
def test_all_other_points_of_the_ball_are_worse(expectation, isometry, with_singular_values, size, theta, values, seed):
    # With q = ||w o b||^2 <= 1, q - q^(3/2) >= q (1 - q) / 2; E[q] and E[q^2] are known. The bound is zero only where
    # all columns have norm 1 and all rows of W one entry, so that the relaxed problem has *no* further minimisers.
    rng = np.random.default_rng(seed)
    model = expectation(size, theta, isometry(rng, size, size))
    for point in (with_singular_values(rng, values[:size], size), isometry(rng, size, size)):
        w = point.T @ model.dictionary
        squares, fourths = (w**2).sum(), (w**4).sum()
        excess = theta * (size - squares) + 0.5 * theta * (1.0 - theta) * (squares - fourths)
        assert model.value(point) - model.optimum >= model.third_moment * excess - 1e-12
    # On the group the bound is the recovery error itself.
    error = recovery_error(point.T, model.dictionary.T)
    assert np.isclose(excess, 0.5 * theta * (1.0 - theta) * size * error, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("theta", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("where", ["group", "ball"])
def test_local_optimisation_ends_at_a_sign_permutation(expectation, isometry, with_singular_values, size, theta, where):
    rng = np.random.default_rng(size)
    model = expectation(size, theta, isometry(rng, size, size))
    if where == "group":  # full steps go from one orthogonal matrix to the next
        starts, gamma = isometry(rng, size, size, 100), 1.0
    else:  # short ones stay within the ball, into which they start
        starts, gamma = with_singular_values(rng, 0.9 * rng.random((100, size)), size), 0.5
    solver = StochasticFrankWolfe(SpectralBall(), (model.value, model.gradient), ConstantSchedule(1.0, gamma))
    state = solver.init(starts)
    for _ in range(300):
        before = model.value(state.x)
        state = solver.step(state, None)
        # The objective is concave: no step can be too long. (The oracle is exact to 1e-9.)
        assert (model.value(state.x) <= before + 1e-8).all()
    assert np.allclose(model.value(state.x), model.optimum, rtol=1e-8)
    assert max(recovery_error(x.T, model.dictionary.T) for x in state.x) < 1e-8


@pytest.mark.parametrize("size", [2, 3])
def test_the_ball_has_no_minimisers_that_the_group_has_not(expectation, isometry, size):
    # The remark after the theorem has the relaxed problem gain minimisers, of deficient rank: the same atom twice. The
    # value of such a matrix is indeed the optimum, but its spectral norm is 2^(1/2), and it is not in the ball.
    model = expectation(size, 0.3, isometry(np.random.default_rng(1), size, size))
    twice = model.dictionary.copy()
    twice[:, 1] = twice[:, 0]
    assert np.isclose(model.value(twice), model.optimum)
    assert not SpectralBall().contains(twice)
    assert np.isclose(np.linalg.norm(twice, 2), 2.0**0.5)
    # Brought into the ball, it is worse than the optimum by far.
    assert model.value(SpectralBall().project(twice)) > 0.9 * model.optimum


@pytest.mark.parametrize("size", [2, 3])
def test_dense_codes_determine_nothing(expectation, isometry, size):
    # The theorem does not say that theta < 1, and needs it: a Gaussian vector looks the same in every basis.
    rng = np.random.default_rng(2)
    model = expectation(size, 1.0, isometry(rng, size, size))
    assert np.allclose(model.value(isometry(rng, size, size, 50)), model.optimum)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("theta", [0.1, 0.3, 0.7])
def test_remark_with_l1_the_relaxed_optimum_is_zero(expectation, isometry, size, theta):
    rng = np.random.default_rng(3)
    model = expectation(size, theta, isometry(rng, size, size))
    best = size * model.first_moment * theta
    assert np.allclose(model.l1(model.dictionary @ sign_permutations(size).mT), best)
    others = isometry(rng, size, size, 1000)
    errors = 1.0 - ((others.mT @ model.dictionary) ** 4).sum(axis=(-2, -1)) / size
    # The same sign-permutations win on the group; there q^(1/2) - q >= q (1 - q) / 2 gives the margin.
    assert (model.l1(others) - best >= 0.5 * model.first_moment * theta * (1.0 - theta) * size * errors - 1e-12).all()
    assert model.l1(np.zeros((size, size))) == 0.0
    assert (model.l1(0.5 * others) < model.l1(others)).all()
