"""The update of one problem of a learner in a subspace, for a compiler."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.guarded.constants import AGAIN, HUGE, KEEP_REPEATS
from orthostream.optimize.estimates.guarded.decisions import start_guard
from orthostream.optimize.estimates.guarded.layout import ANCHOR, GUARD_COUNT, LIMIT, SEEN, TRUSTED
from orthostream.optimize.estimates.guarded.loops import (
    admit,
    guarded_update,
    shorten,
    subtract_mean,
    typical_length,
    without_repeats,
)
from orthostream.optimize.estimates.hand_over.layout import CHANGES, COUNT, PHASE, ROWS
from orthostream.optimize.estimates.subspace.decisions import (
    forget_bases,
    is_elsewhere,
    patient_is_due,
    quick_rests,
    start_tracking,
)
from orthostream.optimize.estimates.subspace.layout import (
    BASIS,
    FRESH,
    GUESS,
    IN_FORCE,
    NUMBERS,
    QUICK_ONE,
    WAITING,
    matrices_and_rows,
)
from orthostream.optimize.estimates.subspace.spans import chosen, fold, hold, judge, scores, squares_of
from orthostream.optimize.polar_decomposition.loops import spectral_oracle


def subspace_update(
    block: Any, x: Any, batch: Any, weights: Any, p: float, half_life: float, adaptive: float, sparse: float
) -> Any:
    """Return the gradient, gamma and the next block; see `InSubspace.update`, which does the same for stacks."""
    features, atoms = x.shape
    size = features * atoms
    count, side, room = matrices_and_rows(features)
    block = block.copy()
    gradient = block[:size].reshape(x.shape)
    place = size
    matrices = block[place : place + count * size].reshape(count, features, atoms)
    place += count * size
    moment = block[place : place + side * side].reshape(side, side)
    place += side * side
    waiting = block[place : place + room * side].reshape(room, side)
    place += room * side
    pulls = block[place : place + atoms]
    place += atoms
    door, s = block[place : place + GUARD_COUNT], block[place + GUARD_COUNT : place + GUARD_COUNT + NUMBERS]
    inner = block[place + GUARD_COUNT + NUMBERS :]

    basis = matrices[BASIS]
    inside = np.dot(basis.T, x)
    _, squares = subtract_mean(batch, basis[:, 0], False)
    largest = np.max(squares)
    if not 0.0 < largest < HUGE:
        return gradient, -1.0, block
    keep = sparse >= KEEP_REPEATS
    again = sparse - (KEEP_REPEATS if keep else 0.0) >= AGAIN
    typical = typical_length(squares, weights)
    if door[SEEN] == 0.0:
        if again:
            return gradient, 0.0, block
        start_guard(door, typical, 0.0)
        start_tracking(s)
    fresh = weights if again or keep else without_repeats(door, batch, weights)
    factors, admitted, samples, forget = admit(door, squares, fresh, typical, 0 if again else atoms)
    if forget:
        forget_bases(s)
        matrices[FRESH] = 0.0
    coordinates = shorten(np.dot(batch, basis), factors)
    learnt, gamma, new = guarded_update(inner, inside, coordinates, fresh, p, half_life, adaptive, sparse)
    if gamma < 0.0:
        return gradient, -1.0, block
    inner[:] = new
    moved = False
    if samples > 0.0 and not again:
        unit = math.exp(-0.5 * door[LIMIT])
        point, trusted = reported(inner, inside)
        in_slab = trusted and inner[atoms * atoms + PHASE] == 1.0
        z = np.dot(coordinates, point)
        for i in range(factors.size):
            factors[i] *= unit * math.sqrt(admitted[i])
            for j in range(atoms):
                z[i, j] *= unit
        score = np.dot(shorten(scores(pulls, z, admitted), np.sqrt(admitted)), point.T)
        cut = shorten(batch, factors)
        moved = track(s, matrices, moment, waiting, cut, score, samples, half_life, adaptive > 0.0, in_slab)
        if moved and not align(s, matrices, inner):
            return gradient, -1.0, block
    if gamma == 0.0 and moved:
        gradient[:] = -np.dot(matrices[BASIS], inside)
        return gradient, 1.0, block
    if gamma > 0.0:
        gradient[:] = np.dot(matrices[BASIS], learnt)
    return gradient, gamma, block


def reported(inner: Any, inside: Any) -> Any:
    """Return the dictionary that the learner inside reports, and whether that is its course."""
    atoms = inside.shape[0]
    square = atoms * atoms
    place = square + COUNT + ROWS * atoms + 3 * square
    trusted = inner[place + TRUSTED] == 1.0
    place += GUARD_COUNT + ANCHOR * square
    return inside if trusted else inner[place : place + square].reshape(atoms, atoms).copy(), trusted


def track(
    s: Any,
    matrices: Any,
    moment: Any,
    waiting: Any,
    cut: Any,
    score: Any,
    samples: float,
    half_life: float,
    adaptive: bool,
    in_slab: bool,
) -> bool:
    """Let both bases learn from a mini-batch, and compare them; return whether the basis in force changes.

    ``cut`` are the samples, cut to the limit, and their scores, both times the square roots of the samples' weights.
    """
    atoms = matrices.shape[2]
    new, fresh = np.dot(cut.T, score).reshape(-1), matrices[FRESH].reshape(-1)
    for i in range(fresh.size):
        fresh[i] += new[i]
    s[WAITING] += samples
    due = patient_is_due(s, atoms)
    if due:
        fold(s, matrices, half_life, adaptive)
    changed = judge(s, matrices, cut, samples, in_slab)
    quick_due = False
    if moment.size > 0 and not quick_rests(s, in_slab, atoms):
        quick_due = hold(s, matrices, moment, waiting, cut, samples, half_life)
    return changed or (quick_due if s[IN_FORCE] == QUICK_ONE else due)


def align(s: Any, matrices: Any, inner: Any) -> bool:
    """Put a basis into force, turned in itself to be as close as possible to the last one; False without a proof.

    If it is not close at all, the learner inside starts again.
    """
    basis = matrices[BASIS].copy()
    found = chosen(s, matrices)
    product = np.dot(found.T, basis)
    turn, guess, good = spectral_oracle(-product, np.eye(basis.shape[1]), s[GUESS], 1.0)
    s[GUESS] = guess
    atoms = product.shape[0]
    if is_elsewhere(s, squares_of(product), atoms, inner[atoms * atoms + CHANGES]):
        inner[:] = 0.0
    if good:
        matrices[BASIS] = np.dot(found, turn)
    return bool(good)
