"""Coding and algebra that the baselines share."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.baselines.base import principal_axes, pursue, unit_rows


def _atoms(seed: int, count: int, features: int) -> np.ndarray:
    return unit_rows(np.random.default_rng(seed).standard_normal((count, features)))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 5))
def test_pursuit_leaves_nothing_along_the_atoms_it_chose(seed: int, count: int) -> None:
    atoms = _atoms(seed, 7, 5)
    rows = np.random.default_rng(seed + 1).standard_normal((4, 5))
    codes = pursue(rows, atoms, count)
    left = rows - codes @ atoms
    assert (np.count_nonzero(codes, axis=1) <= count).all()
    assert np.abs(np.where(codes != 0.0, left @ atoms.T, 0.0)).max() < 1e-8
    first = np.abs(rows @ atoms.T).argmax(axis=1)
    assert (codes[np.arange(4), first] != 0.0).all()


def test_pursuit_finds_the_best_atom_and_what_is_sparse() -> None:
    atoms = _atoms(0, 6, 6)
    rows = np.random.default_rng(1).standard_normal((20, 6))
    best = ((rows[:, None] - (rows @ atoms.T)[..., None] * atoms) ** 2).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(((rows - pursue(rows, atoms, 1) @ atoms) ** 2).sum(axis=1), best)
    for pair in combinations(range(6), 2):
        exact = np.zeros((1, 6))
        exact[0, list(pair)] = [3.0, -0.1]
        assert np.abs(pursue(exact @ atoms, atoms, 6) @ atoms - exact @ atoms).max() < 1e-12


def test_pursuit_of_zeros_and_of_equal_atoms() -> None:
    atoms = np.array([[1.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(pursue(np.zeros((3, 2)), atoms, 2), 0.0)
    codes = pursue(np.array([[2.0, 1.0]]), atoms, 2)
    np.testing.assert_allclose(codes @ atoms, [[2.0, 0.0]])
    np.testing.assert_allclose(pursue(np.array([[2.0, 1.0]]), atoms, None), [[1.0, 1.0]])


def test_principal_axes() -> None:
    rows = np.random.default_rng(0).standard_normal((50, 6)) * np.arange(1.0, 7.0)
    axes = principal_axes(rows.T @ rows, 4)
    np.testing.assert_allclose(axes @ axes.T, np.eye(4), atol=1e-12)
    captured = ((rows @ axes.T) ** 2).sum(axis=0)
    np.testing.assert_allclose(captured, np.linalg.svd(rows, compute_uv=False)[:4] ** 2)
    assert (axes[np.arange(4), np.abs(axes).argmax(axis=1)] > 0.0).all()
    with pytest.raises(ValueError, match="overflow"):
        principal_axes(np.full((2, 2), np.inf), 1)


@given(st.floats(-150.0, 150.0))
def test_unit_rows_in_any_unit(exponent: float) -> None:
    rows = np.array([[3.0, -4.0], [0.0, 0.0]]) * 10.0**exponent
    np.testing.assert_allclose(unit_rows(rows), [[0.6, -0.8], [0.0, 0.0]])
