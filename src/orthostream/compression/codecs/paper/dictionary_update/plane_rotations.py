"""Orthonormal vectors as a product of plane rotations, the order of which lets many run at once.

A matrix of K orthonormal columns with N rows becomes the first K columns of the identity, up to signs, if for each
column j and each row i > j in turn the rows j and i are rotated so that entry (i, j) vanishes. The N K - K (K + 1) / 2
angles are then all that there is to know. Angles that are rounded leave small entries behind; since the rounded
rotation is the one that is applied, later angles make up for a part of what earlier ones have missed.

Rotations of equal i + j touch different rows. Such a *wavefront* is one operation on arrays, and the result has the
same bits as that of one rotation after another.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Protocol

import numpy as np

from orthostream._typing import FloatArray, IntArray


class RotationGrid(Protocol):
    """Which rotations there are: one for each integer of a range."""

    def nearest(self, pivots: FloatArray, entries: FloatArray) -> IntArray:
        """Return the integers of those rotations that best turn entries into pivots."""

    def rotations(self, levels: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return cosines and sines, by arithmetic that has the same bits everywhere."""


def n_rotations(n_rows: int, n_columns: int) -> int:
    """Return how many rotations an N x K matrix takes.

    >>> n_rotations(48, 48), n_rotations(48, 2)
    (1128, 93)
    """
    return n_rows * n_columns - n_columns * (n_columns + 1) // 2


@lru_cache(maxsize=8)
def wavefronts(n_rows: int, n_columns: int) -> tuple[tuple[IntArray, IntArray, IntArray], ...]:
    """Return the pivot rows of each wavefront, its other rows, and the places of its rotations, column after column."""
    fronts = []
    for total in range(1, n_rows + n_columns - 1):
        pivots = np.arange(max(0, total - n_rows + 1), min(n_columns, (total + 1) // 2), dtype=np.int64)
        others = total - pivots
        fronts.append((pivots, others, pivots * n_rows - pivots * (pivots + 1) // 2 + others - pivots - 1))
    return tuple(fronts)


def reduce_columns(columns: FloatArray, grid: RotationGrid) -> tuple[IntArray, FloatArray]:
    """Return the integers of the rotations that reduce orthonormal columns, and the reduced columns.

    Parameters
    ----------
    columns : array of shape (N, K)
    grid : RotationGrid

    Returns
    -------
    levels : array of shape (n_rotations,)
        Column after column.
    reduced : array of shape (N, K)
        Close to the first columns of the identity, up to signs.
    """
    reduced: FloatArray = np.array(columns, dtype=float)
    n_rows, n_columns = reduced.shape
    levels = np.zeros(n_rotations(n_rows, n_columns), dtype=np.int64)
    for pivots, others, places in wavefronts(n_rows, n_columns):
        chosen = grid.nearest(reduced[pivots, pivots], reduced[others, pivots])
        levels[places] = chosen
        _rotate(reduced, pivots, others, *grid.rotations(chosen))
    return levels, reduced


def rotate_rows(rows: FloatArray, levels: IntArray, n_columns: int, grid: RotationGrid) -> FloatArray:
    """Return an N x N matrix with its rows rotated as an N x K matrix was when it was reduced.

    Where the rows were a basis, the first K are now the vectors of which the reduced matrix held the coordinates, and
    the rest an orthonormal basis of what is orthogonal to them.
    """
    rotated: FloatArray = np.array(rows, dtype=float)
    cosines, sines = grid.rotations(levels)
    for pivots, others, places in wavefronts(len(rotated), n_columns):
        _rotate(rotated, pivots, others, cosines[places], sines[places])
    return rotated


def _rotate(rows: FloatArray, pivots: IntArray, others: IntArray, cosines: FloatArray, sines: FloatArray) -> None:
    c, s = cosines[:, None], sines[:, None]
    first, second = rows[pivots], rows[others]
    rows[pivots] = c * first + s * second
    rows[others] = c * second - s * first
