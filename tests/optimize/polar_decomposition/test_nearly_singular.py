"""Ill-conditioned and singular matrices by products, with a point to stay near."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition import by_singular_values, polar
from orthostream.optimize.polar_decomposition.coefficients import LOWEST, RIDGE, RIDGED

Make = Callable[..., FloatArray]

#: (rows, columns, stack): all of them go by products, on the NumPy path too.
SHAPES = [(24, 24, ()), (60, 24, ()), (6, 6, (3,)), (9, 4, (2, 2))]
each_shape = pytest.mark.parametrize(("rows", "columns", "stack"), SHAPES)
#: Guesses for which the near point is added to the matrix.
LOWS = [LOWEST, 1e-8, 0.9 * RIDGED]
each_low = pytest.mark.parametrize("low", LOWS)


def distance_from_orthonormal(factor: FloatArray) -> float:
    return float(np.abs(np.linalg.svd(factor, compute_uv=False) - 1.0).max())


def norms(a: FloatArray) -> FloatArray:
    result: FloatArray = np.linalg.norm(a, axis=(-2, -1))
    return result


def exactly(a: FloatArray, near: FloatArray, sign: float = 1.0) -> FloatArray:
    with by_singular_values():
        return polar(a, near=near, sign=sign)[0]


def assert_certified(factor: FloatArray, a: FloatArray, sign: float = 1.0) -> None:
    """Check that a factor is orthogonal, and that it maximises <a, x> to within 1e-6 of the norm of a."""
    assert distance_from_orthonormal(factor) <= 1e-13
    best = np.linalg.svd(a, compute_uv=False).sum(axis=-1)
    gap = best - sign * (a * factor).sum(axis=(-2, -1))
    assert np.all(gap <= 1e-6 * norms(a))
    assert np.all(gap >= -1e-12 * norms(a))


@pytest.fixture(autouse=True)
def _products_alone(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where `polar` falls back to singular values, other than by `exactly`."""
    module = importlib.import_module("orthostream.optimize.polar_decomposition.chosen_path")
    fall_back = module._exactly

    def watched(*given: Any) -> Any:
        assert module._exact.get(), "no certificate by products"
        return fall_back(*given)

    monkeypatch.setattr(module, "_exactly", watched)


@each_shape
@each_low
@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4, 1e5, 1e6])
def test_factor_agrees_with_the_exact_one(
    rows: int,
    columns: int,
    stack: tuple[int, ...],
    low: float,
    condition: float,
    with_spectrum: Make,
    orthonormal: Make,
) -> None:
    """The near point has a weight of 3e-8 of the norm, which the condition number magnifies."""
    near = orthonormal(rows, columns, stack)
    steep = np.geomspace(1.0, 1.0 / condition, columns)
    for values in (steep, np.r_[np.ones(columns - 1), 1.0 / condition]):
        a = with_spectrum(rows, values, stack)
        for sign in (1.0, -1.0):
            factor, _ = polar(a, near=near, low=np.full(stack, low) if stack else low, sign=sign)
            assert_certified(factor, a, sign)
            limit = 1.5 * RIDGE * float(norms(a).max()) * condition
            np.testing.assert_allclose(factor, exactly(a, near, sign), rtol=0.0, atol=limit)


@pytest.mark.parametrize("condition", [1e7, 1e8, 1e10, 1e13, 1e16])
@each_shape
@pytest.mark.parametrize("low", [LOWEST, RIDGE])
def test_factor_is_certified_for_any_condition(
    rows: int,
    columns: int,
    stack: tuple[int, ...],
    low: float,
    condition: float,
    with_spectrum: Make,
    orthonormal: Make,
) -> None:
    near = orthonormal(rows, columns, stack)
    a = 1e3 * with_spectrum(rows, np.geomspace(1.0, 1.0 / condition, columns), stack)
    factor, _ = polar(a, near=near, low=np.full(stack, low) if stack else low)
    assert_certified(factor, a)


