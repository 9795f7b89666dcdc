"""The product path itself, for single matrices and stacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition.coefficients import LOWEST
from orthostream.optimize.polar_decomposition.products import near_polar, product_polar

Make = Callable[..., FloatArray]
SHAPES = [(1, 1, ()), (4, 4, ()), (9, 2, ()), (31, 31, ()), (4, 4, (3,)), (9, 2, (2, 2)), (21, 20, (2,))]
each_shape = pytest.mark.parametrize(("rows", "columns", "stack"), SHAPES)


def reference(a: FloatArray) -> FloatArray:
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    product: FloatArray = u @ vt
    return product


def spectrum(columns: int, condition: float) -> FloatArray:
    return np.geomspace(1.0, 1.0 / condition, columns) if columns > 1 else np.ones(1)


@each_shape
@pytest.mark.parametrize("condition", [1.0, 10.0, 500.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_right_guess_is_certified(
    rows: int, columns: int, stack: tuple[int, ...], condition: float, sign: float, with_spectrum: Make
) -> None:
    a = with_spectrum(rows, spectrum(columns, condition), stack)
    kept = a.copy()
    result = product_polar(a, 0.4 / condition, 1e-9, sign)
    assert result is not None
    np.testing.assert_allclose(result[0], sign * reference(a), atol=1.1e-9)
    assert result[1] == pytest.approx(1.03 * 0.4 / condition, rel=1e-12)  # no reason was seen to lower it
    np.testing.assert_array_equal(a, kept)


@each_shape
@pytest.mark.parametrize("low", [LOWEST, 0.01, 0.3, 0.99])
def test_wrong_guess_costs_no_accuracy(
    rows: int, columns: int, stack: tuple[int, ...], low: float, with_spectrum: Make
) -> None:
    for condition in (1.0, 20.0, 1e3, 1e5, 1e8):
        a = with_spectrum(rows, spectrum(columns, condition), stack)
        result = product_polar(a, low, 1e-9)
        if result is not None:
            np.testing.assert_allclose(result[0], reference(a), atol=1.1e-9 + 1e-14 * condition)


def test_guess_that_was_too_large_is_lowered(with_spectrum: Make) -> None:
    for stack in ((), (2,)):
        result = product_polar(with_spectrum(8, spectrum(8, 40.0), stack), 0.5, 1e-9)
        assert result is not None
        assert result[1] <= 0.7 * 0.5


@pytest.mark.parametrize("stack", [(), (3,)])
@pytest.mark.usefixtures("no_hang")
def test_no_certificate_is_given_where_there_is_no_factor(stack: tuple[int, ...], with_spectrum: Make) -> None:
    deficient = with_spectrum(6, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0], stack)
    strange = deficient.copy()
    strange[..., 0, 0] = np.nan
    for a in (np.zeros((*stack, 6, 6)), deficient, strange):
        for low in (LOWEST, 0.1, 0.9):
            assert product_polar(a, low, 1e-9) is None


def test_one_bad_matrix_spoils_the_stack(with_spectrum: Make) -> None:
    stack = with_spectrum(5, spectrum(5, 3.0), (3,))
    assert product_polar(stack, 0.1, 1e-9) is not None
    stack[1] = 0.0
    assert product_polar(stack, 0.1, 1e-9) is None


@each_shape
@pytest.mark.parametrize("low", [0.7, 0.8, 0.95, 1.0])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-6)])
def test_near_polar_keeps_its_tolerance(
    rows: int, columns: int, stack: tuple[int, ...], low: float, dtype: Any, tolerance: float, with_spectrum: Make
) -> None:
    for values in (np.linspace(1.0, low, columns), np.full(columns, low)):
        a = with_spectrum(rows, values, stack).astype(dtype)
        kept = a.copy()
        factor = near_polar(a, low, tolerance)
        assert factor.dtype == dtype
        off = np.abs(np.linalg.svd(factor.astype(float), compute_uv=False) - 1.0).max()
        assert off <= tolerance + 10.0 * columns**0.5 * np.finfo(dtype).eps
        np.testing.assert_allclose(factor, reference(a.astype(float)), atol=tolerance + 60.0 * np.finfo(dtype).eps)
        np.testing.assert_array_equal(a, kept)
