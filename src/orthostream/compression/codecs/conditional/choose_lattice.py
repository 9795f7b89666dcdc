"""Which lattice fits the first readings of each sensor."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.compression.codecs.conditional.lattice import Lattice, geometric_lattice, linear_lattice
from orthostream.compression.codecs.conditional.resolution import Resolution, find_resolutions
from orthostream.compression.targets import ErrorBound

#: Fraction of readings off their lattice above which another lattice is tried.
_TOO_MANY = 0.02


def choose_lattice(rows: FloatArray, bound: ErrorBound, resolutions: list[Resolution] | None = None) -> Lattice:
    """Return the coarsest lattices that keep a bound; resolutions that are not declared are found in the readings."""
    resolutions = resolutions or find_resolutions(rows, bound)
    if bound.relative is None:
        return linear_lattice(bound.absolute, resolutions, bound.single, bound.whole)
    n_sensors = rows.shape[1]
    sizes = np.where(np.isfinite(rows) & (rows != 0.0), np.abs(rows), np.inf).min(axis=0)
    smallest = np.where(np.isfinite(sizes), np.maximum(sizes * 2.0**-10, 1e-290), 1e-6)
    curved = geometric_lattice(bound.relative, smallest, bound.single)
    # Where readings are coarser than what is asked for, they are kept as they are.
    exact = linear_lattice(np.zeros(n_sensors), resolutions, bound.single, bound.whole)
    steps = np.array([each.numerator / each.denominator for each in resolutions])
    usual = np.array([_usual_size(rows[:, i]) for i in range(n_sensors)])
    return curved.where(steps < 2.0 * bound.relative * usual, exact, known=steps > 0.0)


def _usual_size(column: FloatArray) -> float:
    values = column[np.isfinite(column)]
    return float(np.median(np.abs(values))) if values.size else 0.0


def wants_another_lattice(
    current: Lattice, rows: FloatArray, strays: BoolArray, bound: ErrorBound, resolutions: list[Resolution] | None
) -> bool:
    """Return whether many readings were off the lattice, and another one would hold them."""
    if not strays.any() or int(strays.sum()) <= _TOO_MANY * np.isfinite(rows).sum():
        return False
    return choose_lattice(rows, bound, resolutions).to_bytes() != current.to_bytes()
