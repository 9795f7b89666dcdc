"""Polar factors against singular values, whichever path computes them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import linalg

from orthostream._typing import FloatArray
from orthostream.optimize import NuclearBall
from orthostream.optimize.polar_decomposition import (
    Path,
    accelerated,
    exact_polar,
    kernel,
    limited_to,
    polar,
    polar_between,
)
from orthostream.optimize.polar_decomposition.exact import thin_svd

Make = Callable[..., FloatArray]

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
ACCURACIES = {np.float64: kernel.DOUBLE, np.float32: kernel.SINGLE}
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def reference(a: FloatArray) -> FloatArray:
    u, _, vt = np.linalg.svd(a.astype(np.float64), full_matrices=False)
    product: FloatArray = u @ vt
    return product


def distance_from_orthonormal(factor: FloatArray) -> float:
    """Return how far from 1 a singular value is."""
    return float(np.abs(np.linalg.svd(factor.astype(np.float64), compute_uv=False) - 1.0).max())


def assert_is_polar(factor: FloatArray, a: FloatArray, tolerance: float, what: str = "") -> None:
    """Check against singular values; what rounding does to a polar factor grows with the condition number."""
    rounding = float(np.finfo(a.dtype).eps)
    columns = a.shape[-1]
    assert factor.shape == a.shape, what
    assert factor.dtype == a.dtype, what
    off = distance_from_orthonormal(factor)
    assert off <= 1.01 * tolerance + 10.0 * columns**0.5 * rounding, f"{what}: singular values off by {off}"
    u, values, vt = np.linalg.svd(a.astype(np.float64), full_matrices=False)
    condition = float((values[..., 0] / np.maximum(values[..., -1], 1e-300)).max())
    if condition * rounding < 1e-3:
        error = float(np.abs(factor - u @ vt).max())
        limit = 1.01 * tolerance + 30.0 * columns**0.5 * rounding * condition
        assert error <= limit, f"{what}: {error} from the SVD's factor, {limit} allowed"


def spectra(columns: int, condition: float) -> dict[str, FloatArray]:
    one = np.ones(columns)
    one[-1] = 1.0 / condition
    return {
        "even": np.geomspace(1.0, 1.0 / condition, columns),
        "one small": one,
        "one large": 1.0 / (condition * one[::-1]),
    }


@each_dtype
@pytest.mark.parametrize("condition", [1.0, 3.0, 30.0, 1e3, 4e3, 1e5, 1e8, 1e12])
@pytest.mark.parametrize("guess", ["none", "good", "far too large", "far too small"])
def test_factor_matches_singular_values(
    path: str, guess: str, condition: float, dtype: Any, with_spectrum: Make
) -> None:
    accuracy = ACCURACIES[dtype]
    low = {"none": 0.0, "good": 0.5 / condition, "far too large": 0.9, "far too small": accuracy.lowest}[guess]
    for rows, columns, stack in SHAPES:
        for name, values in spectra(columns, condition).items():
            a = (37.0 * with_spectrum(rows, values, stack)).astype(dtype)
            factor, following = polar(a, low=low if not stack else np.full(stack, low))
            assert_is_polar(factor, a, accuracy.vertex, f"{rows} x {columns} {stack}, {name}")
            assert np.shape(following) == stack
            assert np.all((np.asarray(following) >= 0.0) & (np.asarray(following) < 1.0))


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-13])
def test_tolerance_is_kept(path: str, tolerance: float, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.geomspace(1.0, 0.01, columns), stack)
        assert_is_polar(polar(a, low=0.004, tolerance=tolerance)[0], a, tolerance, f"{rows} x {columns} {stack}")


def test_sign_turns_the_factor(path: str, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.geomspace(1.0, 0.1, columns), stack)
        for low in (0.0, 0.04):
            np.testing.assert_allclose(polar(a, low=low, sign=-1.0)[0], -polar(a, low=low)[0], atol=1e-12)


def test_guess_that_is_carried_on_finds_the_truth(path: str, with_spectrum: Make) -> None:
    for stack in ((), (3,)):
        a = with_spectrum(30, np.geomspace(1.0, 0.02, 30), stack)
        for start in (0.0, 1e-3, 0.9):
            low: Any = np.full(stack, start) if stack else start
            for call in range(150):
                factor, low = polar(a, low=low)
                if call % 10 == 0:
                    assert_is_polar(factor, a, kernel.DOUBLE.vertex)
            # The matrix is scaled by a norm that may exceed the largest singular value, here at most 30^(1/4) times.
            assert 0.2 * 0.02 < np.min(low) < 2.0 * 0.02


@each_dtype
def test_matrices_of_a_stack_do_not_mind_each_other(path: str, dtype: Any, with_spectrum: Make) -> None:
    easy, hard = with_spectrum(6, np.ones(6)), with_spectrum(6, np.geomspace(1.0, 0.03, 6))
    scales = np.array([1e-3, 1.0, 1e3])[:, None, None]
    stack = (scales * np.stack([easy, hard, easy @ hard])).astype(dtype)
    for low in (0.0, 0.02, 0.9):
        factors, _ = polar(stack, low=np.full(3, low))
        for factor, a in zip(factors, stack, strict=True):
            assert_is_polar(factor, a, ACCURACIES[dtype].vertex)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-81, 1e-77, 1e76, 1e80, 1e150, 1e300])
@pytest.mark.parametrize("stack", [(), (2,)])
def test_scale_does_not_matter(path: str, scale: float, stack: tuple[int, ...], with_spectrum: Make) -> None:
    for columns in (6, 24):
        a = with_spectrum(columns, np.geomspace(1.0, 0.2, columns), stack)
        for low in (0.0, 0.1):
            np.testing.assert_allclose(polar(scale * a, low=low)[0], reference(a), atol=3e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-15, 1e15, 1e30])
@pytest.mark.parametrize("stack", [(), (2,)])
def test_scale_does_not_matter_in_single_precision(
    path: str, scale: float, stack: tuple[int, ...], with_spectrum: Make
) -> None:
    for columns in (6, 24):
        a = with_spectrum(columns, np.geomspace(1.0, 0.2, columns), stack)
        for low in (0.0, 0.1):
            np.testing.assert_allclose(polar((scale * a).astype(np.float32), low=low)[0], reference(a), atol=1e-5)


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
        assert_is_polar(factor, plain, kernel.DOUBLE.vertex)
        factor[...] = 7.0
    factor = polar_between(a, 0.9)
    assert_is_polar(factor, plain, kernel.DOUBLE.iterate)
    factor[...] = 7.0
    np.testing.assert_array_equal(a, plain)
    np.testing.assert_array_equal(near, kept)


@settings(deadline=None, max_examples=80)
@given(data=st.data(), low=st.one_of(st.just(0.0), st.floats(0.0, 1.0)), limit=st.sampled_from(Path))
def test_any_matrix_is_its_factor_times_a_positive_one(data: st.DataObject, low: float, limit: Path) -> None:
    columns = data.draw(st.integers(1, 5))
    shape = (*data.draw(st.sampled_from([(), (2,)])), columns + data.draw(st.integers(0, 4)), columns)
    entries = st.one_of(st.integers(-3, 3).map(float), st.floats(-10.0, 10.0, allow_subnormal=False))
    a = data.draw(arrays(np.float64, shape, elements=entries))
    near = data.draw(st.one_of(st.none(), arrays(np.float64, shape, elements=st.floats(-1.0, 1.0, width=16))))
    with limited_to(limit):
        factor, _ = polar(a, near=near, low=low)
    assert distance_from_orthonormal(factor) <= 2e-9
    size = float(np.abs(a).max()) * columns + 1e-300
    rest = factor.mT @ a  # the other factor: symmetric, without negative eigenvalues, and a is their product
    np.testing.assert_allclose(rest, rest.mT, atol=1e-8 * size)
    assert np.linalg.eigvalsh(0.5 * (rest + rest.mT)).min() >= -1e-8 * size
    np.testing.assert_allclose(factor @ rest, a, atol=1e-8 * size)


# Rank-deficient matrices: least motion.

RANKS = [(5, 5, 3), (5, 5, 4), (5, 5, 0), (7, 4, 2), (12, 3, 1), (8, 3, 0), (24, 24, 20)]


@each_dtype
@pytest.mark.parametrize(("rows", "columns", "rank"), RANKS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_least_motion_is_the_limit(
    path: str, rows: int, columns: int, rank: int, sign: float, dtype: Any, with_spectrum: Make, rng: Any
) -> None:
    values = np.r_[np.arange(1.0, rank + 1), np.zeros(columns - rank)]
    exact = with_spectrum(rows, values)
    rounding = float(np.finfo(dtype).eps)
    for near in (with_spectrum(rows, np.ones(columns)), 0.2 * rng.standard_normal((rows, columns))):
        limit = sign * reference(exact + sign * 1e-8 * near)
        for low in (0.0, 0.3):  # a guess that cannot be right must not do harm
            factor, following = polar(exact.astype(dtype), near=near.astype(dtype), low=low, sign=sign)
            assert following == 0.0
            assert factor.dtype == dtype
            assert distance_from_orthonormal(factor) <= 30.0 * rounding
            # The single-precision input is off by its rounding, which the gap of the spectrum (1) passes on.
            np.testing.assert_allclose(factor, limit, atol=1e-6 + 300.0 * rounding)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (9, 3)])
def test_zero_matrix_keeps_the_near_point(path: str, rows: int, columns: int, sign: float, orthonormal: Make) -> None:
    near = orthonormal(rows, columns)
    for low in (0.0, 0.5):
        factor, following = polar(np.zeros((rows, columns)), near=near, low=low, sign=sign)
        np.testing.assert_allclose(factor, near, atol=1e-14)
        assert following == 0.0
        assert not np.shares_memory(factor, near)


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
    assert np.asarray(following)[0, 0] > 0.0
    assert not np.asarray(following)[[0, 1, 1], [1, 0, 1]].any()
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
    assert following == 0.0
    assert distance_from_orthonormal(factor) <= 1e-13
    assert float((a * factor).sum()) == pytest.approx(values.sum(), abs=1e-11)


# Input that has no polar factor, and a LAPACK that gives up.


#: Run in a process of its own, which can be ended: LAPACK may loop for ever over infinite numbers. It does everything
#: once with a harmless number, which compiles what has to be compiled, and then again against the clock.
STRANGE = """
import faulthandler
import sys
import numpy as np
from orthostream.optimize import ConstantSchedule, LpContrast, PolarStep, StochasticFrankWolfe
from orthostream.optimize import NuclearBall, SpectralBall
from orthostream.optimize.polar_decomposition import Path, limited_to, polar, polar_between


