"""Rounding errors of many rotations, removed."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


def reorthonormalised(rows: FloatArray) -> FloatArray:
    """Return almost orthonormal rows, closer to orthonormal: a deviation of d becomes one of about d^2.

    One Newton-Schulz step towards the polar factor. Products are added up one after the other, since the order in which
    a library adds them up differs between machines.

    >>> bent = np.array([[1.0, 1e-6], [0.0, 1.0]])
    >>> straight = reorthonormalised(bent)
    >>> bool(np.abs(straight @ straight.T - np.eye(2)).max() < 1e-11)
    True
    """
    deviation = np.eye(len(rows))
    for column in range(rows.shape[1]):
        deviation -= rows[:, column, None] * rows[None, :, column]
    straight: FloatArray = rows.copy()
    for row in range(len(rows)):
        straight += (0.5 * deviation[:, row, None]) * rows[row]
    return straight
