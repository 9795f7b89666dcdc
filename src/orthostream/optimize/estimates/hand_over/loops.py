"""A hand-over's update of one problem, as loops for a compiler: the operations of `arrays` and the same decisions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.estimates.hand_over.advantage import learn_advantage, unit_mixture
from orthostream.optimize.estimates.hand_over.advantage_loops import advantage
from orthostream.optimize.estimates.hand_over.constants import (
    FEW_ATOMS,
    LARGEST,
    NOTHING,
    ROUNDING,
    SILENT,
    SMALLEST,
    TINY,
)
from orthostream.optimize.estimates.hand_over.decisions import (
    can_start,
    change_phase,
    has_pair,
    learn_mixture,
    least_energy,
    log_odds,
    may_change,
    measure_level,
    mixture,
    needs_pairs,
    new_weight,
    only_if_few,
    other_weights,
    score_shape,
    set_clock,
    start,
    turning_weight,
    weigh_evidence,
    wide_mixture,
    widened,
)
from orthostream.optimize.estimates.hand_over.layout import (
    BEND,
    BENT,
    COUNT,
    ENERGY,
    FIRST,
    FORCE,
    GATE,
    GATED,
    PHASE,
    POWER,
    ROWS,
    SECOND,
    SQUARE,
    STEPS,
    TOGETHER,
    TRUST,
)
from orthostream.optimize.estimates.hand_over.turning import turn_pairs


def hand_over_update(
    block: Any, x: Any, batch: Any, weights: Any, p: float, half_life: float, adaptive: float, sparse: float
) -> Any:
    """Return the gradient, gamma and the next block; see `HandOver.update`, which does the same for stacks in NumPy."""
    features, atoms = x.shape
    size = features * atoms
    z = np.dot(batch, x)
    shares, samples, energy = listen(z, weights)
    if not SMALLEST < energy < LARGEST:
        return block[:size].reshape(x.shape), -1.0, block
    block = block.copy()
    gradient = block[:size].reshape(x.shape)
    n = block[size : size + COUNT]
    rows = block[size + COUNT : size + COUNT + ROWS * atoms].reshape(ROWS, atoms)
    pairs = block[size + COUNT + ROWS * atoms :].reshape(3, atoms, atoms)
    whole = features == atoms
    inside = 1.0 if whole else share_inside(batch, z, shares)
    per_atom = samples / atoms
    if n[ENERGY] <= NOTHING:
        start(n, energy)
    n[STEPS] += 1.0
    rho, floor = new_weight(n, samples, half_life)
    in_slab = n[PHASE] == 1.0

    sparsity, spike, slab = mixture(n)
    odds, slope = log_odds(sparsity, spike, slab)
    gates, fresh, bend, misfit = open_gates(z, shares, odds, slope, p, in_slab)
    if n[STEPS] == 1.0:
        n[BEND] = bend
        rows[:] = fresh
    asleep = sleep_level(rows, n)
    shift, unit = score_shape(n, sparsity, weakest(rows, BENT, asleep), weakest(rows, GATED, asleep), p, whole)
    turn = 0.0
    if in_slab:
        wide_odds, wide_slope = log_odds(sparsity, widened(spike, slab), slab)
        score = sparse_score(z, shares, wide_odds, wide_slope, shift)
        turn = samples * gain_of_turning(z, shares, int(n[FIRST]), int(n[SECOND]), odds, slope)
    else:
        score = lp_score(z, shares, shift, unit, p)

    if sparse > 0.0 and atoms >= FEW_ATOMS:
        opened, signal, gain = advantage(
            z, shares, rows, fresh, max(asleep, SILENT * n[ENERGY]), unit_mixture(n, atoms)
        )
        learn_advantage(n, opened, signal, gain, per_atom)
    weigh_evidence(n, sparsity, slab, misfit, energy, turn, samples * atoms)
    learn_mixture(n, np.mean(fresh[GATE]), np.mean(fresh[GATED]), energy, bend, per_atom)
    gate_weight, force_weight = other_weights(n, rho, per_atom)
    mix(rows, fresh, 1.0 - gate_weight, gate_weight)
    add_gates(pairs, gates, shares, gate_weight)
    mix(gradient, np.dot(batch.T, score), 1.0 - rho, -rho)
    if has_pair(n):
        wide = wide_mixture(n, sparsity, spike, slab, per_atom)
        wide_odds, wide_slope = log_odds(wide[0], wide[1], wide[2])
        force = np.dot(z.T, sparse_score(z, shares, wide_odds, wide_slope, 0.0))
        turn_pairs(gradient, rows[GATE], pairs[TOGETHER], force, max(rho, turning_weight(per_atom)))
    least = ROUNDING * n[ENERGY] * n[ENERGY]
    all_force, pair_force = add_force(pairs, np.dot(z.T, score), force_weight, n[TRUST], least)

    ratio = measure_level(n, rho)
    set_clock(n, all_force, pair_force, force_weight, per_atom, atoms, floor, adaptive > 0.0)
    if sparse > 0.0 and may_change(n, ratio):
        asleep = sleep_level(rows, n)
        belongs = weakest(rows, GATED, asleep)
        able = can_start(n, belongs, inside, per_atom)
        if needs_pairs(n, ratio, able):
            alike, first, second = most_alike(rows, pairs[TOGETHER], asleep)
            if change_phase(n, ratio, alike, first, second, belongs, inside, able, per_atom, adaptive > 0.0):
                pairs[FORCE:] = 0.0
    return gradient, 1.0, block


def listen(z: Any, weights: Any) -> Any:
    """Return the share of each sample in a mean, the total weight of samples that are not zero, and the mean square."""
    shares = np.empty(z.shape[0])
    samples = energy = 0.0
    for i in range(z.shape[0]):
        one = 0.0
        for j in range(z.shape[1]):
            one += z[i, j] * z[i, j]
        weight = 0.0 if one == 0.0 else weights[i]
        shares[i] = weight
        samples += weight
        energy += weight * one
    if samples > 0.0:
        shares /= samples
        energy /= samples * z.shape[1]
    return shares, samples, energy


def share_inside(batch: Any, z: Any, shares: Any) -> Any:
    """Return the share of the energy of a mini-batch that its coefficients hold."""
    inside = total = 0.0
    for i in range(shares.size):
        inside += shares[i] * np.dot(z[i], z[i])
        total += shares[i] * np.dot(batch[i], batch[i])
    return inside / max(total, TINY)


def open_gates(z: Any, shares: Any, odds: float, slope: float, p: float, in_slab: bool) -> Any:
    """Return the gates, the means over the samples that `layout` names, the mean of |z|^(p-2), and the misfit."""
    samples, atoms = z.shape
    gates = np.empty_like(z)
    fresh = np.zeros((ROWS, atoms))
    bend = misfit = 0.0
    for i in range(samples):
        share = shares[i]
        if share == 0.0:
            gates[i] = 0.0
            continue
        bent = log_likelihood = 0.0
        product = 1.0
        for j in range(atoms):
            one = z[i, j]
            square = one * one
            log_odd = odds + slope * square
            rest = math.exp(-abs(log_odd)) if abs(log_odd) < 40.0 else 0.0
            gate = (1.0 if log_odd > 0.0 else rest) / (1.0 + rest)
            size = abs(one) if p == 3.0 else abs(one) ** (p - 2.0)
            gates[i, j] = gate
            bent += size
            fresh[GATE, j] += share * gate
            fresh[SQUARE, j] += share * square
            fresh[BENT, j] += share * size * square
            fresh[GATED, j] += share * gate * square
            if in_slab:  # log(1 + exp(-log-odds)): one log of a product is cheaper than a sum of logs
                log_likelihood += max(-log_odd, 0.0)
                product *= 1.0 + rest
                if product > 1e200:
                    log_likelihood += math.log(product)
                    product = 1.0
        bend += share * bent / atoms
        misfit += share * (log_likelihood + math.log(product)) / atoms
    return gates, fresh, bend, misfit


def lp_score(z: Any, shares: Any, shift: float, unit: float, p: float) -> Any:
    """Return unit (|z|^(p-2) - shift) z, times the share of each sample."""
    score = np.empty_like(z)
    for i in range(z.shape[0]):
        factor = unit * shares[i]
        for j in range(z.shape[1]):
            one = z[i, j]
            size = abs(one) if p == 3.0 else abs(one) ** (p - 2.0)
            score[i, j] = factor * (size - shift) * one
    return score


def sparse_score(z: Any, shares: Any, odds: float, slope: float, shift: float) -> Any:
    """Return (gate - shift) z, times the share of each sample."""
    score = np.empty_like(z)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            one = z[i, j]
            closed = math.exp(-odds - slope * one * one)
            score[i, j] = shares[i] * (1.0 / (1.0 + closed) - shift) * one
    return score


def gain_of_turning(z: Any, shares: Any, first: int, second: int, odds: float, slope: float) -> float:
    """Return the mean gain of turning a pair of atoms by 45 degrees, for each sample."""
    gain = 0.0
    if first == second:
        return gain
    for i in range(z.shape[0]):
        a, b = z[i, first], z[i, second]
        now = (1.0 + math.exp(-odds - slope * a * a)) * (1.0 + math.exp(-odds - slope * b * b))
        plus, minus = 0.5 * slope * (a + b) ** 2, 0.5 * slope * (a - b) ** 2
        turned = (1.0 + math.exp(-odds - plus)) * (1.0 + math.exp(-odds - minus))
        gain += shares[i] * math.log(turned / now)
    return gain


def sleep_level(rows: Any, n: Any) -> float:
    """Return the mean square of a coefficient up to which an atom is asleep."""
    level = least_energy(n)
    asleep = 0
    for j in range(rows.shape[1]):
        asleep += rows[SQUARE, j] <= level
    return only_if_few(level, asleep, rows.shape[1])


def weakest(rows: Any, row: int, asleep: float) -> float:
    """Return the smallest ratio of a row of means to the energy of the atom; atoms that are asleep are ignored."""
    least = np.inf
    for j in range(rows.shape[1]):
        if rows[SQUARE, j] > asleep:
            least = min(least, rows[row, j] / rows[SQUARE, j])
    return least


def mix(old: Any, new: Any, old_weight: float, new_weight: float) -> None:
    """Replace an array by a weighted sum of itself and another."""
    a, b = old.reshape(-1), new.reshape(-1)
    for i in range(a.size):
        a[i] = old_weight * a[i] + new_weight * b[i]


def add_gates(pairs: Any, gates: Any, shares: Any, weight: float) -> None:
    """Add a mini-batch to the running means of products of two gates."""
    weighted = np.empty_like(gates)
    for i in range(gates.shape[0]):
        for j in range(gates.shape[1]):
            weighted[i, j] = shares[i] * gates[i, j]
    mix(pairs[TOGETHER], np.dot(gates.T, weighted), 1.0 - weight, weight)


def add_force(pairs: Any, force: Any, weight: float, trust: float, least: float) -> Any:
    """Add a mini-batch to the running means of the force; return the ratios of its squared mean to its variance."""
    atoms = force.shape[0]
    forces, powers = pairs[FORCE].reshape(-1), pairs[POWER].reshape(-1)
    with_sign, against = force.reshape(-1), force.T.copy().reshape(-1)
    squares = total = 0.0
    for i in range(forces.size):
        pull = with_sign[i] - against[i]
        mean = forces[i] + weight * (pull - forces[i])
        power = powers[i] + weight * (pull * pull - powers[i])
        forces[i] = mean
        powers[i] = power
        squares += mean * mean
        total += power
    largest = 0.0
    for i in range(atoms):
        for j in range(i * atoms + i + 1, i * atoms + atoms):
            square = forces[j] * forces[j]
            if square > largest * max(powers[j], least):  # divides only if the maximum rises
                largest = square / max(powers[j], least, TINY)
    return squares / max(trust * total, least * atoms * atoms, TINY), largest / trust


def most_alike(rows: Any, together: Any, asleep: float) -> Any:
    """Return the largest correlation of two gates, and the two atoms; -1 if fewer than two atoms are awake."""
    gates, squares = rows[GATE], rows[SQUARE]
    atoms = gates.size
    best, first, second = -1.0, 0, 0
    deviation = np.empty(atoms)
    for i in range(atoms):
        deviation[i] = 1.0 / math.sqrt(max(together[i, i] - gates[i] * gates[i], 1e-12))
    for i in range(atoms):
        for j in range(i + 1, atoms):
            correlation = (together[i, j] - gates[i] * gates[j]) * deviation[i] * deviation[j]
            if correlation > best and squares[i] > asleep and squares[j] > asleep:
                best, first, second = correlation, i, j
    return best, first, second
