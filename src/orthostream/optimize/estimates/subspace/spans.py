"""The array operations of a learner in a subspace, for one problem; Python runs them as they are, Numba compiles them."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.optimize.estimates.subspace.constants import FAINT, RIDGE
from orthostream.optimize.estimates.subspace.decisions import patient_weights, set_patience
from orthostream.optimize.estimates.subspace.layout import (
    BASIS,
    DRIFT,
    FRESH,
    FRESH_PULL,
    PATIENT,
    POWER,
    PULL,
    QUICK,
    WAITING,
)


def squares_of(matrix: Any) -> Any:
    """Return the sum of the squares of all entries."""
    flat = matrix.reshape(-1)
    return np.dot(flat, flat)


def orthonormal(matrix: Any, near: Any) -> Any:
    """Return an orthonormal basis of the columns of a matrix; directions that it lacks are taken from another basis."""
    ridge = RIDGE * np.sqrt(squares_of(matrix) / matrix.shape[1])
    basis, _ = np.linalg.qr(matrix + ridge * near)
    return np.ascontiguousarray(basis)


def fold(s: Any, matrices: Any, pulls: Any, inside: Any, half_life: float, adaptive: bool) -> None:
    """Add what is fresh to the patient basis, and set its clock.

    Fresh samples times scores, divided by the pull along each atom, are the point itself plus a drift out of the
    subspace plus noise. ``inside`` is the point in coordinates of the basis: the result has these coordinates too, so
    that it stays valid while the atoms turn.
    """
    atoms = inside.shape[1]
    rho, pull_weight, drift_weight, least = patient_weights(s, atoms, half_life)
    count = s[WAITING] * atoms
    pulls[PULL] += pull_weight * (pulls[FRESH_PULL] / count - pulls[PULL])
    strongest = np.max(pulls[PULL])
    scales = 1.0 / (count * np.maximum(pulls[PULL], FAINT * strongest + 1e-300))
    fresh = np.dot(matrices[FRESH] * scales, np.ascontiguousarray(inside.T))
    basis = matrices[BASIS]
    drift = fresh - np.dot(basis, np.dot(basis.T, fresh))
    matrices[DRIFT] += drift_weight * (drift - matrices[DRIFT])
    s[POWER] += drift_weight * (squares_of(drift) - s[POWER])
    set_patience(s, squares_of(matrices[DRIFT]), drift_weight, least, adaptive)
    matrices[PATIENT] += rho * (fresh - matrices[PATIENT])
    matrices[FRESH] = 0.0
    pulls[FRESH_PULL] = 0.0


def iterate(matrices: Any, moment: Any) -> None:
    """Take one step of orthogonal iteration with the second moment: the quick basis turns to its main directions."""
    quick = matrices[QUICK].copy()
    matrices[QUICK] = orthonormal(np.dot(moment, quick), quick)
