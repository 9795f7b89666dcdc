"""The update of one problem of a learner in a subspace, for a compiler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.guarded.constants import AGAIN, HUGE
from orthostream.optimize.estimates.guarded.decisions import start_guard
from orthostream.optimize.estimates.guarded.layout import GUARD_COUNT, LIMIT, SEEN
from orthostream.optimize.estimates.guarded.loops import admit, guarded_update, subtract_mean, typical_length
from orthostream.optimize.estimates.hand_over.layout import PHASE
from orthostream.optimize.estimates.subspace.constants import LARGEST
from orthostream.optimize.estimates.subspace.decisions import (
    choose_basis,
    compare_bases,
    is_compared,
    patient_is_due,
    quick_is_due,
    quick_weight,
    start_tracking,
)
from orthostream.optimize.estimates.subspace.layout import (
    AGE,
    BASIS,
    FOLLOWS,
    FRESH,
    FRESH_PULL,
    GUESS,
    MATRICES,
    NUMBERS,
    PATIENT,
    PULLS,
    QUICK,
    REMEMBERED,
    SEEN_PATIENT,
    SEEN_QUICK,
    WAITING,
)
from orthostream.optimize.estimates.subspace.spans import fold, iterate, orthonormal, squares_of
from orthostream.optimize.polar_decomposition.loops import spectral_oracle


def subspace_update(
    block: Any, x: Any, batch: Any, weights: Any, p: float, half_life: float, adaptive: float, sparse: float
) -> Any:
    """Return the gradient, gamma and the next block; see `InSubspace.update`, which does the same for stacks."""
    features, atoms = x.shape
    size = features * atoms
    side = features if features <= LARGEST else 0
    block = block.copy()
    gradient = block[:size].reshape(x.shape)
    place = size
    matrices = block[place : place + MATRICES * size].reshape(MATRICES, features, atoms)
    place += MATRICES * size
    moment = block[place : place + side * side].reshape(side, side)
    place += side * side
    pulls = block[place : place + PULLS * atoms].reshape(PULLS, atoms)
    place += PULLS * atoms
    door, s = block[place : place + GUARD_COUNT], block[place + GUARD_COUNT : place + GUARD_COUNT + NUMBERS]
    inner = block[place + GUARD_COUNT + NUMBERS :]

    basis = matrices[BASIS]
    inside, coordinates = np.dot(basis.T, x), np.dot(batch, basis)
    _, squares = subtract_mean(batch, basis[:, 0], False)
    largest = np.max(squares)
    if not 0.0 < largest < HUGE:
        return gradient, -1.0, block
    learnt, gamma, new = guarded_update(inner, inside, coordinates, weights, p, half_life, adaptive, sparse)
    if gamma < 0.0:
        return gradient, -1.0, block
    inner[:] = new
    moved = False
    if sparse < AGAIN:
        typical = typical_length(squares, weights)
        if door[SEEN] == 0.0:
            start_guard(door, typical, 0.0)
            start_tracking(s)
        factors, admitted, samples, forget = admit(door, squares, weights, typical, atoms)
        if forget:
            s[AGE] = s[REMEMBERED] = 0.0
        if samples > 0.0:
            unit = math.exp(-0.5 * door[LIMIT])
            in_slab = new[atoms * atoms + PHASE] == 1.0
            for i in range(factors.size):
                factors[i] *= unit
            moved = track(
                s, matrices, moment, pulls, batch, coordinates, inside, factors, admitted, half_life, adaptive, in_slab
            )
            if moved and not align(s, matrices):
                return gradient, -1.0, block
    if gamma == 0.0 and moved:
        gradient[:] = -np.dot(matrices[BASIS], inside)
        return gradient, 1.0, block
    if gamma > 0.0:
        gradient[:] = np.dot(matrices[BASIS], learnt)
    return gradient, gamma, block


def track(
    s: Any,
    matrices: Any,
    moment: Any,
    pulls: Any,
    batch: Any,
    coordinates: Any,
    inside: Any,
    factors: Any,
    weights: Any,
    half_life: float,
    adaptive: float,
    in_slab: bool,
) -> bool:
    """Let both bases learn from a mini-batch, and compare them; return whether the basis in force changes."""
    features, atoms = matrices.shape[1:]
    cut, z = np.empty_like(batch), np.dot(coordinates, inside)
    score = np.empty_like(z)
    samples = total = 0.0
    for i in range(batch.shape[0]):
        samples += weights[i]
        root = factors[i] * math.sqrt(weights[i])
        for j in range(features):
            cut[i, j] = root * batch[i, j]
            total += cut[i, j] * cut[i, j]
        for j in range(atoms):
            one = factors[i] * z[i, j]
            score[i, j] = math.sqrt(weights[i]) * abs(one) * one
            pulls[FRESH_PULL, j] += weights[i] * abs(one) * one * one
    step, fresh = np.dot(cut.T, score).reshape(-1), matrices[FRESH].reshape(-1)
    for i in range(fresh.size):
        fresh[i] += step[i]
    s[WAITING] += samples / atoms
    due = patient_is_due(s)
    if due:
        fold(s, matrices, pulls, inside, half_life, adaptive > 0.0)
    if moment.size == 0:
        return due
    compared, over = is_compared(s, samples, features)
    if compared:
        held = squares_of(np.dot(cut, matrices[SEEN_PATIENT]))
        lead = squares_of(np.dot(cut, matrices[SEEN_QUICK])) - held
        compare_bases(s, lead, total - held, samples, features)
    weight = quick_weight(s, samples, features, half_life)
    square, flat = np.dot(cut.T, cut).reshape(-1), moment.reshape(-1)
    for i in range(flat.size):
        flat[i] += weight * (square[i] / samples - flat[i])
    quick_due = quick_is_due(s, features, atoms)
    if quick_due:
        iterate(matrices, moment)
    if over:
        matrices[SEEN_QUICK] = matrices[QUICK]
        matrices[SEEN_PATIENT] = orthonormal(matrices[PATIENT], matrices[BASIS])
    changed = choose_basis(s, in_slab)
    return changed or (quick_due if s[FOLLOWS] == 1.0 else due)


def align(s: Any, matrices: Any) -> bool:
    """Put a basis into force, turned in itself to be as close as possible to the last one; False without a proof."""
    basis = matrices[BASIS].copy()
    found = matrices[QUICK].copy() if s[FOLLOWS] == 1.0 else orthonormal(matrices[PATIENT], basis)
    product = np.dot(found.T, basis)
    turn, guess, good = spectral_oracle(-product, np.eye(basis.shape[1]), s[GUESS], 1.0)
    s[GUESS] = guess
    if good:
        matrices[BASIS] = np.dot(found, turn)
    return good
