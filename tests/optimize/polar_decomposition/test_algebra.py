"""The arithmetic of the product path: both kinds compute what they say, and spare their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition.algebra import STACK, Single, Stack, algebra_for, diagonal

CASES = [
    pytest.param(Single(4), (7, 4), id="single, tall"),
    pytest.param(Single(5), (5, 5), id="single, square"),
    pytest.param(Single(1), (1, 1), id="single, 1 x 1"),
    pytest.param(STACK, (7, 4), id="stack of none"),
    pytest.param(STACK, (3, 7, 4), id="stack"),
    pytest.param(STACK, (2, 3, 5, 5), id="stack of stacks"),
]
each_algebra = pytest.mark.parametrize(("algebra", "shape"), CASES)


def symmetric(rng: Any, shape: tuple[int, ...]) -> FloatArray:
    a = rng.standard_normal((*shape[:-2], shape[-1], shape[-1]))
    half: FloatArray = a + a.mT
    return half


@each_algebra
def test_gram_and_square(algebra: Any, shape: tuple[int, ...], rng: Any) -> None:
    x, a = rng.standard_normal(shape), symmetric(rng, shape)
    one = np.eye(shape[-1])
    for array in (x, a):
        array.setflags(write=False)
    np.testing.assert_allclose(algebra.gram(x, 0.7, -1.5), 0.7 * x.mT @ x - 1.5 * one, atol=1e-13)
    np.testing.assert_allclose(algebra.square(a, -0.3, 2.0), -0.3 * a @ a + 2.0 * one, atol=1e-13)
    again = algebra.gram(x, 1.0, 0.0)  # no constant of the algebra was overwritten
    np.testing.assert_allclose(again, x.mT @ x, atol=1e-13)
    np.testing.assert_allclose(algebra.gram(x, 2.0, 3.0), 2.0 * x.mT @ x + 3.0 * one, atol=1e-13)


@each_algebra
def test_products(algebra: Any, shape: tuple[int, ...], rng: Any) -> None:
    x, a, c = rng.standard_normal(shape), symmetric(rng, shape), rng.standard_normal(shape)
    for array in (x, a):
        array.setflags(write=False)
    np.testing.assert_allclose(algebra.times(x, a, 1.0), x @ a, atol=1e-13)
    np.testing.assert_allclose(algebra.times(x, a, -0.5), -0.5 * x @ a, atol=1e-13)
    np.testing.assert_allclose(algebra.times(a, a, 2.0), 2.0 * a @ a, atol=1e-12)
    expected = x @ a + c
    total = algebra.times_plus(x, a, c)
    np.testing.assert_allclose(total, expected, atol=1e-13)
    assert np.shares_memory(total, c)


@each_algebra
def test_inverse(algebra: Any, shape: tuple[int, ...], rng: Any) -> None:
    x = rng.standard_normal(shape)
    x.setflags(write=False)
    a = x.mT @ x + np.eye(shape[-1])
    expected = 0.7 * x @ np.linalg.inv(a) - 0.2 * x
    traces = np.trace(np.linalg.inv(a), axis1=-2, axis2=-1)
    product, trace = algebra.times_inverse(x, a, 0.7, -0.2)
    np.testing.assert_allclose(product, expected, atol=1e-12)
    assert isinstance(trace, float)
    assert trace == pytest.approx(traces.max(), rel=1e-12)  # the largest of a stack


def test_inverse_of_an_indefinite_matrix_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        Single(2).times_inverse(np.eye(2), np.diag([1.0, -1.0]), 1.0, 0.0)


def test_diagonal_is_a_view_that_can_be_written() -> None:
    stack = np.zeros((2, 3, 3))
    diagonal(stack)[...] += [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(stack, np.stack([np.diag([1.0, 2.0, 3.0])] * 2))


@pytest.mark.parametrize(("shape", "kind"), [((4, 4), Single), ((7, 2), Single), ((2, 4, 4), Stack)])
def test_arithmetic_suits_the_array(shape: tuple[int, ...], kind: type) -> None:
    assert type(algebra_for(np.zeros(shape))) is kind
