"""The way from one dictionary to the next."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from orthostream.compression.codecs.paper.dictionary_update.plane_rotations import n_rotations, rotate_rows
from orthostream.compression.codecs.paper.dictionary_update.rotation_delta import (
    UNITS,
    TangentGrid,
    aligned,
    find_rotations,
    pack_levels,
    unpack_levels,
)
from orthostream.compression.errors import FrameError


def basis_of(size: int, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


def moved(basis: np.ndarray, by: float, seed: int) -> np.ndarray:
    """The basis after a small rotation."""
    size = len(basis)
    random = np.random.default_rng(seed).normal(size=(size, size)) * by / np.sqrt(2 * size)
    return expm(random - random.T) @ basis


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.floats(0.0, 3.0), st.floats(1e-3, 0.3), st.integers(0, 1000), st.data())
def test_the_error_is_kept(n_rows: int, by: float, relative_error: float, seed: int, data: st.DataObject) -> None:
    n_columns = data.draw(st.integers(1, n_rows))
    basis = basis_of(n_rows, seed)
    atoms = aligned(moved(basis, by, seed + 1)[:n_columns], basis)
    units, levels = find_rotations(atoms, basis, relative_error)
    grid = TangentGrid(units)
    assert (unpack_levels(pack_levels(levels, n_rows, n_columns), n_rows, n_columns, grid.most) == levels).all()
    found = rotate_rows(basis, levels, n_columns, grid)
    assert np.abs(found @ found.T - np.eye(n_rows)).max() < 1e-13
    signs = np.sign((found[:n_columns] * atoms).sum(axis=1))
    assert np.linalg.norm(found[:n_columns] * signs[:, None] - atoms) <= (relative_error + 1e-12) * np.sqrt(n_columns)


def test_alignment_undoes_order_and_signs() -> None:
    basis = basis_of(9, 0)
    random = np.random.default_rng(1)
    shuffled = basis[random.permutation(9)] * random.choice([-1.0, 1.0], (9, 1))
    assert (aligned(shuffled, basis) == basis).all()
    assert (aligned(shuffled[:4], basis) ** 2).sum() == pytest.approx(4.0)


@pytest.mark.parametrize("seed", range(5))
def test_bytes_grow_with_the_distance(seed: int) -> None:
    basis = basis_of(48, seed)
    sizes = []
    for by in (0.0, 0.05, 0.2, 0.8):
        _, levels = find_rotations(aligned(moved(basis, by, seed + 1), basis), basis, 0.03)
        sizes.append(len(pack_levels(levels, 48, 48)))
    assert sizes == sorted(sizes)
    assert sizes[0] < 10 and sizes[1] < 300 and sizes[-1] < 950


@pytest.mark.parametrize("relative_error", [0.0, -1.0, np.nan, np.inf, 1e-5])
def test_bad_errors(relative_error: float) -> None:
    with pytest.raises(ValueError, match=r"relative_error must be a number from 0\.0001 to 1"):
        find_rotations(np.eye(3), np.eye(3), relative_error)


def test_what_is_not_orthonormal_is_not_reached() -> None:
    with pytest.raises(ValueError, match="orthonormal"):
        find_rotations(2.0 * np.eye(3), np.eye(3), 0.1)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60) | st.integers(0, 60).map(lambda size: b"\xff" * size))
def test_hostile_bytes(data: bytes) -> None:
    try:
        levels = unpack_levels(data, 6, 4, most=1000)
    except FrameError:
        return
    assert len(levels) == n_rotations(6, 4) and np.abs(levels).max() <= 1000


def test_limits() -> None:
    with pytest.raises(FrameError, match="too many"):
        unpack_levels(bytes(1000), 3, 3, 5)
    with pytest.raises(FrameError, match="right angle"):
        unpack_levels(pack_levels(np.array([0, 6, 0]), 3, 3), 3, 3, 5)


def test_integers_of_all_sizes() -> None:
    levels = np.array([sign * size for size in (0, 1, 2, 3, 7, 8, 1000, UNITS) for sign in (1, -1)][:15])
    assert (unpack_levels(pack_levels(levels, 6, 6), 6, 6, UNITS) == levels).all()
