"""Atoms that always occur together: spike and slab cannot tell them apart, so that they are turned towards the anchor.

The gates of two atoms are always open together if the true atoms are active together, or if the two are still a mixture of
two true atoms. In both cases any rotation of the pair is as likely as any other, and spike and slab exerts no force. l3
does tell them apart. So the course keeps what the pair spans, and the anchor decides how the two lie in it.

Both paths run these functions: Python on arrays, and Numba compiles them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.hand_over.constants import ALWAYS

# How often all such pairs are turned.
SWEEPS = 3


def rotation_to_anchor(gates: Any, together: Any, cosines: Any) -> Any:
    """Return the rotation of the course's atoms that turns those that always occur together towards the anchor's.

    Parameters
    ----------
    gates, together : arrays of shape (K,) and (K, K)
        The means of the gates, and of the products of two gates.
    cosines : array of shape (K, K)
        Those between the course's atoms, in the rows, and the anchor's.

    Examples
    --------
    >>> gates, together = np.array([0.3, 0.3]), np.full((2, 2), 0.3)
    >>> turned = rotation_to_anchor(gates, together, np.array([[0.6, 0.8], [-0.8, 0.6]]))
    >>> np.abs(turned.T @ np.array([[0.6, 0.8], [-0.8, 0.6]])).round(6)  # a permutation
    array([[0., 1.],
           [1., 0.]])
    """
    atoms = gates.size
    rotation, left = np.eye(atoms), cosines.copy()
    deviations = np.empty(atoms)
    for i in range(atoms):
        deviations[i] = math.sqrt(max(together[i, i] - gates[i] * gates[i], 1e-12))
    for _ in range(SWEEPS):
        for i in range(atoms):
            for j in range(i + 1, atoms):
                if together[i, j] - gates[i] * gates[j] > ALWAYS * deviations[i] * deviations[j]:
                    _turn_pair(rotation, left, i, j)
    return rotation


def _turn_pair(rotation: Any, left: Any, i: int, j: int) -> None:
    """Turn two atoms so that the fourth powers of their cosines with the anchor's atoms are as large as possible."""
    a, b = left[i].copy(), left[j].copy()
    u, v = a * a - b * b, 2.0 * a * b
    angle = 0.25 * math.atan2(2.0 * np.sum(u * v), np.sum(u * u - v * v))
    c, s = math.cos(angle), math.sin(angle)
    left[i] = c * a + s * b
    left[j] = c * b - s * a
    a, b = rotation[:, i].copy(), rotation[:, j].copy()
    rotation[:, i] = c * a + s * b
    rotation[:, j] = c * b - s * a
