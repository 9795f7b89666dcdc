"""The contract of a convex set, kept by every one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream._typing import FloatArray
from orthostream.optimize import Box, ConvexSet, SpectralBall, check_set, sets
from set_table import CASES, LOWER, ONE_OF_EACH, UPPER, Case, Rng, each_set, each_shape

SIZES = {"radius", "total"}


def dot(a: FloatArray, b: FloatArray) -> float:
    return float((a * b).sum())


def frozen(a: FloatArray) -> FloatArray:
    copy = np.array(a)
    copy.setflags(write=False)
    return copy


def test_the_table_holds_every_set() -> None:
    exported = {name for name in sets.__all__ if name != "ConvexSet"}
    assert {type(case.feasible).__name__ for case in CASES.values()} == exported
    assert all(issubclass(getattr(sets, name), ConvexSet) for name in exported)


@each_shape
def test_keeps_the_published_contract(case: Case, shape: tuple[int, ...]) -> None:
    check_set(case.feasible, shape)


@each_shape
def test_oracle_beats_a_thousand_random_points(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    points = case.sample(rng, 1000, shape)
    assert case.feasible.contains(points)
    for _ in range(5):
        gradient = rng.standard_normal(shape)
        best = case.feasible.lmo(gradient)
        assert best.shape == shape
        assert case.feasible.contains(best)
        values = (points * gradient).reshape(1000, -1).sum(axis=1)
        slack = 1e-9 * np.abs(values).max()
        assert dot(gradient, best) <= values.min() + slack
        assert dot(gradient, best) == pytest.approx(case.least(gradient), rel=1e-9)


@each_shape
def test_oracle_minimises_and_does_not_maximise(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    gradient = rng.standard_normal(shape)
    lowest, highest = case.feasible.lmo(gradient), case.feasible.lmo(-gradient)
    width = case.feasible.diameter(shape)
    assert dot(gradient, lowest) < dot(gradient, highest) or width == 0.0
    assert dot(gradient, highest) == pytest.approx(-case.least(-gradient), rel=1e-9)


@each_shape
@pytest.mark.parametrize("scale", [1e-250, 1e-150, 1e150, 1e250])
def test_oracle_is_blind_to_the_scale_of_the_gradient(
    case: Case, shape: tuple[int, ...], scale: float, rng: Rng
) -> None:
    gradient = rng.standard_normal(shape)
    expected = case.feasible.lmo(gradient)
    np.testing.assert_allclose(case.feasible.lmo(gradient * scale), expected, atol=1e-9)
    for stack in ((), (3,)):  # with and without something to remember
        gradients = np.broadcast_to(gradient * scale, (*stack, *shape))
        for memory in (0.0, 0.05):
            vertex, _ = case.feasible.oracle(gradients, np.zeros((*stack, *shape)), np.full(stack, memory))
            np.testing.assert_allclose(vertex, np.broadcast_to(expected, vertex.shape), atol=1e-8)


@each_shape
@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_oracle_is_blind_to_the_scale_of_single_precision(
    case: Case, shape: tuple[int, ...], scale: float, rng: Rng
) -> None:
    gradient = rng.standard_normal(shape).astype(np.float32)
    expected = case.feasible.lmo(gradient)
    for stack in ((), (3,)):
        gradients = np.broadcast_to(gradient * np.float32(scale), (*stack, *shape))
        start = np.zeros((*stack, *shape), dtype=np.float32)
        vertex, _ = case.feasible.oracle(gradients, start, np.full(stack, 0.05))
        np.testing.assert_allclose(vertex, np.broadcast_to(expected, vertex.shape), atol=1e-4)


@each_shape
def test_zero_gradient_gives_a_feasible_point(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    zero = np.zeros(shape)
    current = case.sample(rng, 1, shape)[0]
    for point in (case.feasible.lmo(zero), case.feasible.oracle(zero, current, case.feasible.memory(current))[0]):
        assert point.shape == shape
        assert np.isfinite(point).all()
        assert case.feasible.contains(point)


@each_shape
def test_inputs_are_left_alone(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    gradients, points = rng.standard_normal((3, *shape)), case.sample(rng, 3, shape)
    kept, stayed = gradients.copy(), points.copy()
    memory = case.feasible.memory(points)
    expected = case.feasible.lmo(frozen(gradients))
    vertex, _ = case.feasible.oracle(frozen(gradients), frozen(points), frozen(memory))
    np.testing.assert_allclose(vertex, expected, atol=1e-8)
    case.feasible.project(frozen(3.0 * gradients))
    for answer in (case.feasible.lmo(gradients), case.feasible.oracle(gradients, points, memory)[0]):
        answer[...] = 7.0  # the caller owns the answer: neither the inputs nor the set may share its memory
    projected = case.feasible.project(points)
    np.testing.assert_array_equal(gradients, kept)
    np.testing.assert_array_equal(points, stayed)
    np.testing.assert_allclose(projected, stayed, atol=1e-9)
    np.testing.assert_array_equal(case.feasible.lmo(gradients), expected)


@each_set
def test_single_precision_stays_single(case: Case, rng: Rng) -> None:
    for shape in case.shapes:
        gradient = rng.standard_normal(shape)
        vertex = case.feasible.lmo(gradient.astype(np.float32))
        assert vertex.dtype == np.float32
        np.testing.assert_allclose(vertex, case.feasible.lmo(gradient), atol=2e-4 * (1.0 + np.abs(vertex).max()))


@each_set
def test_projection_of_single_precision_stays_single(case: Case, rng: Rng) -> None:
    for shape in case.shapes:
        outside = 3.0 * rng.standard_normal(shape)
        nearest = case.feasible.project(outside.astype(np.float32))
        assert nearest.dtype == np.float32
        np.testing.assert_allclose(nearest, case.feasible.project(outside), atol=1e-4)


@each_set
def test_whole_numbers_do_not_truncate_the_answer(case: Case) -> None:
    gradient = np.array([3, -1, -4, 2, 7, -5, 6, -8, 9, 1, -2, 5])[: np.prod(case.shape)].reshape(case.shape)
    expected = case.feasible.lmo(gradient.astype(float))
    try:
        vertex = case.feasible.lmo(gradient)
    except (TypeError, ValueError):
        return  # a set may also refuse integers
    np.testing.assert_allclose(vertex, expected, atol=1e-12)


@each_shape
def test_stacks_equal_a_loop(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    stack = 2.0 * rng.standard_normal((2, 3, *shape))
    for function in (case.feasible.lmo, case.feasible.project):
        loop = np.stack([[function(one) for one in row] for row in stack])
        np.testing.assert_allclose(function(stack), loop, atol=1e-9)
    points = case.sample(rng, 6, shape).reshape(2, 3, *shape)
    memory = case.feasible.memory(points)
    assert memory.shape == (2, 3)
    vertices, memory = case.feasible.oracle(stack, points, memory)
    assert memory.shape == (2, 3)
    np.testing.assert_allclose(vertices, case.feasible.lmo(stack), atol=1e-8)
    again, _ = case.feasible.oracle(stack, points, memory)  # now with what it remembers
    np.testing.assert_allclose(again, vertices, atol=1e-8)


@each_shape
def test_one_stray_point_makes_a_stack_infeasible(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    points = case.sample(rng, 6, shape).reshape(2, 3, *shape)
    assert case.feasible.contains(points)
    gradient = rng.standard_normal(shape)
    # No point of the set has a smaller <gradient, s> than the oracle's.
    points[1, 2] = case.feasible.lmo(gradient) - 0.01 * gradient / np.linalg.norm(gradient)
    assert not case.feasible.contains(points)
    assert not case.feasible.contains(points[1, 2])


@each_shape
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_no_number_lies_in_no_set(case: Case, shape: tuple[int, ...], value: float, rng: Rng) -> None:
    points = case.sample(rng, 3, shape)
    points[1].flat[-1] = value
    with np.errstate(invalid="ignore"):
        assert not case.feasible.contains(points)
        assert not case.feasible.contains(points[1])


@each_shape
def test_diameter_is_the_largest_distance(case: Case, shape: tuple[int, ...], rng: Rng) -> None:
    difference = np.zeros(shape)
    difference.flat[0], difference.flat[-1] = 1.0, -1.0
    opposite = [
        float(np.linalg.norm(case.feasible.lmo(g) - case.feasible.lmo(-g)))
        for g in (np.ones(shape), difference, rng.standard_normal(shape))
    ]
    assert case.feasible.diameter(shape) == pytest.approx(max(opposite), abs=1e-9)
    assert case.feasible.diameter((2, 3, *shape)) == case.feasible.diameter(shape)


@each_shape
@pytest.mark.parametrize("scale", [1e-150, 0.1, 1.0, 30.0, 1e10, 1e150])
def test_projection_is_the_nearest_point(case: Case, shape: tuple[int, ...], scale: float, rng: Rng) -> None:
    for _ in range(5):
        outside = scale * rng.standard_normal(shape)
        assert_is_projection(case.feasible, outside, case.feasible.project(outside))


def assert_is_projection(feasible: Any, outside: FloatArray, nearest: FloatArray) -> None:
    """Check <outside - nearest, s - nearest> <= 0 for all s of the set, which characterises the nearest point."""
    assert feasible.contains(nearest)
    normal = outside - nearest
    length = float(np.abs(normal).max())
    if length > 1e-12 * np.abs(outside).max():  # anything less is the rounding of a point that was inside
        normal = normal / length
        size = feasible.diameter(outside.shape)
        assert dot(normal, feasible.lmo(-normal) - nearest) <= 1e-7 * max(size, 1e-2)


entries = st.one_of(st.just(0.0), st.floats(1e-6, 100.0), st.floats(-100.0, -1e-6))


@settings(deadline=None, max_examples=60)
@given(data=st.data(), name=st.sampled_from(list(CASES)))
def test_oracle_and_projection_of_any_gradient(data: st.DataObject, name: str) -> None:
    case = CASES[name]
    shape = data.draw(st.sampled_from(case.shapes[:3]))
    gradient = data.draw(arrays(np.float64, shape, elements=entries))
    best = case.feasible.lmo(gradient)
    assert case.feasible.contains(best)
    assert dot(gradient, best) == pytest.approx(case.least(gradient), rel=1e-9, abs=1e-12)
    assert_is_projection(case.feasible, gradient, case.feasible.project(gradient))


@each_set
def test_points_of_too_few_axes_are_refused(case: Case) -> None:
    with pytest.raises(ValueError, match=type(case.feasible).__name__):
        case.feasible.check_shape(())
    if case.feasible.core_ndim == 2:
        with pytest.raises(ValueError, match=rf"{type(case.feasible).__name__} holds matrices.*\(4,\)"):
            case.feasible.check_shape((4,))
    for shape in case.shapes:
        case.feasible.check_shape(shape)
        case.feasible.check_shape((2, 3, *shape))


def test_spectral_ball_refuses_wide_and_empty_matrices() -> None:
    for shape in ((2, 3), (4, 2, 3), (3, 0)):
        with pytest.raises(ValueError, match="K <= N"):
            SpectralBall().check_shape(shape)


def test_box_refuses_vectors_of_another_length() -> None:
    with pytest.raises(ValueError, match=r"length 4.*\(3,\)"):
        Box(LOWER, UPPER).check_shape((3,))
    Box(0.0, [1.0]).check_shape((3,))


@pytest.mark.parametrize(
    "kind", [type(case.feasible) for case in ONE_OF_EACH.values() if SIZES & set(vars(case.feasible))]
)
@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf])
def test_sizes_must_be_positive_and_finite(kind: Callable[[float], ConvexSet], size: float) -> None:
    with pytest.raises(ValueError, match=rf"({'|'.join(SIZES)}) must be positive and finite, got {size}"):
        kind(size)


@pytest.mark.parametrize(("lower", "upper"), [(0.0, np.inf), (-np.inf, 0.0), (np.nan, 1.0), ([0.0, 2.0], 1.0)])
def test_boxes_must_be_bounded_and_not_empty(lower: Any, upper: Any) -> None:
    with pytest.raises(ValueError, match=r"finite|must not exceed"):
        Box(lower, upper)


def test_box_keeps_no_hold_of_its_bounds() -> None:
    lower = np.zeros(2)
    box = Box(lower, 1.0)
    lower[...] = 9.0
    np.testing.assert_array_equal(box.lmo(np.ones(2)), [0.0, 0.0])


@pytest.mark.parametrize("rank", [0, 1, 3])
@pytest.mark.parametrize("shape", [(4, 4), (9, 4)])
def test_spectral_oracle_stays_near_where_the_gradient_is_silent(
    rank: int, shape: tuple[int, int], rng: Rng, orthonormal: Callable[..., FloatArray]
) -> None:
    feasible = SpectralBall()
    u, v = orthonormal(shape[0], rank), orthonormal(shape[1], rank)
    gradient = u @ np.diag(np.arange(1.0, rank + 1)) @ v.T
    current = orthonormal(*shape)
    vertex, memory = feasible.oracle(gradient, current, feasible.memory(current))
    assert memory == -1.0  # nothing is known yet, and one call was made
    assert feasible.contains(vertex)
    assert dot(gradient, vertex) == pytest.approx(CASES["SpectralBall"].least(gradient), abs=1e-12)
    u_rest, v_rest = np.eye(shape[0]) - u @ u.T, np.eye(shape[1]) - v @ v.T
    free = u_rest @ current @ v_rest  # the part of the current point on which the gradient has no say
    # Of all minimisers it is the nearest: its inner product with the free part is the largest possible.
    assert dot(vertex, free) == pytest.approx(np.linalg.svd(free, compute_uv=False).sum(), abs=1e-10)
    if rank == 0:
        np.testing.assert_allclose(vertex, current, atol=1e-12)