def attempt(what, function):
    print(what, end=" ", flush=True)
    try:
        answer = function()
    except (ValueError, np.linalg.LinAlgError):
        print("refused", flush=True)
    else:
        print("finite" if np.isfinite(answer).all() else "undefined", flush=True)


def attempt_all(value):
    rng = np.random.default_rng(0)
    for limit in Path:
        with limited_to(limit), np.errstate(all="ignore"):
            for dtype in (np.float64, np.float32):
                for shape in ((5, 5), (7, 1), (9, 3), (17, 17), (30, 30), (50, 20), (2, 5, 5), (2, 9, 4)):
                    a = rng.standard_normal(shape).astype(dtype)
                    a[..., 0, 0] = value
                    what = f"{limit}-{np.dtype(dtype)}-{shape}".replace(" ", "")
                    for low in (0.0, 0.2):
                        attempt(f"polar-{low}-{what}", lambda: polar(a, low=low)[0])
                        attempt(f"near-{low}-{what}", lambda: polar(a, near=np.zeros_like(a), low=low)[0])
                    for low in (0.0, 0.2, 0.9):
                        attempt(f"between-{low}-{what}", lambda: polar_between(a, low))
                    for feasible in (SpectralBall(), NuclearBall()):
                        attempt(f"lmo-{type(feasible).__name__}-{what}", lambda: feasible.lmo(a))
            solver = StochasticFrankWolfe(SpectralBall(), LpContrast(), ConstantSchedule(0.2, 0.1), PolarStep())
            state, batch = solver.init(np.eye(5)), rng.standard_normal((20, 5))
            for _ in range(5):
                state = solver.step(state, batch)
            batch[3, 2] = value
            attempt(f"step-{limit}", lambda: solver.step(state, batch).x)