@each_shape
@pytest.mark.parametrize("low", [LOWEST, 1e-8])
@pytest.mark.parametrize("lost", [1, 2, 3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_singular_matrix_keeps_the_near_point_where_it_says_nothing(
    rows: int,
    columns: int,
    stack: tuple[int, ...],
    low: float,
    lost: int,
    sign: float,
    with_spectrum: Make,
    orthonormal: Make,
) -> None:
    values = np.r_[np.linspace(1.0, 0.5, columns - lost), np.zeros(lost)]
    a, near = with_spectrum(rows, values, stack), orthonormal(rows, columns, stack)
    factor, _ = polar(a, near=near, low=np.full(stack, low) if stack else low, sign=sign)
    assert_certified(factor, a, sign)
    exact = exactly(a, near, sign)
    null = np.linalg.svd(a)[2][..., columns - lost :, :].mT
    row_space = np.linalg.svd(a)[2][..., : columns - lost, :].mT
    # Where near has hardly a part in the complement, its direction there is as uncertain as that part is small.
    rest = near @ null
    left = np.linalg.svd(a, full_matrices=False)[0][..., : columns - lost]
    part = float(np.linalg.svd(rest - left @ (left.mT @ rest), compute_uv=False).min())
    accuracy = 3e-6 if low > LOWEST else 1e-3  # the inverse of a guess that is far too low loses digits
    np.testing.assert_allclose(factor @ row_space, exact @ row_space, rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(factor @ null, exact @ null, rtol=0.0, atol=accuracy / part)


@each_shape
@pytest.mark.parametrize("low", [LOWEST, 1e-8])
def test_nothing_moves_where_the_near_point_is_a_solution_already(
    rows: int, columns: int, stack: tuple[int, ...], low: float, orthonormal: Make
) -> None:
    u, v = orthonormal(rows, columns, stack), orthonormal(columns, columns, stack)
    kept = columns // 2
    a = (u[..., :kept] * np.linspace(2.0, 1.0, kept)) @ v[..., :kept].mT
    near = u @ v.mT
    factor, _ = polar(a, near=near, low=np.full(stack, low) if stack else low)
    np.testing.assert_allclose(factor, near, rtol=0.0, atol=1e-6 if low > LOWEST else 1e-3)


def test_guess_stays_low_for_a_singular_matrix(with_spectrum: Make, orthonormal: Make) -> None:
    """The guess that is carried on never leads out of the range in which the near point is added."""
    a, near = with_spectrum(24, np.r_[np.ones(22), 0.0, 0.0]), orthonormal(24, 24)
    low: Any = LOWEST
    for _ in range(200):
        factor, low = polar(a, near=near, low=low)
        assert LOWEST <= low < RIDGED
    assert_certified(factor, a)


def test_guess_leaves_the_range_in_one_call_for_an_ordinary_matrix(with_spectrum: Make, orthonormal: Make) -> None:
    a, near = with_spectrum(24, np.geomspace(1.0, 0.1, 24)), orthonormal(24, 24)
    _, low = polar(a, near=near, low=LOWEST)
    assert RIDGED < low <= 0.1
    factor, _ = polar(a, near=near, low=low)
    np.testing.assert_allclose(factor, exactly(a, near), rtol=0.0, atol=1e-13)


@each_shape
def test_matrix_and_near_point_are_left_alone(
    rows: int, columns: int, stack: tuple[int, ...], with_spectrum: Make, orthonormal: Make
) -> None:
    a, near = with_spectrum(rows, np.r_[np.ones(columns - 1), 0.0], stack), orthonormal(rows, columns, stack)
    kept = a.copy(), near.copy()
    factor, _ = polar(a, near=near, low=np.full(stack, 1e-8) if stack else 1e-8)
    factor[...] = 7.0
    np.testing.assert_array_equal(a, kept[0])
    np.testing.assert_array_equal(near, kept[1])
