"""The exact path: singular values, least motion, and eigenvalues of small Gram matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from orthostream._typing import FloatArray
from orthostream.optimize import NuclearBall
from orthostream.optimize.polar_decomposition import by_singular_values, exact_polar, polar, polar_between
from orthostream.optimize.polar_decomposition.chosen_path import PATIENT
from orthostream.optimize.polar_decomposition.coefficients import LOWEST, RIDGED
from orthostream.optimize.polar_decomposition.exact import eigen_polar, thin_svd

Make = Callable[..., FloatArray]
EPS = 2.0**-52
SHAPES = [(1, 1, ()), (5, 5, ()), (40, 40, ()), (9, 4, ()), (50, 25, ()), (7, 1, ()), (6, 6, (3,)), (8, 5, (2, 2))]


def reference(a: FloatArray) -> FloatArray:
    u, _, vt = np.linalg.svd(a, full_matrices=False)
    product: FloatArray = u @ vt
    return product


def distance_from_orthonormal(factor: FloatArray) -> float:
    """Return how far from 1 a singular value is."""
    return float(np.abs(np.linalg.svd(factor, compute_uv=False) - 1.0).max())


@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6, 1e10])
def test_exact_path_knows_the_condition(condition: float, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        values = np.geomspace(1.0, 1.0 / condition, columns)
        a = with_spectrum(rows, values, stack)
        factor, ratio = exact_polar(a)
        assert distance_from_orthonormal(factor) <= 10.0 * columns**0.5 * EPS
        np.testing.assert_allclose(factor, reference(a), atol=30.0 * columns**0.5 * EPS * condition)
        np.testing.assert_allclose(ratio, values[-1], rtol=100.0 * EPS * condition)
        with by_singular_values():  # half of the ratio is the guess to carry on
            np.testing.assert_allclose(
                polar(a, low=0.5)[1], np.where(ratio < 2.0 * RIDGED, -1.0, 0.5 * ratio), rtol=100.0 * EPS * condition
            )


# Eigenvalues of the Gram matrix.


@pytest.mark.parametrize("condition", [1.0, 3.0, 10.0, 30.0])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (5, 5), (20, 20), (9, 4), (7, 1)])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_eigenvalues_give_the_factor(
    condition: float, rows: int, columns: int, scale: float, with_spectrum: Make
) -> None:
    values = np.geomspace(1.0, 1.0 / condition, columns)
    a = scale * with_spectrum(rows, values)
    a.setflags(write=False)
    found = eigen_polar(a)
    assert found is not None
    factor, ratio = found
    assert distance_from_orthonormal(factor) <= 10.0 * columns**0.5 * EPS
    np.testing.assert_allclose(factor, reference(a), atol=(30.0 * columns**0.5 + condition) * EPS * condition)
    assert ratio == pytest.approx(values[-1], rel=1e-14 * condition**2)


@pytest.mark.parametrize("a", [np.diag([1.0, 9.9e-4]), np.diag([1.0, 1e-8]), np.diag([1.0, 0.0]), np.zeros((4, 3))])
def test_eigenvalues_decline_beyond_a_condition_of_31(a: FloatArray) -> None:
    assert eigen_polar(a) is None


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.usefixtures("no_hang")
def test_eigenvalues_decline_what_has_no_gram_matrix(value: float) -> None:
    a = np.eye(5)
    a[1, 2] = value
    with np.errstate(all="ignore"):
        assert eigen_polar(a) is None


# Rank-deficient matrices: least motion.

RANKS = [(5, 5, 3), (5, 5, 4), (5, 5, 0), (7, 4, 2), (12, 3, 1), (8, 3, 0), (24, 24, 20), (60, 24, 20)]


@pytest.mark.parametrize(("rows", "columns", "rank"), RANKS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_least_motion_is_the_limit(
    path: str, rows: int, columns: int, rank: int, sign: float, with_spectrum: Make, rng: Any
) -> None:
    values = np.r_[np.arange(1.0, rank + 1), np.zeros(columns - rank)]
    exact = with_spectrum(rows, values)
    for near in (with_spectrum(rows, np.ones(columns)), 0.2 * rng.standard_normal((rows, columns))):
        limit = sign * reference(exact + sign * 1e-8 * near)
        for low in (0.0, 0.3):  # a guess that cannot be right must not do harm
            factor, following = polar(exact, near=near, low=low, sign=sign)
            assert following == -1.0  # counted as nearly singular
            assert distance_from_orthonormal(factor) <= 30.0 * EPS
            np.testing.assert_allclose(factor, limit, atol=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (9, 3)])
def test_zero_matrix_keeps_the_near_point(path: str, rows: int, columns: int, sign: float, orthonormal: Make) -> None:
    near = orthonormal(rows, columns)
    for low in (0.0, 0.5):
        factor, following = polar(np.zeros((rows, columns)), near=near, low=low, sign=sign)
        np.testing.assert_allclose(factor, near, atol=1e-14)
        assert following == -1.0  # counted as nearly singular
        assert not np.shares_memory(factor, near)


def test_exact_path_is_taken_for_a_while_before_products_are_tried(
    path: str, with_spectrum: Make, orthonormal: Make
) -> None:
    near, low = orthonormal(6, 6), 0.0
    guesses = []
    for _ in range(PATIENT + 1):
        a = with_spectrum(6, [3.0, 2.0, 1.0, 1.0, 0.0, 0.0])
        factor, following = polar(a, near=near, low=low)
        np.testing.assert_array_equal(factor, exact_polar(a, near)[0])
        low = float(following)
        guesses.append(low)
    assert guesses == [*(-float(call) for call in range(1, PATIENT + 1)), LOWEST]
    ordinary = with_spectrum(6, np.linspace(1.0, 0.4, 6))
    assert polar(ordinary, near=near, low=-5.0)[1] == pytest.approx(0.2)  # no reason to wait any longer


def test_exactly_orthogonal_points_come_back_unchanged(path: str) -> None:
    near = np.array([[0.0, -1.0], [1.0, 0.0]])
    np.testing.assert_array_equal(polar(np.zeros((2, 2)), near=near)[0], near)


def test_part_that_is_silent_keeps_the_near_point(path: str, orthonormal: Make) -> None:
    near, u = orthonormal(6, 6), orthonormal(6, 6)
    v = near.T @ u  # near maps v to u: it agrees already with what a says, and nothing needs to move
    a = u[:, :2] @ np.diag([2.0, 1.0]) @ v[:, :2].T
    np.testing.assert_allclose(polar(a, near=near)[0], near, atol=1e-13)


def test_stack_mixes_full_and_deficient_matrices(path: str, with_spectrum: Make, orthonormal: Make) -> None:
    near = orthonormal(5, 4, (2, 2))
    a = np.stack(
        [
            [with_spectrum(5, [4.0, 3.0, 2.0, 1.0]), with_spectrum(5, [4.0, 3.0, 0.0, 0.0])],
            [np.zeros((5, 4)), with_spectrum(5, [1e-9, 0.0, 0.0, 0.0])],
        ]
    )
    factors, following = polar(a, near=near, low=np.full((2, 2), 0.1))
    for index in np.ndindex(2, 2):
        np.testing.assert_allclose(factors[index], polar(a[index], near=near[index])[0], atol=1e-12)
    assert np.asarray(following)[0, 0] > LOWEST
    assert (np.asarray(following)[[0, 1, 1], [1, 0, 1]] == -1.0).all()
    shared, _ = polar(a, near=near[0, 0])  # one point near which all of them stay
    np.testing.assert_allclose(shared[1, 0], near[0, 0], atol=1e-14)


@pytest.mark.parametrize("lost", [1, 2, 3])
@pytest.mark.parametrize("rows", [6, 9, 14])
def test_near_point_without_a_part_in_the_complement(path: str, rows: int, lost: int, orthonormal: Make) -> None:
    u, v = orthonormal(rows, 6), orthonormal(6, 6)
    a = u[:, :3] @ np.diag([3.0, 2.0, 1.0]) @ v[:, :3].T
    near = u[:, : 6 - lost] @ v[:, : 6 - lost].T  # says nothing of the last directions, as a does
    factor, _ = polar(a, near=near)
    assert distance_from_orthonormal(factor) <= 1e-14
    np.testing.assert_allclose(factor @ v[:, : 6 - lost], u[:, : 6 - lost], atol=1e-13)


@pytest.mark.parametrize("rest", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13, 1e-14, 1e-15])
def test_near_point_with_hardly_a_part_in_the_complement(path: str, rest: float, orthonormal: Make) -> None:
    q, v = orthonormal(6, 6), orthonormal(6, 6)
    near = q @ v.T
    # a sends something close to (q0 - q1) elsewhere, so of near's q0 and q1 hardly more than their sum is left.
    taken = (q[:, 0] - q[:, 1]) / 2.0**0.5 + rest * q[:, 5]
    u = np.linalg.qr(np.column_stack([taken, q[:, 2:5]]))[0]
    a = u @ v[:, 2:].T
    factor, _ = polar(a, near=near)
    assert distance_from_orthonormal(factor) <= 1e-13
    np.testing.assert_allclose(factor @ v[:, 2:], u, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1e20, 1e100])
def test_length_of_the_near_point_does_not_matter(path: str, scale: float, with_spectrum: Make) -> None:
    a, near = with_spectrum(5, [2.0, 1.0, 0.0, 0.0]), with_spectrum(5, np.ones(4))
    np.testing.assert_allclose(polar(a, near=scale * near)[0], polar(a, near=near)[0], atol=1e-12)


@pytest.mark.parametrize(("rows", "columns", "rank"), RANKS)
def test_without_a_near_point_any_factor_will_do(
    path: str, rows: int, columns: int, rank: int, with_spectrum: Make
) -> None:
    values = np.r_[np.arange(1.0, rank + 1), np.zeros(columns - rank)]
    a = with_spectrum(rows, values)
    factor, following = polar(a, low=0.4)
    assert following == -1.0
    assert distance_from_orthonormal(factor) <= 1e-13
    assert float((a * factor).sum()) == pytest.approx(values.sum(), abs=1e-11)


# A LAPACK that gives up.


def give_up(*_: Any, **__: Any) -> None:
    raise np.linalg.LinAlgError("SVD did not converge")


@pytest.mark.parametrize("shape", [(4, 4), (9, 3), (2, 3, 6, 4), (3, 2, 5)])
def test_gesvd_takes_over_where_gesdd_gives_up(shape: tuple[int, ...], monkeypatch: Any, rng: Any) -> None:
    a = rng.standard_normal(shape)
    expected = np.linalg.svd(a, full_matrices=False)
    drivers = []

    def watched(one: FloatArray, **options: Any) -> Any:
        drivers.append(options["lapack_driver"])
        return svd(one, **options)

    svd = linalg.svd
    monkeypatch.setattr(linalg, "svd", watched)
    monkeypatch.setattr(np.linalg, "svd", give_up)
    u, s, vt = thin_svd(a)
    assert drivers == ["gesvd"] * int(np.prod(shape[:-2]))
    assert [part.shape for part in (u, s, vt)] == [part.shape for part in expected]
    np.testing.assert_allclose(s, expected[1], atol=1e-13)
    np.testing.assert_allclose((u * s[..., None, :]) @ vt, a, atol=1e-13)


def test_factor_and_oracles_survive_gesdd(path: str, monkeypatch: Any, with_spectrum: Make, orthonormal: Make) -> None:
    full, deficient = with_spectrum(6, np.arange(1.0, 7.0)), with_spectrum(6, [3.0, 2.0, 1.0, 0.0, 0.0, 0.0])
    near = orthonormal(6, 6)

    def answers() -> list[FloatArray]:
        return [
            polar(full)[0],
            polar(np.stack([full, deficient]), near=near)[0],
            polar_between(full / 6.0, 0.0),
            NuclearBall().lmo(full),
        ]

    expected = answers()
    monkeypatch.setattr(np.linalg, "svd", give_up)
    for answer, wanted in zip(answers(), expected, strict=True):
        np.testing.assert_allclose(answer, wanted, atol=1e-12)
