"""Lemma 2: the Frank-Wolfe gap is never negative on the set, and zero at stationary points and only there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream._typing import FloatArray
from orthostream.optimize import (
    Box,
    ConvexSet,
    L1Ball,
    L2Ball,
    LInfBall,
    NuclearBall,
    Simplex,
    SparsePCAObjective,
    SpectralBall,
    frank_wolfe_gap,
)
from set_table import CASES, Case, each_set

sets = st.sampled_from(list(CASES.values()))
seeds = st.integers(0, 2**32 - 1)


def inner(a: FloatArray, b: FloatArray) -> float:
    return float((a * b).sum())


def random_point(feasible: ConvexSet, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Return a convex combination of a few of the set's own vertices."""
    vertices = feasible.lmo(rng.standard_normal((4, *shape)))
    return np.tensordot(rng.dirichlet(np.full(4, 0.5)), vertices, axes=1)


@given(sets, seeds)
@settings(deadline=None, max_examples=100)
def test_the_gap_is_the_largest_descent_and_never_negative(case: Case, seed: int):
    feasible, shape = case.feasible, case.shape
    rng = np.random.default_rng(seed)
    x, gradient = random_point(feasible, shape, rng), rng.standard_normal(shape)
    gap = float(frank_wolfe_gap(feasible, x, gradient))
    assert gap >= -1e-12
    descents = [inner(-gradient, random_point(feasible, shape, rng) - x) for _ in range(100)]
    assert gap >= max(descents) - 1e-12


@given(sets, st.floats(0.1, 10.0), seeds)
@settings(deadline=None, max_examples=100)
def test_zero_at_the_nearest_point_and_nowhere_else(case: Case, scale: float, seed: int):
    # Half the squared distance to a target has one stationary point, the projection: code that never asks the oracle.
    feasible, shape = case.feasible, case.shape
    rng = np.random.default_rng(seed)
    target = scale * rng.standard_normal(shape)
    nearest = feasible.project(target)
    slack = 1e-10 * (1.0 + inner(target, target))
    assert abs(float(frank_wolfe_gap(feasible, nearest, nearest - target))) <= slack
    for _ in range(20):
        other = random_point(feasible, shape, rng)
        gap = float(frank_wolfe_gap(feasible, other, other - target))
        excess = 0.5 * (inner(other - target, other - target) - inner(nearest - target, nearest - target))
        assert gap >= excess - slack
        assert excess >= 0.5 * inner(other - nearest, other - nearest) - slack


@given(sets, st.floats(1e-6, 1.0), seeds)
@settings(deadline=None, max_examples=100)
def test_a_vertex_is_stationary_and_the_way_to_the_opposite_vertex_is_not(case: Case, fraction: float, seed: int):
    feasible, shape = case.feasible, case.shape
    gradient = np.random.default_rng(seed).standard_normal(shape)
    best, worst = feasible.lmo(gradient), feasible.lmo(-gradient)
    width = inner(gradient, worst - best)
    assert width > 0.0
    assert abs(float(frank_wolfe_gap(feasible, best, gradient))) <= 1e-12 * width
    moved = (1.0 - fraction) * best + fraction * worst
    assert np.isclose(float(frank_wolfe_gap(feasible, moved, gradient)), fraction * width, rtol=1e-6)


# Stationary points that are no vertices: the linear function is constant on a face of the set, and the point is in it.
# Each function returns the set, the gradient, a random point of the face, and a point of the set off the face.

Face = tuple[ConvexSet, FloatArray, FloatArray, FloatArray]


def face_of_l1_ball(rng: np.random.Generator) -> Face:
    first, second, third = rng.dirichlet(np.ones(3))
    on, off = np.array([-first, second, 0.0, -third]), np.array([0.0, 0.0, 1.0, 0.0])
    return L1Ball(), np.array([3.0, -3.0, 1.0, 3.0]), on, off


def face_of_simplex(rng: np.random.Generator) -> Face:
    share = rng.random()
    return Simplex(), np.array([-1.0, 2.0, -1.0]), np.array([share, 0.0, 1.0 - share]), np.array([0.0, 1.0, 0.0])


def face_of_box(rng: np.random.Generator) -> Face:
    free = rng.uniform(-1.0, 2.0)
    return Box(-1.0, 2.0), np.array([1.0, 0.0, -1.0]), np.array([-1.0, free, 2.0]), np.array([1.0, free, 2.0])


