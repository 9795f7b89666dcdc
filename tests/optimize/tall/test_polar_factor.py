"""Polar factors that are never formed, against SciPy's; and what is read from a file."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import linalg, sparse

from orthostream._typing import FloatArray
from orthostream.optimize import PolarFactor, SparseRows, SpectralBall, TallMatrix, polar

Rng = np.random.Generator
each_type = pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])


def tall(rng: Rng, dtype: Any = float, shape: tuple[int, int] = (50, 4), scale: float = 1.0) -> TallMatrix:
    """A matrix with rows of zeros."""
    rows = rng.standard_normal(shape).astype(dtype)
    rows[::3] = 0.0
    return TallMatrix(rows, scale)


@each_type
@pytest.mark.parametrize("shape", [(50, 4), (7, 7), (9, 1), (1, 1)])
def test_factor_is_that_of_scipy(shape: tuple[int, int], dtype: Any, tolerance: float, rng: Rng) -> None:
    rows = rng.standard_normal(shape).astype(dtype)
    factor = PolarFactor(TallMatrix(rows, 0.1))
    expected = linalg.polar(rows.astype(float))[0]
    condition = np.linalg.cond(rows.astype(float)) ** 2
    np.testing.assert_allclose(factor.dense(), expected, atol=tolerance * max(1.0, 1e-2 * condition))
    assert factor.shape == shape
    assert factor.dtype == dtype
    assert factor.empty.shape == (shape[1], 0)


@each_type
def test_coefficients_are_those_of_the_formed_factor(dtype: Any, tolerance: float, rng: Rng) -> None:
    factor = PolarFactor(tall(rng, dtype))
    samples = sparse.random_array((8, 50), density=0.2, random_state=rng, format="csr")
    expected = samples.toarray() @ factor.dense()
    for given in (samples, samples.tocsc(), SparseRows(samples, dtype), samples.toarray()):
        np.testing.assert_allclose(given @ factor, expected, atol=tolerance)
    assert (SparseRows(samples, dtype) @ factor).dtype == dtype


@each_type
def test_columns_are_orthonormal(dtype: Any, tolerance: float, rng: Rng) -> None:
    made = PolarFactor(tall(rng, dtype)).dense()
    np.testing.assert_allclose(made.T @ made, np.eye(4), atol=tolerance)


@each_type
@pytest.mark.parametrize("radius", [1.0, 2.5])
def test_oracle_of_the_spectral_ball_is_minus_the_polar_factor(
    radius: float, dtype: Any, tolerance: float, rng: Rng
) -> None:
    gradient: Any = tall(rng, dtype)
    formed = gradient.dense()
    for vertex in (SpectralBall(radius).lmo(gradient), SpectralBall(radius).oracle(gradient, formed, 0.0)[0]):
        assert isinstance(vertex, PolarFactor)
        np.testing.assert_allclose(np.asarray(vertex), -radius * polar(formed)[0], atol=radius * tolerance)


def test_it_is_an_array_where_it_is_used_as_one(rng: Rng) -> None:
    factor = PolarFactor(tall(rng))
    formed = factor.dense()
    np.testing.assert_array_equal(np.asarray(factor), formed)
    np.testing.assert_array_equal(factor - 2 * formed, -formed)
    np.testing.assert_array_equal(factor - factor, np.zeros_like(formed))
    assert np.asarray(factor, dtype=np.float32).dtype == np.float32
    assert np.linalg.norm(factor) == pytest.approx(2.0)


@each_type
def test_empty_directions_are_named_and_not_blown_up(dtype: Any, tolerance: float, rng: Rng) -> None:
    rows = np.zeros((50, 4), dtype=dtype)
    rows[:, :2] = rng.standard_normal((50, 2))
    factor = PolarFactor(TallMatrix(rows))
    np.testing.assert_allclose(np.abs(factor.empty.T @ np.eye(4)[:, :2]), np.zeros((2, 2)), atol=1e-6)
    np.testing.assert_allclose(factor.empty.T @ factor.empty, np.eye(2), atol=1e-12)
    sizes = np.linalg.svd(factor.dense(), compute_uv=False)
    np.testing.assert_allclose(sizes, [1.0, 1.0, 0.0, 0.0], atol=tolerance)


def test_a_matrix_of_zeros_has_a_factor_of_zeros() -> None:
    factor = PolarFactor(TallMatrix.zeros((5, 2)))
    np.testing.assert_array_equal(factor.dense(), np.zeros((5, 2)))
    assert factor.empty.shape == (2, 2)


def test_random_start_mixes_the_samples(rng: Rng) -> None:
    samples = sparse.random_array((30, 200), density=0.05, random_state=rng, format="csr")
    factor = PolarFactor.random(samples, 4, np.random.default_rng(1))
    formed = factor.dense()
    np.testing.assert_allclose(formed.T @ formed, np.eye(4), atol=1e-5)
    span = linalg.orth(samples.toarray().T)
    np.testing.assert_allclose(span @ (span.T @ formed), formed, atol=1e-5)
    again = PolarFactor.random(samples, 4, np.random.default_rng(1))
    assert again.dense().tobytes() == formed.tobytes()
    assert factor.dtype == np.float32
    assert PolarFactor.random(samples, 4, rng, np.float64).dtype == np.float64


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rows_can_be_removed(sign: float, rng: Rng) -> None:
    matrix = tall(rng)
    rest = matrix.dense()
    rest[[4, 8]] = 0.0
    factor = PolarFactor(matrix, sign).without(np.array([4, 8]))
    np.testing.assert_allclose(factor.dense(), sign * linalg.polar(rest)[0], atol=1e-12)
    assert not factor.dense([4, 8]).any()


def through_a_file(factor: PolarFactor) -> PolarFactor:
    file = io.BytesIO()
    arrays: dict[str, Any] = dict(factor.to_arrays())
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as stored:
        return PolarFactor.from_arrays(dict(stored))


COPIES = {
    "copy": PolarFactor.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda factor: pickle.loads(pickle.dumps(factor)),
    "arrays": lambda factor: PolarFactor.from_arrays(factor.to_arrays()),
    "file": through_a_file,
}


@each_type
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_goes_on_bit_for_bit(copied: Any, dtype: Any, tolerance: float, rng: Rng) -> None:
    factor = PolarFactor(tall(rng, dtype, scale=0.3), -1.0)
    other = copied(factor)
    for _ in range(2):  # as copied, and after a step of both
        for name, array in factor.to_arrays().items():
            its = other.to_arrays()[name]
            assert its.dtype == array.dtype
            assert its.shape == array.shape
            assert its.tobytes() == array.tobytes()
        samples = SparseRows(sparse.random_array((8, 50), density=0.2, random_state=rng), dtype)
        weights = samples @ factor
        assert weights.tobytes() == (samples @ other).tobytes()
        factor, other = (PolarFactor(one.matrix.mixed(0.3, samples, weights), -1.0) for one in (factor, other))


def test_only_rows_that_are_not_zero_are_written(rng: Rng) -> None:
    arrays = PolarFactor(tall(rng)).to_arrays()
    assert arrays["used"].tolist() == [row for row in range(50) if row % 3]
    assert arrays["rows"].shape == (33, 4)


def changed(array: FloatArray, place: Any, value: float) -> FloatArray:
    copied = np.array(array)
    copied[place] = value
    return copied


HOSTILE: dict[str, tuple[str, Any]] = {
    **{
        f"{name} of {bad}": (name, lambda array, bad=bad: changed(array, ... if array.ndim == 0 else -1, bad))
        for name in ("shape", "used", "rows", "scale", "gram", "right")
        for bad in (np.nan, np.inf, -np.inf)
    },
    "negative columns": ("shape", lambda array: np.array([50.0, -4.0])),
    "negative rows": ("shape", lambda array: np.array([-50.0, 4.0])),
    "no columns": ("shape", lambda array: np.array([50.0, 0.0])),
    "more columns than rows": ("shape", lambda array: np.array([3.0, 4.0])),
    "half a row": ("shape", lambda array: np.array([50.5, 4.0])),
    "three axes": ("shape", lambda array: np.array([50.0, 4.0, 1.0])),
    "one axis": ("shape", lambda array: np.array([50.0])),
    "a shape of a shape": ("shape", lambda array: np.array([[50.0, 4.0]])),
    "terabytes": ("shape", lambda array: np.array([1e12, 4.0])),
    "more than all memory": ("shape", lambda array: np.array([1e300, 4.0])),
    "an overflowing product": ("shape", lambda array: np.array([2.0**52, 2.0**52])),
    "fewer rows than used": ("shape", lambda array: np.array([20.0, 4.0])),
    "other columns": ("shape", lambda array: np.array([50.0, 5.0])),
    "a row twice": ("used", lambda array: changed(array, 1, array[0])),
    "rows out of order": ("used", lambda array: array[::-1]),
    "a fraction of a row": ("used", lambda array: changed(array, 0, 0.5)),
    "a row below zero": ("used", lambda array: changed(array, 0, -1.0)),
    "a row too far": ("used", lambda array: changed(array, -1, 50.0)),
    "fewer used": ("used", lambda array: array[1:]),
    "used in a matrix": ("used", lambda array: array[:, None]),
    "fewer rows": ("rows", lambda array: array[1:]),
    "a scale of zero": ("scale", lambda array: np.array(0.0)),
    "a negative scale": ("scale", lambda array: np.array(-1.0)),
    "several scales": ("scale", lambda array: np.ones(2)),
    "a Gram matrix that is not square": ("gram", lambda array: array[:3]),
    "a right factor that is not square": ("right", lambda array: array[:, :3]),
    "too many empty directions": ("empty", lambda array: np.zeros((4, 5))),
    "empty directions of other length": ("empty", lambda array: np.zeros((3, 1))),
    "an empty vector": ("empty", lambda array: np.zeros(4)),
    "integers": ("rows", lambda array: array.astype(int)),
    "text": ("rows", lambda array: array.astype(str)),
    "half precision": ("rows", lambda array: array.astype(np.float16)),
    "objects": ("gram", lambda array: array.astype(object)),
}


@pytest.mark.parametrize("case", HOSTILE.values(), ids=HOSTILE)
def test_arrays_of_no_polar_factor_are_refused(case: tuple[str, Any], rng: Rng) -> None:
    name, damage = case
    arrays = PolarFactor(tall(rng)).to_arrays()
    with pytest.raises(ValueError, match="these arrays are no polar factor: "):
        PolarFactor.from_arrays(arrays | {name: damage(arrays[name])})


@pytest.mark.parametrize("name", ["shape", "used", "rows", "scale", "gram", "right", "empty"])
def test_missing_arrays_are_named(name: str, rng: Rng) -> None:
    arrays = PolarFactor(tall(rng)).to_arrays()
    del arrays[name]
    with pytest.raises(ValueError, match=f"no polar factor: {name} is missing"):
        PolarFactor.from_arrays(arrays)
