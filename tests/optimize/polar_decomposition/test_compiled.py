"""The compiled product path does what the NumPy path does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from orthostream._compile import can_compile
from orthostream._typing import FloatArray
from orthostream.optimize.kernel import Kernel, compiled_kernel
from orthostream.optimize.polar_decomposition import loops
from orthostream.optimize.polar_decomposition.chosen_path import ORACLE, POLAR_STEP, polar, polar_between
from orthostream.optimize.polar_decomposition.coefficients import LOWEST, RIDGED, TOLERANCE, VERTEX_TOLERANCE
from orthostream.optimize.polar_decomposition.products import near_polar, product_polar

pytestmark = pytest.mark.skipif(not can_compile(), reason="Numba is not installed, or turned off")

Make = Callable[..., FloatArray]
SIZES = [(1, 1), (2, 2), (5, 5), (16, 16), (17, 17), (33, 33), (65, 65), (9, 3), (40, 20), (6, 1)]
each_size = pytest.mark.parametrize(("rows", "columns"), SIZES)


def even(columns: int, condition: float) -> FloatArray:
    return np.geomspace(1.0, 1.0 / condition, columns) if columns > 1 else np.ones(1)


def machine_code(name: str) -> Callable[..., Any]:
    """Return a function of `loops`, compiled."""
    return compiled_kernel(Kernel(name, ORACLE.modules))


@each_size
@pytest.mark.parametrize("low", [LOWEST, 1e-4, 0.01, 0.1, 0.3, 0.9])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_polar_equals_the_numpy_path(rows: int, columns: int, low: float, sign: float, with_spectrum: Make) -> None:
    a = with_spectrum(rows, even(columns, 5.0))
    kept = a.copy()
    expected = product_polar(a, low, sign)
    factor, guess, good = machine_code("polar_loop")(a, low, sign, TOLERANCE)
    assert expected is not None
    assert good
    np.testing.assert_allclose(factor, expected[0], atol=1e-13)
    assert guess == pytest.approx(expected[1], rel=1e-9)
    np.testing.assert_array_equal(a, kept)


@each_size
@pytest.mark.parametrize("condition", [100.0, 1e3, 1e4, 1e6])
def test_polar_differs_by_rounding_alone(rows: int, columns: int, condition: float, with_spectrum: Make) -> None:
    """An error of the last digit in the matrix moves its factor by about the condition number times as much."""
    a = with_spectrum(rows, even(columns, condition))
    expected = product_polar(a, 0.4 / condition)
    factor, _, good = machine_code("polar_loop")(a, 0.4 / condition, 1.0, TOLERANCE)
    assert expected is not None
    assert good
    np.testing.assert_allclose(factor, expected[0], atol=1e-13 + 3e-14 * condition)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-8, VERTEX_TOLERANCE, TOLERANCE])
def test_tolerance_is_kept(tolerance: float, with_spectrum: Make) -> None:
    for rows, columns in SIZES:
        a = with_spectrum(rows, even(columns, 50.0))
        factor, _, good = machine_code("polar_loop")(a, 0.008, 1.0, tolerance)
        assert good
        off = np.abs(np.linalg.svd(factor, compute_uv=False) - 1.0).max()
        assert off <= 1.01 * tolerance + 10.0 * columns**0.5 * 2.0**-52


@each_size
@pytest.mark.parametrize("low", [0.7, 0.9, 1.0])
def test_near_polar_equals_the_numpy_path(rows: int, columns: int, low: float, with_spectrum: Make) -> None:
    x = with_spectrum(rows, np.linspace(1.0, low, columns))
    expected = near_polar(x, low)
    factor = machine_code("near_polar_loop")(x.copy(), low, TOLERANCE)
    np.testing.assert_allclose(factor, expected, atol=1e-14)


@pytest.mark.parametrize("low", [LOWEST, 0.1, 0.9])
@pytest.mark.usefixtures("no_hang")
def test_no_certificate_is_given_where_there_is_no_factor(low: float) -> None:
    silent = np.eye(6)
    silent[5, 5] = 0.0
    strange, endless = np.eye(6), np.eye(6)
    strange[0, 0], endless[0, 0] = np.nan, np.inf
    for a in (np.zeros((6, 6)), silent, strange, endless, 1e200 * np.eye(6), 1e-200 * np.eye(6)):
        assert not machine_code("polar_loop")(a, low, 1.0, TOLERANCE)[2]


@pytest.mark.parametrize("name", ["polar_loop", "near_polar_loop"])
def test_python_runs_the_same_text(name: str, with_spectrum: Make) -> None:
    x = with_spectrum(6, np.linspace(1.0, 0.8, 4))
    arguments = (0.3, -1.0, TOLERANCE) if name == "polar_loop" else (0.8, TOLERANCE)
    plain, fast = getattr(loops, name)(x.copy(), *arguments), machine_code(name)(x.copy(), *arguments)
    for one, other in zip(plain, fast, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-13)


# The two kernels of Algorithm 2.


@each_size
@pytest.mark.parametrize("low", [LOWEST, 1e-7, 0.9 * RIDGED, RIDGED, 0.05])
@pytest.mark.parametrize("gamma", [0.1, 1.0])
def test_oracle_is_minus_the_polar_factor(
    rows: int, columns: int, low: float, gamma: float, with_spectrum: Make, orthonormal: Make
) -> None:
    gradient, x = with_spectrum(rows, even(columns, 10.0)), orthonormal(rows, columns)
    vertex, guess, good = compiled_kernel(ORACLE)(gradient, x, low, gamma)
    expected, following = polar(gradient, near=x, low=low, sign=-1.0)
    assert good
    np.testing.assert_allclose(vertex, expected, atol=3.0 * (TOLERANCE if gamma == 1.0 else VERTEX_TOLERANCE) + 1e-13)
    assert guess == pytest.approx(following, rel=1e-9)
    off = np.abs(np.linalg.svd(vertex, compute_uv=False) - 1.0).max()
    assert off <= (TOLERANCE if gamma == 1.0 else VERTEX_TOLERANCE) + 10.0 * columns**0.5 * 2.0**-52


def test_oracle_without_a_guess_declines(with_spectrum: Make, orthonormal: Make) -> None:
    for low in (0.0, 0.99 * LOWEST):
        assert not compiled_kernel(ORACLE)(with_spectrum(5, even(5, 10.0)), orthonormal(5, 5), low, 0.1)[2]


@each_size
@pytest.mark.parametrize("gamma", [0.0, 1e-3, 0.1, 0.2, 0.4, 0.49, 0.51, 0.6, 0.9, 1.0])
def test_polar_step_equals_the_factor_of_the_mixture(rows: int, columns: int, gamma: float, orthonormal: Make) -> None:
    x, vertex = orthonormal(rows, columns), orthonormal(rows, columns)
    kept = x.copy(), vertex.copy()
    point, good = compiled_kernel(POLAR_STEP)(x, vertex, gamma)
    assert good
    mixed = (1.0 - gamma) * x + gamma * vertex
    np.testing.assert_allclose(point, polar_between(mixed, abs(1.0 - 2.0 * gamma)), atol=1e-12)
    assert np.abs(np.linalg.svd(point, compute_uv=False) - 1.0).max() <= TOLERANCE + 10.0 * columns**0.5 * 2.0**-52
    np.testing.assert_array_equal(x, kept[0])
    np.testing.assert_array_equal(vertex, kept[1])


def test_polar_step_halfway_declines(orthonormal: Make) -> None:
    """The mixture of two orthogonal matrices may be singular there."""
    assert not compiled_kernel(POLAR_STEP)(orthonormal(5, 5), orthonormal(5, 5), 0.5)[1]
