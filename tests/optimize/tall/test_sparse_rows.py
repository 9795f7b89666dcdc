"""Sparse rows over the columns that they touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream.optimize import SparseRows

Rng = np.random.Generator


def matrix(rng: Rng, samples: int = 6, columns: int = 40) -> Any:
    return sparse.random_array((samples, columns), density=0.1, random_state=rng, format="csr")


def dense(rows: SparseRows) -> Any:
    full = np.zeros(rows.shape)
    full[:, rows.touched] = rows.entries.toarray()
    return full


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, np.asarray])
def test_all_forms_are_understood(form: Any, rng: Rng) -> None:
    given = matrix(rng)
    rows = SparseRows(form(given.toarray()))
    np.testing.assert_array_equal(dense(rows), given.toarray())
    np.testing.assert_array_equal(rows.touched, np.unique(given.indices))


def test_unsorted_indices_duplicates_and_explicit_zeros_are_understood() -> None:
    entries = (np.array([1.0, 2.0, 4.0, 0.0]), np.array([30, 7, 30, 2]), np.array([0, 3, 4]))
    given = sparse.csr_array(entries, shape=(2, 40))
    rows = SparseRows(given)
    np.testing.assert_array_equal(dense(rows), given.toarray())
    np.testing.assert_array_equal(given.indices, [30, 7, 30, 2])


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (3, 5)])
def test_rows_may_hold_nothing(shape: tuple[int, int]) -> None:
    rows = SparseRows(sparse.csr_array(shape))
    assert rows.shape == shape
    assert rows.touched.tolist() == []
    assert rows.entries.shape == (shape[0], 0)
    np.testing.assert_array_equal(rows.inner_products(np.ones((shape[0], 2))), np.zeros((2, 2)))


@pytest.mark.parametrize(
    ("given", "asked", "made"),
    [
        (np.float32, None, np.float32),
        (np.float64, None, np.float64),
        (np.int64, None, np.float64),
        (np.bool_, None, np.float64),
        (np.float64, np.float32, np.float32),
        (np.int8, np.float32, np.float32),
    ],
)
def test_entries_are_floating_point_numbers(given: Any, asked: Any, made: Any) -> None:
    assert SparseRows(sparse.eye_array(3, dtype=given), asked).entries.dtype == made


def test_inner_products_are_those_of_the_weighted_sum(rng: Rng) -> None:
    given, weights = matrix(rng), rng.standard_normal((6, 3))
    total = given.T @ weights
    np.testing.assert_allclose(SparseRows(given).inner_products(weights), total.T @ total, rtol=1e-12)
    np.testing.assert_array_equal(SparseRows(given).columns.toarray(), SparseRows(given).entries.toarray().T)


def test_a_vector_is_refused() -> None:
    with pytest.raises(ValueError, match=r"must be a matrix, got an array of shape \(5,\)"):
        SparseRows(sparse.coo_array(np.ones(5)))