def face_of_linf_ball(rng: np.random.Generator) -> Face:
    free = rng.uniform(-1.0, 1.0)
    return LInfBall(), np.array([1.0, 0.0, -1.0]), np.array([-1.0, free, 1.0]), np.array([0.0, free, 1.0])


def face_of_spectral_ball(rng: np.random.Generator) -> Face:
    # A gradient of rank one fixes one singular pair of the point; any contraction will do in the complement.
    rest = SpectralBall().project(rng.standard_normal((2, 2)))
    on, off = np.zeros((3, 3)), np.zeros((3, 3))
    on[0, 0], on[1:, 1:], off[1:, 1:] = -1.0, rest, rest
    return SpectralBall(), np.diag([2.0, 0.0, 0.0]), on, off


def face_of_nuclear_ball(rng: np.random.Generator) -> Face:
    share = rng.random()
    return NuclearBall(), np.diag([2.0, 2.0, 1.0]), np.diag([-share, share - 1.0, 0.0]), np.diag([0.0, 0.0, -1.0])


@pytest.mark.parametrize(
    "face",
    [face_of_l1_ball, face_of_simplex, face_of_box, face_of_linf_ball, face_of_spectral_ball, face_of_nuclear_ball],
)
def test_all_of_a_face_is_stationary_and_nothing_off_it(face: Callable[[np.random.Generator], Face]):
    rng = np.random.default_rng(0)
    for _ in range(20):
        feasible, gradient, on, off = face(rng)
        assert feasible.contains(on)
        assert feasible.contains(off)
        assert abs(float(frank_wolfe_gap(feasible, on, gradient))) < 1e-12
        for fraction in (1e-6, 1e-3, 1.0):
            near = (1.0 - fraction) * on + fraction * off
            expected = fraction * inner(gradient, off - on)
            assert expected > 0.0
            assert np.isclose(float(frank_wolfe_gap(feasible, near, gradient)), expected, rtol=1e-6)


@each_set
def test_where_the_gradient_vanishes_every_point_is_stationary(case: Case):
    rng = np.random.default_rng(0)
    for _ in range(10):
        point = random_point(case.feasible, case.shape, rng)
        assert float(frank_wolfe_gap(case.feasible, point, np.zeros(case.shape))) == 0.0


def test_dictionaries_stationary_and_not(expectation, isometry):
    rng = np.random.default_rng(0)
    model, ball = expectation(3, 0.3, isometry(rng, 3, 3)), SpectralBall()

    def gap(x: FloatArray) -> float:
        return float(frank_wolfe_gap(ball, x, model.gradient(x)))

    assert abs(gap(model.dictionary[:, [2, 0, 1]] * [1.0, -1.0, 1.0])) < 1e-12
    assert gap(np.zeros((3, 3))) == 0.0  # stationary, and the worst of all points: the gap certifies no more
    for _ in range(20):
        x = random_point(ball, (3, 3), rng)
        direction = ball.lmo(model.gradient(x)) - x
        step = 1e-6
        slope = float(model.value(x + step * direction) - model.value(x - step * direction)) / (2.0 * step)
        assert gap(x) > 1e-6
        assert np.isclose(slope, -gap(x), rtol=1e-5)


def test_sparse_components_stationary_and_not():
    # With a covariance diag(9, 1, 1) both axes e_1 and e_2 are stationary in the ball; e_1 alone is the minimiser.
    objective, ball, samples = SparsePCAObjective(1.0, 0.2), L2Ball(), np.diag([27.0, 3.0, 3.0]) ** 0.5
    for axis in np.eye(3)[:2]:
        assert abs(float(frank_wolfe_gap(ball, axis, objective.gradient(axis, samples)))) < 1e-12
        tilted = axis + 0.01
        tilted /= np.linalg.norm(tilted)
        assert float(frank_wolfe_gap(ball, tilted, objective.gradient(tilted, samples))) > 1e-4


def test_outside_of_the_set_the_gap_means_nothing():
    # The lemma needs the point to be feasible.
    gradient = np.array([3.0, 4.0])
    assert np.isclose(float(frank_wolfe_gap(L2Ball(), 2.0 * L2Ball().lmo(gradient), gradient)), -5.0)
