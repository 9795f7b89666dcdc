"""The product path itself, for single matrices and stacks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition.coefficients import LOWEST, TOLERANCE
from orthostream.optimize.polar_decomposition.products import near_polar, product_polar

Make = Callable[..., FloatArray]
SHAPES = [(1, 1, ()), (4, 4, ()), (9, 2, ()), (31, 31, ()), (4, 4, (3,)), (9, 2, (2, 2)), (21, 20, (2,))]
each_shape = pytest.mark.parametrize(("rows", "columns", "stack"), SHAPES)
EPS = 2.0**-52


def reference(a: FloatArray) -> FloatArray:
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    product: FloatArray = u @ vt
    return product


def distance_from_orthonormal(factor: FloatArray) -> float:
    return float(np.abs(np.linalg.svd(factor, compute_uv=False) - 1.0).max())


def spectrum(columns: int, condition: float) -> FloatArray:
    return np.geomspace(1.0, 1.0 / condition, columns) if columns > 1 else np.ones(1)


def scaled_low(a: FloatArray) -> float:
    """Return the smallest singular value of a stack, each matrix scaled as the product path scales it."""
    values = np.linalg.svd(a, compute_uv=False)
    return float((values[..., -1] / (values**4).sum(axis=-1) ** 0.25).min())


@each_shape
@pytest.mark.parametrize("condition", [1.0, 10.0, 500.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_right_guess_is_certified(
    rows: int, columns: int, stack: tuple[int, ...], condition: float, sign: float, with_spectrum: Make
) -> None:
    a = with_spectrum(rows, spectrum(columns, condition), stack)
    kept = a.copy()
    low = 0.4 / condition
    result = product_polar(a, low, sign)
    assert result is not None
    assert distance_from_orthonormal(result[0]) <= TOLERANCE + 10.0 * columns**0.5 * EPS
    np.testing.assert_allclose(result[0], sign * reference(a), atol=30.0 * columns**0.5 * EPS * condition)
    assert result[1] >= 1.03 * low * (1.0 - 1e-12)  # no reason was seen to lower it
    np.testing.assert_array_equal(a, kept)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, 1e-12])
def test_tolerance_is_kept(tolerance: float, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, spectrum(columns, 50.0), stack)
        result = product_polar(a, 0.008, 1.0, tolerance)
        assert result is not None
        assert distance_from_orthonormal(result[0]) <= 1.01 * tolerance + 10.0 * columns**0.5 * EPS


@each_shape
@pytest.mark.parametrize("low", [LOWEST, 0.01, 0.3, 0.99])
def test_wrong_guess_costs_no_accuracy(
    rows: int, columns: int, stack: tuple[int, ...], low: float, with_spectrum: Make
) -> None:
    for condition in (1.0, 20.0, 1e3, 1e5, 1e8):
        a = with_spectrum(rows, spectrum(columns, condition), stack)
        result = product_polar(a, low)
        if result is None:
            assert condition > 10.0 / low  # a guess that is not far too large always leads to a certificate
        else:
            assert distance_from_orthonormal(result[0]) <= TOLERANCE + 10.0 * columns**0.5 * EPS
            # A guess that is far too low makes the first inverse worse conditioned than the matrix itself.
            lost = 0.3 * condition if low < 0.1 / condition else 0.0
            limit = (30.0 * columns**0.5 + lost) * EPS * condition
            np.testing.assert_allclose(result[0], reference(a), atol=limit)
            value = float((a * result[0]).sum())  # what an oracle needs is not touched by that
            assert value == pytest.approx(np.linalg.svd(a, compute_uv=False).sum(), rel=1e-12)


def test_guess_that_was_too_large_is_lowered(with_spectrum: Make) -> None:
    for stack in ((), (2,)):
        result = product_polar(with_spectrum(8, spectrum(8, 40.0), stack), 0.5)
        assert result is not None
        assert result[1] <= 0.7 * 0.5


@each_shape
@pytest.mark.parametrize("condition", [1.5, 30.0, 1e3])
@pytest.mark.parametrize("low", [LOWEST, 1e-7, 1e-6])
def test_guess_that_was_far_too_low_jumps_up_to_what_is_proven(
    rows: int, columns: int, stack: tuple[int, ...], condition: float, low: float, with_spectrum: Make
) -> None:
    a = with_spectrum(rows, spectrum(columns, condition), stack)
    truth = scaled_low(a)
    result = product_polar(a, low)
    assert result is not None
    assert 0.9 * truth / columns**0.5 <= result[1] <= truth


@pytest.mark.parametrize("condition", [1.0, 10.0, 1e3, 1e5, 1e7, 1e9])
def test_guess_never_jumps_above_the_smallest_singular_value(condition: float, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, spectrum(columns, condition), stack)
        # The Gram matrix has its rounding, which hides singular values below about 1e-8.
        truth = (scaled_low(a) ** 2 + 4.0 * columns * EPS) ** 0.5
        for low in np.geomspace(LOWEST, 0.9, 30):
            result = product_polar(a, float(low))
            if result is not None:
                assert result[1] <= max(1.03 * float(low), truth) * (1.0 + 1e-12)


@pytest.mark.parametrize("stack", [(), (3,)])
@pytest.mark.usefixtures("no_hang")
def test_no_certificate_is_given_where_there_is_no_factor(stack: tuple[int, ...], with_spectrum: Make) -> None:
    deficient = with_spectrum(6, [1.0, 1.0, 1.0, 1.0, 1.0, 0.0], stack)
    deficient -= deficient @ np.ones((6, 6)) / 6.0  # the vector of ones is sent to zero
    strange, endless = deficient.copy(), deficient.copy()
    strange[..., 0, 0], endless[..., 0, 0] = np.nan, np.inf
    for a in (np.zeros((*stack, 6, 6)), strange, endless):
        for low in (LOWEST, 0.1, 0.9):
            assert product_polar(a, low) is None
    for low in (1e-4, 0.1, 0.9):
        assert product_polar(deficient, low) is None


def test_one_bad_matrix_spoils_the_stack(with_spectrum: Make) -> None:
    stack = with_spectrum(5, spectrum(5, 3.0), (3,))
    assert product_polar(stack, 0.1) is not None
    stack[1] = 0.0
    assert product_polar(stack, 0.1) is None


@each_shape
@pytest.mark.parametrize("low", [0.7, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("tolerance", [TOLERANCE, 1e-12, 1e-6])
def test_near_polar_keeps_its_tolerance(
    rows: int, columns: int, stack: tuple[int, ...], low: float, tolerance: float, with_spectrum: Make
) -> None:
    for values in (np.linspace(1.0, low, columns), np.full(columns, low)):
        a = with_spectrum(rows, values, stack)
        kept = a.copy()
        factor = near_polar(a, low, tolerance)
        assert distance_from_orthonormal(factor) <= tolerance + 10.0 * columns**0.5 * EPS
        np.testing.assert_allclose(factor, reference(a), atol=tolerance + 60.0 * EPS)
        np.testing.assert_array_equal(a, kept)
