"""The array operations of a learner in a subspace, for one problem: Python runs them, and Numba compiles them."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.optimize.estimates.subspace.constants import FAINT, RIDGE
from orthostream.optimize.estimates.subspace.decisions import (
    patient_weights,
    pull_weight,
    quick_weight,
    set_patience,
)
from orthostream.optimize.estimates.subspace.layout import (
    BASIS,
    DRIFT,
    FRESH,
    HELD,
    PATIENT,
    QUICK,
    UNUSED,
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


def scores(pulls: Any, z: Any, weights: Any) -> Any:
    """Return the scores |z| z, divided by the pull along each atom, whose running mean is updated.

    The mean of samples times these scores is the point itself, plus a drift out of the subspace, plus noise.
    """
    score = np.abs(z) * z
    samples = np.sum(weights)
    fresh = np.dot(weights, score * z) / samples
    if not np.any(pulls):
        pulls[:] = np.mean(fresh)
    pulls += pull_weight(samples, pulls.size) * (fresh - pulls)
    return score / np.maximum(pulls, FAINT * np.max(pulls) + 1e-300)


def fold(s: Any, matrices: Any, half_life: float, adaptive: bool) -> None:
    """Add what is fresh to the patient basis, and set its clock by the part of it that lies outside of that basis."""
    features, atoms = matrices.shape[1:]
    fresh = matrices[FRESH] / s[WAITING]
    rho, weight, least = patient_weights(s, atoms, half_life)
    basis = orthonormal(matrices[PATIENT], matrices[BASIS])
    drift = fresh - np.dot(basis, np.dot(basis.T, fresh))
    matrices[DRIFT] += weight * (drift - matrices[DRIFT])
    lengths = squares_of(drift), squares_of(matrices[DRIFT])
    set_patience(s, lengths[0], lengths[1], weight, least, atoms, features - atoms, adaptive)
    matrices[PATIENT] += rho * (fresh - matrices[PATIENT])
    matrices[FRESH] = 0.0


def hold(s: Any, matrices: Any, moment: Any, waiting: Any, rows: Any, samples: float, half_life: float) -> bool:
    """Let rows wait for the quick basis; if there is no room, add all to its second moment and move it.

    Return whether it has moved. A step is one of orthogonal iteration: the basis turns to the main directions.
    """
    held, count = int(s[HELD]), rows.shape[0]
    s[UNUSED] += samples
    if held + count < waiting.shape[0]:
        waiting[held : held + count] = rows
        s[HELD] += count
        return False
    total = s[UNUSED]
    square = np.dot(rows.T, rows)
    if held > 0:
        square += np.dot(waiting[:held].T, waiting[:held])
    moment += quick_weight(s, rows.shape[1], half_life) * (square / total - moment)
    quick = matrices[QUICK].copy()
    matrices[QUICK] = orthonormal(np.dot(moment, quick), quick)
    return True
