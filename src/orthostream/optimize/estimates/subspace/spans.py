"""The array operations of a learner in a subspace, for one problem: Python runs them, and Numba compiles them."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.optimize.estimates.subspace.constants import FAINT, RIDGE
from orthostream.optimize.estimates.subspace.decisions import (
    choose_basis,
    compare_bases,
    is_compared,
    patient_weights,
    pull_weight,
    quick_weight,
    replaces_steady,
    set_patience,
)
from orthostream.optimize.estimates.subspace.layout import (
    AGE,
    BASIS,
    DRIFT,
    FRESH,
    HELD,
    IN_FORCE,
    PATIENT,
    QUICK,
    QUICK_ONE,
    SEEN_PATIENT,
    SEEN_QUICK,
    SEEN_STEADY,
    STEADY,
    STEADY_ONE,
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
    """Add what is fresh to the patient and the steady basis; set the clock by the part outside of the patient one."""
    features, atoms = matrices.shape[1:]
    fresh = matrices[FRESH] / s[WAITING]
    rho, steady, weight, least = patient_weights(s, atoms, half_life)
    basis = orthonormal(matrices[PATIENT], matrices[BASIS])
    drift = fresh - np.dot(basis, np.dot(basis.T, fresh))
    matrices[DRIFT] += weight * (drift - matrices[DRIFT])
    length = squares_of(drift)
    if adaptive:
        directions = length * length / max(squares_of(np.dot(drift.T, drift)), 1e-300)
        mean = squares_of(matrices[DRIFT])
        set_patience(s, length, directions, mean, weight, least, atoms, features - atoms)
    else:
        s[AGE] += s[WAITING]
        s[WAITING] = 0.0
    matrices[PATIENT] += rho * (fresh - matrices[PATIENT])
    matrices[STEADY] += steady * (fresh - matrices[STEADY])
    matrices[FRESH] = 0.0


def judge(s: Any, matrices: Any, rows: Any, samples: float, in_slab: bool) -> bool:
    """Compare the snapshots on rows that they have not seen, take new ones when it is time, and choose a basis.

    Return whether another basis is in force than before.
    """
    features = rows.shape[1]
    compared, over = is_compared(s, samples, features)
    if compared:
        held = squares_of(np.dot(rows, matrices[SEEN_PATIENT]))
        steady = squares_of(np.dot(rows, matrices[SEEN_STEADY])) - held
        quick = 0.0
        if matrices.shape[0] > QUICK:
            quick = squares_of(np.dot(rows, matrices[SEEN_QUICK])) - held
        compare_bases(s, quick, steady, squares_of(rows) - held, samples, features)
    changed = choose_basis(s, in_slab)
    if replaces_steady(s):
        matrices[STEADY] = matrices[PATIENT]
        matrices[SEEN_STEADY] = matrices[SEEN_PATIENT]
    if over:
        matrices[SEEN_PATIENT] = orthonormal(matrices[PATIENT], matrices[BASIS])
        matrices[SEEN_STEADY] = orthonormal(matrices[STEADY], matrices[BASIS])
        if matrices.shape[0] > QUICK:
            matrices[SEEN_QUICK] = matrices[QUICK]
    return changed


def chosen(s: Any, matrices: Any) -> Any:
    """Return an orthonormal basis of the subspace in force."""
    if s[IN_FORCE] == QUICK_ONE:
        return matrices[QUICK].copy()
    return orthonormal(matrices[STEADY if s[IN_FORCE] == STEADY_ONE else PATIENT], matrices[BASIS])


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
