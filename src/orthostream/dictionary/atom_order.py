"""The order and the signs in which a learner shows its atoms."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

#: Energies below this part of the largest are rounding.
ROUNDING = 1e-13


def in_order(dictionary: FloatArray, energies: FloatArray) -> FloatArray:
    """Return the atoms, which are columns, by descending energy; the largest entry of each is positive.

    Atoms of equal energy, and those that hold only rounding, stay in their order. Of entries with equal magnitude the
    first counts.

    >>> in_order(np.array([[0.6, 0.8], [0.8, -0.6]]), np.array([1.0, 2.0]))
    array([[ 0.8,  0.6],
           [-0.6,  0.8]])
    >>> in_order(-np.eye(2), np.zeros(2))
    array([[1., 0.],
           [0., 1.]])
    """
    known = np.where(energies > ROUNDING * energies.max(), energies, 0.0)
    sorted_atoms = dictionary[:, np.argsort(-known, kind="stable")]
    largest = np.abs(sorted_atoms).argmax(axis=0)
    signs = np.where(sorted_atoms[largest, np.arange(len(largest))] < 0.0, -1.0, 1.0)
    return np.asarray(sorted_atoms * signs)
