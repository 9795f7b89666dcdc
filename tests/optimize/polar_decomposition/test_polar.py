"""Polar factors against singular values, whichever path computes them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orthostream._compile import without_numba
from orthostream._typing import FloatArray
from orthostream.optimize.polar_decomposition import by_singular_values, polar, polar_between
from orthostream.optimize.polar_decomposition.coefficients import LOWEST, TOLERANCE, VERTEX_TOLERANCE

Make = Callable[..., FloatArray]
EPS = 2.0**-52

#: (rows, columns, stack): square and tall, below and above the sizes at which the paths change their ways.
SHAPES = [
    (1, 1, ()),
    (5, 5, ()),
    (17, 17, ()),
    (40, 40, ()),
    (9, 4, ()),
    (50, 25, ()),
    (7, 1, ()),
    (6, 6, (3,)),
    (8, 5, (2, 2)),
]


def reference(a: FloatArray) -> FloatArray:
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    product: FloatArray = u @ vt
    return product


def distance_from_orthonormal(factor: FloatArray) -> float:
    """Return how far from 1 a singular value is."""
    return float(np.abs(np.linalg.svd(factor, compute_uv=False) - 1.0).max())


def assert_is_polar(factor: FloatArray, a: FloatArray, what: str = "", lost: float = 0.0) -> None:
    """Check against singular values; what rounding does to a polar factor grows with the condition number.

    ``lost`` is what it grows with once more, where a Gram matrix is inverted or decomposed.
    """
    columns = a.shape[-1]
    assert factor.shape == a.shape, what
    assert factor.dtype == np.float64, what
    off = distance_from_orthonormal(factor)
    assert off <= TOLERANCE + 10.0 * columns**0.5 * EPS, f"{what}: singular values off by {off}"
    u, values, vt = np.linalg.svd(a, full_matrices=False)
    value = (a * factor).sum(axis=(-2, -1))
    np.testing.assert_allclose(value, values.sum(axis=-1), rtol=1e-9, err_msg=what)
    condition = float((values[..., 0] / np.maximum(values[..., -1], 1e-300)).max())
    limit = (30.0 * columns**0.5 + lost * condition) * EPS * condition
    if limit < 1e-3:
        error = float(np.abs(factor - u @ vt).max())
        assert error <= limit, f"{what}: {error} from the SVD's factor, {limit} allowed"


def spectra(columns: int, condition: float) -> dict[str, FloatArray]:
    one = np.ones(columns)
    one[-1] = 1.0 / condition
    return {
        "even": np.geomspace(1.0, 1.0 / condition, columns),
        "one small": one,
        "one large": 1.0 / (condition * one[::-1]),
    }


@pytest.mark.parametrize("condition", [1.0, 3.0, 30.0, 900.0, 4e3, 1e5, 1e8, 1e12])
@pytest.mark.parametrize("guess", ["none", "good", "far too large", "far too small"])
def test_factor_matches_singular_values(path: str, guess: str, condition: float, with_spectrum: Make) -> None:
    low = {"none": 0.0, "good": 0.5 / condition, "far too large": 0.9, "far too small": LOWEST}[guess]
    for rows, columns, stack in SHAPES:
        for name, values in spectra(columns, condition).items():
            a = 37.0 * with_spectrum(rows, values, stack)
            factor, following = polar(a, low=low if not stack else np.full(stack, low))
            lost = 0.0 if guess == "none" else 0.3
            assert_is_polar(factor, a, f"{rows} x {columns} {stack}, {name}", lost)
            assert np.shape(following) == stack
            known = np.asarray(following)
            # 0 where the product path has reached its limit, -1 where the exact path has begun to count
            assert np.all((known < 1.0) & ((known >= 0.0) | ((known == -1.0) & (condition > 1e3))))


@pytest.mark.parametrize("low", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_factor_has_double_precision_for_any_input(path: str, low: float, dtype: Any, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = (100.0 * with_spectrum(rows, np.linspace(1.0, 0.9, columns), stack)).astype(dtype)
        factor, _ = polar(a, low=low)
        assert factor.dtype == np.float64
        np.testing.assert_array_equal(factor, polar(a.astype(np.float64), low=low)[0])


def test_factor_between_bounds_has_double_precision_for_any_input(path: str, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.linspace(0.99, 0.91, columns), stack).astype(np.float32)
        for low in (0.1, 0.9):
            assert_is_polar(polar_between(a, low), a.astype(np.float64), f"{rows} x {columns} {stack}, {low}")


def test_sign_turns_the_factor(path: str, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.geomspace(1.0, 0.1, columns), stack)
        for low in (0.0, 0.04):
            np.testing.assert_allclose(polar(a, low=low, sign=-1.0)[0], -polar(a, low=low)[0], atol=1e-12)


def test_guess_that_is_carried_on_finds_the_truth(path: str, with_spectrum: Make) -> None:
    for stack in ((), (3,)):
        a = with_spectrum(30, np.geomspace(1.0, 0.02, 30), stack)
        for start in (0.0, LOWEST, 1e-3, 0.9):
            low: Any = np.full(stack, start) if stack else start
            for call in range(150):
                factor, low = polar(a, low=low)
                if call % 10 == 0:
                    assert_is_polar(factor, a, lost=0.3)
            # The matrix is scaled by a norm that may exceed the largest singular value, here at most 30^(1/4) times.
            assert 0.2 * 0.02 < np.min(low) < 2.0 * 0.02


def test_guess_that_was_far_too_low_is_right_after_one_call(path: str, with_spectrum: Make) -> None:
    for stack in ((), (3,)):
        a = with_spectrum(30, np.geomspace(1.0, 0.02, 30), stack)
        _, low = polar(a, low=np.full(stack, LOWEST) if stack else LOWEST)
        assert 0.2 * 0.02 / 30.0**0.5 < np.min(low) <= 0.02


def test_matrices_of_a_stack_do_not_mind_each_other(path: str, with_spectrum: Make) -> None:
    easy, hard = with_spectrum(6, np.ones(6)), with_spectrum(6, np.geomspace(1.0, 0.03, 6))
    scales = np.array([1e-3, 1.0, 1e3])[:, None, None]
    stack = scales * np.stack([easy, hard, easy @ hard])
    for low in (0.0, 0.02, 0.9):
        factors, _ = polar(stack, low=np.full(3, low))
        for factor, a in zip(factors, stack, strict=True):
            assert_is_polar(factor, a)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-150, 1e-81, 1e-77, 1e76, 1e80, 1e150, 1e160, 1e300])
@pytest.mark.parametrize("stack", [(), (2,)])
@pytest.mark.parametrize("low", [0.0, 1e-6, 0.1])
def test_scale_does_not_matter(
    path: str, scale: float, stack: tuple[int, ...], low: float, with_spectrum: Make, orthonormal: Make
) -> None:
    for columns in (6, 24):
        a, near = with_spectrum(columns, np.geomspace(1.0, 0.2, columns), stack), orthonormal(columns, columns)
        np.testing.assert_allclose(polar(scale * a, low=low)[0], reference(a), atol=1e-12)
        # With a low guess the near point is added with a small weight.
        limit = 1e-6 if low == 1e-6 else 1e-12
        np.testing.assert_allclose(polar(scale * a, near=near, low=low)[0], reference(a), atol=limit)


LAYOUTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "columns first": np.asfortranarray,
    "every other": lambda a: np.repeat(np.repeat(a, 2, axis=-1), 2, axis=-2)[..., ::2, ::2],
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1, ::-1])[..., ::-1, ::-1],
    "transposed": lambda a: np.ascontiguousarray(a.mT).mT,
    "stack axis last": lambda a: np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("stack", [(), (3,)])
def test_inputs_may_have_any_layout_and_are_left_alone(
    path: str, layout: str, frozen: bool, stack: tuple[int, ...], with_spectrum: Make, orthonormal: Make
) -> None:
    plain = with_spectrum(6, np.linspace(0.9, 1.0, 6), stack)
    a, near = LAYOUTS[layout](plain), LAYOUTS[layout](orthonormal(6, 6, stack))
    for array in (a, near):
        array.setflags(write=not frozen)
    kept = near.copy()
    for low in (0.0, 0.3):
        factor, _ = polar(a, near=near, low=low)
        assert_is_polar(factor, plain)
        factor[...] = 7.0
    factor = polar_between(a, 0.9)
    assert_is_polar(factor, plain)
    factor[...] = 7.0
    np.testing.assert_array_equal(a, plain)
    np.testing.assert_array_equal(near, kept)


PATHS: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "compiled": nullcontext,
    "numpy": without_numba,
    "exact": by_singular_values,
}


@settings(deadline=None, max_examples=80)
@given(
    data=st.data(),
    low=st.one_of(st.just(0.0), st.floats(0.0, 1.0), st.floats(LOWEST, 1e-5)),
    name=st.sampled_from(list(PATHS)),
)
def test_any_matrix_is_its_factor_times_a_positive_one(data: st.DataObject, low: float, name: str) -> None:
    columns = data.draw(st.integers(1, 5))
    shape = (*data.draw(st.sampled_from([(), (2,)])), columns + data.draw(st.integers(0, 4)), columns)
    entries = st.one_of(st.integers(-3, 3).map(float), st.floats(-10.0, 10.0, allow_subnormal=False))
    a = data.draw(arrays(np.float64, shape, elements=entries))
    near = data.draw(st.one_of(st.none(), arrays(np.float64, shape, elements=st.floats(-1.0, 1.0, width=16))))
    with PATHS[name]():
        factor, _ = polar(a, near=near, low=low)
    assert distance_from_orthonormal(factor) <= 1e-13
    # The near point moves the factor of a nearly singular matrix, by what costs at most 1e-6 of the norm.
    limit = (1e-6 if near is not None else 1e-8) * (float(np.abs(a).max()) * columns + 1e-300)
    rest = factor.mT @ a  # the other factor: symmetric, without negative eigenvalues, and a is their product
    np.testing.assert_allclose(rest, rest.mT, atol=limit)
    assert np.linalg.eigvalsh(0.5 * (rest + rest.mT)).min() >= -limit
    np.testing.assert_allclose(factor @ rest, a, atol=limit)


# Between known bounds.


@pytest.mark.parametrize("low", [0.0, 1e-5, 2e-4, 1e-3, 0.02, 0.3, 0.6, 0.69, 0.7, 0.9, 0.999, 1.0])
def test_factor_between_bounds_matches_singular_values(path: str, low: float, with_spectrum: Make) -> None:
    least = max(low, 1e-6)
    for rows, columns, stack in SHAPES:
        inside = {
            "even": np.linspace(least, 1.0, columns)[::-1],
            "all low": np.full(columns, least),
            "all one": np.ones(columns),
            "steep": np.geomspace(1.0, least, columns),
        }
        for name, values in inside.items():
            a = with_spectrum(rows, values, stack)
            assert_is_polar(polar_between(a, low), a, f"{rows} x {columns} {stack}, {name}", 0.3)


@pytest.mark.parametrize("low", [0.02, 0.5, 0.7, 0.9, 1.0])
def test_bounds_may_be_missed_by_what_an_oracle_may_miss(path: str, low: float, with_spectrum: Make) -> None:
    slack = VERTEX_TOLERANCE
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.linspace(1.0 + slack, low - slack, columns), stack)
        assert_is_polar(polar_between(a, low), a, f"{rows} x {columns} {stack}", 0.3)