attempt_all(1.0)
print("ready", flush=True)
faulthandler.dump_traceback_later(8, exit=True)
attempt_all(float(sys.argv[1]))
print("done", flush=True)
"""


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_no_number_is_an_error_and_no_hang(value: str) -> None:
    process = subprocess.run([sys.executable, "-c", STRANGE, value], capture_output=True, text=True, timeout=300)
    harmless, _, strange = process.stdout.partition("ready")
    assert harmless.count(" finite") == harmless.count("-Path.") > 300
    lines = [line for line in strange.splitlines() if "-" in line or line == "done"]  # LAPACK prints lines of its own
    assert lines[-1] == "done", f"stuck or broken at {lines[-1]!r}: {process.stderr}"
    assert not [line for line in lines if line.endswith(" finite")]


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


@each_dtype
@pytest.mark.parametrize("condition", [1.0, 1e3, 1e6])
def test_exact_path_knows_the_condition(condition: float, dtype: Any, with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        values = np.geomspace(1.0, 1.0 / condition, columns)
        a = with_spectrum(rows, values, stack).astype(dtype)
        factor, ratio = exact_polar(a)
        assert_is_polar(factor, a, 0.0)
        np.testing.assert_allclose(ratio, values[-1], rtol=100.0 * np.finfo(dtype).eps * condition)


# Between known bounds.


@each_dtype
@pytest.mark.parametrize("low", [0.0, 1e-5, 2e-4, 1e-3, 0.02, 0.3, 0.6, 0.69, 0.7, 0.9, 0.999, 1.0])
def test_factor_between_bounds_matches_singular_values(path: str, low: float, dtype: Any, with_spectrum: Make) -> None:
    least = max(low, 1e-6)
    for rows, columns, stack in SHAPES:
        inside = {
            "even": np.linspace(least, 1.0, columns)[::-1],
            "all low": np.full(columns, least),
            "all one": np.ones(columns),
            "steep": np.geomspace(1.0, least, columns),
        }
        for name, values in inside.items():
            a = with_spectrum(rows, values, stack).astype(dtype)
            assert_is_polar(polar_between(a, low), a, ACCURACIES[dtype].iterate, f"{rows} x {columns} {stack}, {name}")


@pytest.mark.parametrize("low", [0.02, 0.5, 0.7, 0.9, 1.0])
def test_bounds_may_be_missed_by_what_an_oracle_may_miss(path: str, low: float, with_spectrum: Make) -> None:
    slack = kernel.DOUBLE.vertex
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.linspace(1.0 + slack, low - slack, columns), stack)
        assert_is_polar(polar_between(a, low), a, kernel.DOUBLE.iterate, f"{rows} x {columns} {stack}")


# Which path is taken.


def in_a_fresh_process(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


ASK = "from orthostream.optimize.polar_decomposition import accelerated, polar; import numpy as np; "
ANSWER = "print(accelerated() is None, polar(np.diag([3.0, -2.0]), low=0.5)[0].round(6).tolist())"


def test_environment_turns_the_compiled_path_off() -> None:
    assert in_a_fresh_process(ASK + ANSWER, ORTHOSTREAM_FAST="0") == "True [[1.0, 0.0], [0.0, -1.0]]"


def test_package_works_without_numba() -> None:
    without = "import sys; sys.modules['numba'] = None; "
    answer = in_a_fresh_process(without + ASK + ANSWER, ORTHOSTREAM_FAST="1")
    assert answer == "True [[1.0, 0.0], [0.0, -1.0]]"


@pytest.mark.parametrize("limit", [Path.EXACT, Path.NUMPY])
def test_limit_ends_with_its_block(limit: Path) -> None:
    before = accelerated()
    with limited_to(limit):
        assert accelerated() is None
        with limited_to(Path.NUMPY):
            assert accelerated() is None
        assert accelerated() is None
    assert accelerated() is before
    with pytest.raises(KeyError), limited_to(limit):
        raise KeyError
    assert accelerated() is before


def test_limit_to_the_exact_path_is_exact(with_spectrum: Make) -> None:
    for rows, columns, stack in SHAPES:
        a = with_spectrum(rows, np.linspace(1.0, 0.9, columns), stack)
        with limited_to(Path.EXACT):
            assert_is_polar(polar(a, low=0.5)[0], a, 0.0)
            assert_is_polar(polar_between(a, 0.9), a, 0.0)
        # A loose tolerance shows that the other paths are another thing.
    with limited_to(Path.NUMPY):
        assert distance_from_orthonormal(polar(a, low=0.5, tolerance=1e-3)[0]) > 1e-9


def test_module_can_be_named_like_any_other() -> None:
    code = "import orthostream.optimize.polar_decomposition.kernel as kernel; print(kernel.LOWEST > 0)"
    assert in_a_fresh_process(code) == "True"
