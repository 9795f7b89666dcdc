"""A guarded hand-over's update of one problem, as loops for a compiler; `arrays` has the operations in NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.guarded.constants import (
    AGAIN,
    FAINT,
    HUGE,
    KEEP_REPEATS,
    MEAN_GUESS,
    SHIFT_ANCHOR,
    SILENCE,
    TINY,
)
from orthostream.optimize.estimates.guarded.decisions import (
    anchor_weight,
    block_is_over,
    carried_guess,
    compare,
    count_batch,
    has_offset,
    is_repeat,
    judge,
    mean_weight,
    move_limit,
    point_weight,
    signature_weight,
    start_from_anchor,
    start_guard,
)
from orthostream.optimize.estimates.guarded.layout import (
    ANCHOR,
    CENTRED,
    COURSE,
    FIRST_MOMENT,
    GRADIENT,
    GUARD_COUNT,
    GUESS,
    LAST_BATCH,
    LAST_SAMPLE,
    LENGTH,
    LIMIT,
    MATRICES,
    MEAN_POINT,
    MOMENTS,
    POINT,
    REPLACE,
    RESTART,
    SECOND_MOMENT,
    SEEN,
    THIRD_MOMENT,
)
from orthostream.optimize.estimates.hand_over.layout import CHANGES, COUNT, FORCE, ROWS
from orthostream.optimize.estimates.hand_over.loops import hand_over_update
from orthostream.optimize.polar_decomposition.loops import spectral_oracle


def guarded_update(
    block: Any, x: Any, batch: Any, weights: Any, p: float, half_life: float, adaptive: float, sparse: float
) -> Any:
    """Return the gradient, gamma and the next block; see `Guarded.update`, which does the same for stacks in NumPy."""
    features, atoms = x.shape
    size = features * atoms
    inner = size + COUNT + ROWS * atoms + 3 * atoms * atoms
    block = block.copy()
    gradient, g = block[:size].reshape(x.shape), block[inner : inner + GUARD_COUNT]
    place = inner + GUARD_COUNT
    matrices = block[place : place + MATRICES * size].reshape(MATRICES, features, atoms)
    place += MATRICES * size
    moments = block[place : place + MOMENTS * atoms].reshape(MOMENTS, atoms)
    mean = block[place + MOMENTS * atoms :]

    keep = sparse >= KEEP_REPEATS
    sparse -= KEEP_REPEATS if keep else 0.0
    again = sparse >= AGAIN
    if again and g[SEEN] == 0.0:
        return gradient, 0.0, block
    offset = not again and has_offset(g, np.dot(mean, mean))
    centred, squares = subtract_mean(batch, mean, offset)
    largest = np.max(squares)
    if not 0.0 < largest < HUGE:
        return gradient, -1.0, block
    typical = typical_length(squares, weights)
    if g[SEEN] == 0.0:
        start_guard(g, typical, block[size + CHANGES])
        matrices[POINT:] = x
    fresh = weights if again or keep else without_repeats(g, batch, weights)
    factors, admitted, samples, forget = admit(g, squares, fresh, typical, 0 if again else atoms)
    if forget:
        block[:inner] = 0.0
    if samples == 0.0:
        return gradient, 0.0, block
    cut = shorten(centred, factors)
    if again:
        learnt, gamma, new = hand_over_update(block[:inner], x, cut, admitted, p, half_life, adaptive, sparse - AGAIN)
        block[:inner] = new
        return gradient, gamma, block
    own = shorten(batch, factors) if offset and g[CENTRED] == 0.0 else cut
    learnt, gamma, new = hand_over_update(block[:inner], x, own, admitted, p, half_life, adaptive, sparse)
    if gamma < 0.0:
        return learnt, gamma, block
    block[:inner] = new
    n = block[size : size + COUNT]

    unit = 1.0 / math.sqrt(math.exp(g[LIMIT]))
    per_atom = samples / atoms
    learn_mean(g, mean, batch, factors, admitted, samples, atoms)
    rho = anchor_weight(g)
    compared, moves = count_batch(g, per_atom)
    if compared:
        lead, contrast, lead_l1 = lead_of_course(matrices, cut, own, offset, admitted, unit)
        compare(g, lead, contrast, lead_l1, per_atom)
    teach_anchor(matrices, moments, cut, admitted, samples, unit, rho)
    if moves and not move_anchor(g, matrices, point_weight(g, per_atom)):
        return gradient, -1.0, block
    verdict = judge(g, n)
    if verdict == RESTART:
        start_from_anchor(n, g, np.dot(mean, mean))
        pull = math.sqrt(np.sum(matrices[GRADIENT] * matrices[GRADIENT]) / atoms)
        gradient[:] = -pull * matrices[ANCHOR]
        block[size + COUNT + ROWS * atoms + FORCE * atoms * atoms : inner] = 0.0
        matrices[COURSE] = matrices[ANCHOR]
    elif verdict == REPLACE:
        matrices[GRADIENT] = 0.0
        matrices[POINT:] = x
    if block_is_over(g):
        point, _, good = spectral_oracle(-matrices[MEAN_POINT], matrices[ANCHOR].copy(), MEAN_GUESS, 1.0)
        if not good:
            return gradient, -1.0, block
        matrices[ANCHOR] = point
        matrices[COURSE] = x
    return gradient, 1.0, block


def subtract_mean(batch: Any, mean: Any, offset: bool) -> Any:
    """Return the samples, less the mean if that is an offset, and their squared lengths."""
    centred = batch
    if offset:
        centred = np.empty_like(batch)
        for i in range(batch.shape[0]):
            for j in range(batch.shape[1]):
                centred[i, j] = batch[i, j] - mean[j]
    squares = np.empty(batch.shape[0])
    for i in range(batch.shape[0]):
        square = 0.0
        for j in range(batch.shape[1]):
            square += centred[i, j] * centred[i, j]
        squares[i] = square
    return centred, squares


def typical_length(squares: Any, weights: Any) -> float:
    """Return the mean of the logarithm of the squared lengths that are not zero."""
    total = count = 0.0
    for i in range(squares.size):
        if squares[i] > 0.0:
            total += weights[i] * math.log(squares[i])
            count += weights[i]
    return total / max(count, TINY)


def without_repeats(g: Any, batch: Any, weights: Any) -> Any:
    """Return the weights of the samples, 0 for those that only repeat the ones before."""
    signs = np.empty(batch.shape[1])
    for j in range(signs.size):
        signs[j] = signature_weight(j)
    fresh = weights.copy()
    total = 0.0
    for i in range(batch.shape[0]):
        signature = 0.0
        for j in range(signs.size):
            signature += signs[j] * batch[i, j]
        if is_repeat(g, LAST_SAMPLE, signature):
            fresh[i] = 0.0
        total += signature * signature_weight(i)
    if is_repeat(g, LAST_BATCH, total):
        fresh[:] = 0.0
    return fresh


def admit(g: Any, squares: Any, weights: Any, typical: float, atoms: int) -> Any:
    """Return the factors that cut long samples, the weights without silent samples, and the sum of these weights.

    Also return whether to forget what was learnt so far. With 0 atoms the limit stays where it is.
    """
    limit = math.exp(g[LIMIT])
    factors, admitted = np.ones_like(squares), weights.copy()
    longer = shorter = silent = samples = 0.0
    for i in range(squares.size):
        if squares[i] == 0.0 or weights[i] == 0.0:
            admitted[i] = 0.0
        elif squares[i] < SILENCE * limit:
            admitted[i] = 0.0
            silent += weights[i]
        elif squares[i] > limit:
            factors[i] = math.sqrt(limit / squares[i])
            longer += weights[i]
        else:
            shorter += weights[i]
        samples += admitted[i]
    forget = atoms > 0 and move_limit(g, longer, shorter, silent, typical, atoms)
    return factors, admitted, samples, forget


def shorten(rows: Any, factors: Any) -> Any:
    """Return the rows times their factors."""
    cut = np.empty_like(rows)
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            cut[i, j] = factors[i] * rows[i, j]
    return cut


def learn_mean(g: Any, mean: Any, batch: Any, factors: Any, weights: Any, samples: float, atoms: int) -> None:
    """Add a mini-batch to the running means of the samples and of their squared length."""
    weight = mean_weight(g, samples, atoms)
    step = np.zeros_like(mean)
    length = 0.0
    for i in range(batch.shape[0]):
        share = weights[i] / samples
        for j in range(batch.shape[1]):
            one = factors[i] * batch[i, j]
            step[j] += share * one
            length += share * one * one
    for j in range(mean.size):
        mean[j] += weight * (step[j] - mean[j])
    g[LENGTH] += weight * (length - g[LENGTH])


def lead_of_course(matrices: Any, cut: Any, own: Any, offset: bool, weights: Any, unit: float) -> Any:
    """Return by how much the course's codes are sparser than the anchor's: in l3, the l3 contrast, and in l1."""
    course, anchor = np.dot(cut, matrices[COURSE]), np.dot(cut, matrices[ANCHOR])
    own_course, own_anchor = course, anchor
    if offset:
        own_course, own_anchor = np.dot(own, matrices[COURSE]), np.dot(own, matrices[ANCHOR])
    lead = contrast = lead_l1 = 0.0
    for i in range(course.shape[0]):
        if weights[i] == 0.0:
            continue
        ours = theirs = less = square = 0.0
        for j in range(course.shape[1]):
            one, two = abs(course[i, j]) * unit, abs(anchor[i, j]) * unit
            ours += one * one * one
            theirs += two * two * two
            square += one * one
            less += abs(own_anchor[i, j]) - abs(own_course[i, j])
        lead += weights[i] * (ours - theirs)
        contrast += weights[i] * ours
        lead_l1 += weights[i] * less * unit * math.sqrt(square)
    return lead, contrast, lead_l1 if cut.shape[1] == course.shape[1] else 0.0


def teach_anchor(matrices: Any, moments: Any, cut: Any, weights: Any, samples: float, unit: float, rho: float) -> None:
    """Add the l3 gradient of a mini-batch to that of the anchor; a multiple of the energy is subtracted from l3."""
    features, atoms = matrices.shape[1:]
    z = np.dot(cut, matrices[POINT])
    fresh = np.zeros((MOMENTS, atoms))
    for i in range(z.shape[0]):
        share = weights[i] / samples
        for j in range(atoms):
            size = abs(z[i, j]) * unit
            fresh[FIRST_MOMENT, j] += share * size
            fresh[SECOND_MOMENT, j] += share * size * size
            fresh[THIRD_MOMENT, j] += share * size * size * size
    for k in range(MOMENTS):
        for j in range(atoms):
            moments[k, j] += rho * (fresh[k, j] - moments[k, j])
    shift = 0.0
    if features == atoms:
        shift = 2.0 * np.mean(moments[FIRST_MOMENT])
        faint = FAINT * np.mean(moments[SECOND_MOMENT])
        for j in range(atoms):
            if moments[SECOND_MOMENT, j] > faint:
                shift = min(shift, moments[THIRD_MOMENT, j] / moments[SECOND_MOMENT, j])
        shift *= SHIFT_ANCHOR
    for i in range(z.shape[0]):
        share = weights[i] / samples * unit * unit
        for j in range(atoms):
            z[i, j] = share * (abs(z[i, j]) * unit - shift) * z[i, j]
    step, gradient = np.dot(cut.T, z).reshape(-1), matrices[GRADIENT].reshape(-1)
    for i in range(gradient.size):
        gradient[i] = (1.0 - rho) * gradient[i] - rho * step[i]


def move_anchor(g: Any, matrices: Any, weight: float) -> bool:
    """Move the anchor to the minimiser for its gradient, and add the point to their mean; False without a proof."""
    point, guess, good = spectral_oracle(matrices[GRADIENT].copy(), matrices[POINT].copy(), g[GUESS], 1.0)
    g[GUESS] = carried_guess(guess)
    if not good:
        return False
    matrices[POINT] = point
    mean, new = matrices[MEAN_POINT].reshape(-1), point.reshape(-1)
    for i in range(mean.size):
        mean[i] += weight * (new[i] - mean[i])
    return True
