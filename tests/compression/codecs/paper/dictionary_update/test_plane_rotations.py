"""Wavefronts of rotations are rotations one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from orthostream.compression.codecs.paper.dictionary_update.givens import AngleGrid
from orthostream.compression.codecs.paper.dictionary_update.plane_rotations import (
    n_rotations,
    reduce_columns,
    rotate_rows,
    wavefronts,
)
from orthostream.compression.codecs.paper.dictionary_update.rotation_delta import UNITS, TangentGrid

SHAPES = [(1, 1), (2, 1), (2, 2), (5, 5), (7, 3), (8, 1), (9, 8)]


def orthonormal_columns(n_rows: int, n_columns: int, seed: int = 0) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n_rows, n_columns)))[0]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_plane_once_and_no_row_twice_in_a_wavefront(shape: tuple[int, int]) -> None:
    planes = [(j, i) for pivots, others, _ in wavefronts(*shape) for j, i in zip(pivots, others, strict=True)]
    assert sorted(planes) == [(j, i) for j in range(shape[1]) for i in range(j + 1, shape[0])]
    places = np.concatenate([np.zeros(0, dtype=int)] + [places for *_, places in wavefronts(*shape)])
    assert sorted(places) == list(range(n_rotations(*shape)))
    for pivots, others, _ in wavefronts(*shape):
        assert len({*pivots.tolist(), *others.tolist()}) == 2 * len(pivots)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("grid", [AngleGrid(7), TangentGrid(UNITS // 100)])
def test_the_same_bits_as_one_after_the_other(shape: tuple[int, int], grid: AngleGrid | TangentGrid) -> None:
    n_rows, n_columns = shape
    levels, _ = reduce_columns(orthonormal_columns(*shape), grid)
    expected = np.random.default_rng(1).normal(size=(n_rows, n_rows))
    rotated = rotate_rows(expected, levels, n_columns, grid)
    place = 0
    for j in range(n_columns):
        for i in range(j + 1, n_rows):
            cosine, sine = (part[0] for part in grid.rotations(levels[place : place + 1]))
            first, second = expected[j].copy(), expected[i].copy()
            expected[j] = cosine * first + sine * second
            expected[i] = cosine * second - sine * first
            place += 1
    assert (rotated == expected).all()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("grid", [AngleGrid(16), TangentGrid(8)])
def test_fine_rotations_reduce_to_the_identity(shape: tuple[int, int], grid: AngleGrid | TangentGrid) -> None:
    columns = orthonormal_columns(*shape)
    before = columns.copy()
    levels, reduced = reduce_columns(columns, grid)
    assert (columns == before).all()
    assert np.abs(np.abs(reduced) - np.eye(*shape)).max() < 1e-3
    basis = rotate_rows(np.eye(shape[0]), levels, shape[1], grid)
    signs = np.sign(np.diagonal(reduced))
    assert np.abs(basis[: shape[1]].T * signs - columns).max() < 1e-3
    assert np.abs(basis @ basis.T - np.eye(shape[0])).max() < 1e-14


def test_later_angles_make_up_for_earlier_ones() -> None:
    """Rounding all angles at once would leave an error of step sqrt((N - 1) / 12)."""
    _, reduced = reduce_columns(orthonormal_columns(48, 48), AngleGrid(8))
    error = np.linalg.norm(np.abs(reduced) - np.eye(48)) / np.sqrt(48)
    assert error < 0.8 * np.pi / 256 * np.sqrt(47 / 12)
