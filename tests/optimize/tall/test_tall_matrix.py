"""Tall matrices that a mini-batch changes only where it touches them, against arithmetic on ordinary arrays."""

from __future__ import annotations

import copy
import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream._typing import FloatArray
from orthostream.optimize import SparseRows, TallMatrix

Rng = np.random.Generator
TOLERANCES = {np.float32: 2e-6, np.float64: 1e-14}
each_type = pytest.mark.parametrize("dtype", TOLERANCES)


def batch(rng: Rng, dtype: Any = float, columns: int = 60, samples: int = 5) -> SparseRows:
    """Samples in the first half of the columns."""
    given = sparse.random_array((samples, columns // 2), density=0.1, random_state=rng, format="csr")
    return SparseRows(sparse.hstack([given, sparse.csr_array((samples, columns - columns // 2))]), dtype)


def dense(rows: SparseRows) -> FloatArray:
    full = np.zeros(rows.shape)
    full[:, rows.touched] = rows.entries.toarray()
    return full


def assert_close(found: FloatArray, expected: FloatArray, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max(), rtol=0.0)


@each_type
@pytest.mark.parametrize("rho", [0.0, 0.01, 0.5, 0.95, "random"])
def test_mixed_is_dense_arithmetic(rho: Any, dtype: Any, rng: Rng) -> None:
    expected = np.zeros((60, 4))
    found = TallMatrix.zeros((60, 4), dtype)
    for _ in range(300):
        rows, weights = batch(rng, dtype), rng.standard_normal((5, 4)).astype(dtype)
        share = float(rng.random()) if rho == "random" else rho
        products = dense(rows) @ expected
        np.testing.assert_allclose(found.product(rows), products, atol=30 * TOLERANCES[dtype] * np.abs(expected).max())
        found = found.mixed(share, rows, weights)
        expected = (1.0 - share) * expected + share * dense(rows).T @ weights
        assert_close(found.dense(), expected, 10 * TOLERANCES[dtype])
        assert_close(found.gram, expected.T @ expected, 10 * TOLERANCES[dtype])
    assert not found.rows[30:].any()
    assert found.dtype == dtype
    assert found.shape == (60, 4)


@each_type
def test_strong_forgetting_multiplies_the_scale_out(dtype: Any, rng: Rng) -> None:
    start = rng.standard_normal((60, 4)).astype(dtype)
    found, expected = TallMatrix(start.copy()), start.astype(float)
    scales = []
    for _ in range(40):
        rows, weights = batch(rng, dtype), rng.standard_normal((5, 4))
        found = found.mixed(0.9, rows, weights)
        expected = 0.1 * expected + 0.9 * dense(rows).T @ weights
        scales.append(found.scale)
    assert min(scales) >= 1e-9
    assert sum(after > before for before, after in pairwise(scales)) >= 3
    assert_close(found.dense(), expected, 10 * TOLERANCES[dtype])
    assert_close(found.gram, expected.T @ expected, 10 * TOLERANCES[dtype])


def test_rho_of_one_forgets_all(rng: Rng) -> None:
    rows, weights = batch(rng), rng.standard_normal((5, 4))
    found = TallMatrix(rng.standard_normal((60, 4)), 0.3).mixed(1.0, rows, weights)
    np.testing.assert_allclose(found.dense(), dense(rows).T @ weights, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.gram, found.dense().T @ found.dense(), rtol=1e-12)
    assert found.scale == 1.0


@pytest.mark.parametrize("samples", [0, 3])
def test_samples_without_entries_only_scale(samples: int, rng: Rng) -> None:
    start = rng.standard_normal((60, 4))
    found = TallMatrix(start.copy()).mixed(0.25, SparseRows(sparse.csr_array((samples, 60))), np.ones((samples, 4)))
    np.testing.assert_allclose(found.dense(), 0.75 * start, rtol=1e-15)
    np.testing.assert_allclose(found.gram, 0.75**2 * start.T @ start, rtol=1e-12)


def test_gram_matrix_of_the_given_rows_counts_the_scale(rng: Rng) -> None:
    start = rng.standard_normal((60, 4))
    start[::2] = 0.0
    np.testing.assert_allclose(TallMatrix(start, 0.5).gram, 0.25 * start.T @ start, rtol=1e-12)


def test_rows_can_be_removed(rng: Rng) -> None:
    start = rng.standard_normal((60, 4))
    matrix = TallMatrix(start.copy(), 0.5)
    rows = SparseRows(sparse.eye_array(60))
    matrix.product(rows)
    found = matrix.without(np.array([3, 50]))
    start[[3, 50]] = 0.0
    np.testing.assert_array_equal(found.dense(), 0.5 * start)
    np.testing.assert_array_equal(found.product(rows), 0.5 * start)
    np.testing.assert_allclose(found.gram, 0.25 * start.T @ start, rtol=1e-12)
    with pytest.raises(RuntimeError, match="changed by a later step"):
        matrix.dense()


def test_stored_rows_keep_their_type(rng: Rng) -> None:
    matrix = TallMatrix(rng.standard_normal((60, 4)).astype(np.float32), 0.5)
    found = matrix.stored(np.array([7, 2]))
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, matrix.dense([7, 2]))


USES = {
    "mixed": lambda matrix: matrix.mixed(0.5, SparseRows(sparse.eye_array(1, 60)), np.ones((1, 4))),
    "product": lambda matrix: matrix.product(SparseRows(sparse.eye_array(1, 60))),
    "dense": lambda matrix: matrix.dense(),
    "used": lambda matrix: matrix.used(),
    "stored": lambda matrix: matrix.stored(np.array([0])),
    "without": lambda matrix: matrix.without(np.array([0])),
    "copy": lambda matrix: matrix.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": pickle.dumps,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_matrix_that_was_changed_refuses_use(use: Any, rng: Rng) -> None:
    first = TallMatrix(rng.standard_normal((60, 4)))
    second = first.mixed(0.5, batch(rng), rng.standard_normal((5, 4)))
    third = second.mixed(0.5, batch(rng), rng.standard_normal((5, 4)))
    for old in (first, second):
        with pytest.raises(RuntimeError, match=r"go on from the newest state, or keep a copy\(\)"):
            use(old)
    use(third)


COPIES = {
    "copy": TallMatrix.copy,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda matrix: pickle.loads(pickle.dumps(matrix)),
}


@each_type
@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_goes_its_own_way(copied: Any, dtype: Any, rng: Rng) -> None:
    first = TallMatrix(rng.standard_normal((60, 4)).astype(dtype), 0.5)
    rows, weights = batch(rng, dtype), rng.standard_normal((5, 4))
    before = first.dense()
    other = copied(first)
    assert other.dtype == dtype
    later = first.mixed(0.5, rows, weights)
    np.testing.assert_array_equal(other.dense(), before)
    same = other.mixed(0.5, rows, weights)
    assert same.dense().tobytes() == later.dense().tobytes()
    assert same.gram.tobytes() == later.gram.tobytes()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
@pytest.mark.parametrize("where", ["samples", "weights"])
def test_what_is_not_finite_is_refused_and_changes_nothing(where: str, bad: float, rng: Rng) -> None:
    start = rng.standard_normal((60, 4)).astype(np.float32)
    matrix = TallMatrix(start.copy())
    rows, weights = batch(rng, np.float32), np.ones((5, 4))
    if where == "samples":
        rows.entries.data[0] = bad
        weights *= 1e10
    else:
        weights[:] = bad * 1e10
    with pytest.raises(ValueError, match="not finite, or too large for float32"):
        matrix.mixed(0.5, rows, weights)
    np.testing.assert_array_equal(matrix.dense(), start)
    assert matrix.mixed(0.5, batch(rng, np.float32), np.ones((5, 4))).gram.shape == (4, 4)


def test_samples_of_another_width_are_refused(rng: Rng) -> None:
    matrix, rows = TallMatrix.zeros((60, 4)), batch(rng, columns=58)
    with pytest.raises(ValueError, match="the mini-batch has 58 columns, the matrix 60 rows"):
        matrix.product(rows)
    with pytest.raises(ValueError, match="the mini-batch has 58 columns, the matrix 60 rows"):
        matrix.mixed(0.5, rows, np.ones((5, 4)))
