"""A step of `HandOver` in one compiled call, for one problem: the same arithmetic as `HandOver.decide`, in loops.

The results differ by rounding alone. Importing this module raises ImportError where Numba is absent.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthostream.optimize.courses import constants, layout
from orthostream.optimize.courses.constants import (
    ALARM,
    ASTRAY,
    BELONGS,
    COOL,
    COOL_SPARSE,
    DETOUR,
    FORCE,
    GATES,
    HOT,
    INSIDE,
    LEAST,
    LOST,
    MARGIN,
    MIXTURE,
    NOTHING,
    OUTSIDE,
    PATIENCE,
    PULL,
    PUSH,
    PUSH_YOUNG,
    SETTLED,
    SHIFT,
    SPARSE,
    STUCK,
    WAIT,
    WIDEN,
    WIDEST,
)
from orthostream.optimize.courses.layout import Row, Slot
from orthostream.optimize.polar_decomposition import coefficients
from orthostream.optimize.polar_decomposition import compiled as polar_compiled
from orthostream.optimize.polar_decomposition.coefficients import LOWEST

_jit = polar_compiled.jit_depending_on(
    constants.__file__, layout.__file__, polar_compiled.__file__, coefficients.__file__
)
_polar: Any = polar_compiled._polar
_square_norm: Any = polar_compiled._square_norm

_STEPS, _PHASE, _AGE, _OPEN, _SIGNAL, _ENERGY = (
    int(slot) for slot in (Slot.STEPS, Slot.PHASE, Slot.AGE, Slot.OPEN, Slot.SIGNAL, Slot.ENERGY)
)
_BEND, _TRUST, _EVIDENCE, _LEVEL, _MARK, _CHANGES = (
    int(slot) for slot in (Slot.BEND, Slot.TRUST, Slot.EVIDENCE, Slot.LEVEL, Slot.MARK, Slot.CHANGES)
)
_GATE, _SQUARE, _BENT, _GATED = int(Row.GATE), int(Row.ENERGY), int(Row.BENT), int(Row.GATED)
_FIRST, _SECOND, _TURN = int(Slot.FIRST), int(Slot.SECOND), int(Slot.TURN)
_WAITED, _TOLERATED = int(Slot.WAITED), int(Slot.TOLERATED)


@_jit
def _softplus(a: float) -> float:
    return max(a, 0.0) + math.log1p(math.exp(-abs(a)))


@_jit
def _gate(odds: float) -> float:
    if odds > 40.0:
        return 1.0
    return 1.0 / (1.0 + math.exp(-odds)) if odds > -700.0 else 0.0


@_jit
def _mixture(n: Any) -> Any:
    """Return sparsity, spike and slab."""
    sparsity = min(max(n[_OPEN], 1e-3), 1.0 - 1e-3)
    slab = n[_SIGNAL] / max(n[_OPEN], 1e-12)
    if not slab > 0.0:
        slab = 1.0
    spike = (n[_ENERGY] - n[_SIGNAL]) / (1.0 - sparsity)
    return sparsity, min(max(spike, LEAST * slab), 0.9 * slab), slab


@_jit
def _weakest(rows: Any) -> Any:
    """Do what `pairs.weakest` does."""
    bent = gated = np.inf
    for j in range(rows.shape[1]):
        if rows[_SQUARE, j] > 0.0:
            bent = min(bent, rows[_BENT, j] / rows[_SQUARE, j])
            gated = min(gated, rows[_GATED, j] / rows[_SQUARE, j])
    return bent, gated


@_jit
def _most_alike(gates: Any, together: Any) -> Any:
    """Return the largest correlation of two gates, and which two."""
    atoms = gates.size
    best, first, second = (-1.0 if atoms == 1 else -4.0), 0, 0
    deviation = np.empty(atoms)
    for i in range(atoms):
        deviation[i] = 1.0 / math.sqrt(max(together[i, i] - gates[i] * gates[i], 1e-12))
    for i in range(atoms):
        for j in range(i + 1, atoms):
            correlation = (together[i, j] - gates[i] * gates[j]) * deviation[i] * deviation[j]
            if correlation > best:
                best, first, second = correlation, i, j
    return best, first, second


@_jit
def _clock(
    n: Any, whole: float, pair: float, feeling: float, per_atom: float, atoms: int, floor: float, adaptive: bool
) -> None:
    """Do what `clock.set_the_clock` does, given the two ratios of the mean force to noise."""
    age = n[_AGE]
    step = 1.0
    if adaptive and atoms > 1 and n[_TRUST] < 0.5:
        usual = 2.0 * math.log(0.5 * atoms * (atoms - 1)) + 2.0
        push = PUSH_YOUNG if age * per_atom < MIXTURE else PUSH
        slide = (1.0 - push * (whole - 1.0)) * max(1.0, 0.5 * age * feeling)
        step = min(1.0, slide, 2.0 - 2.0 * pair / usual)
    age = max(age + step, 1.0)
    if floor > 0.0:
        cool = COOL_SPARSE if n[_PHASE] == 1.0 else COOL
        age = min(age, max(cool / floor - cool + 1.0, 1.0))
    n[_AGE] = age


@_jit
def _resign(n: Any, correlation: float) -> None:
    """Take a correlation of gates that lasts for a trait of the data."""
    if n[_WAITED] > PATIENCE:
        n[_TOLERATED] = max(n[_TOLERATED], correlation - STUCK + MARGIN)
        n[_WAITED] = 0.0


@_jit
def _phase(n: Any, rows: Any, together: Any, ratio: float, per_atom: float, inside: float, adaptive: bool) -> Any:
    """Do what `HandOver._change_phase` does."""
    correlation, first, second = _most_alike(rows[_GATE], together)
    if n[_FIRST] != first or n[_SECOND] != second:
        n[_TURN] = 0.0
    n[_FIRST], n[_SECOND] = first, second
    belongs = _weakest(rows)[1]
    enough = n[_STEPS] * per_atom > MIXTURE and belongs > BELONGS and inside > INSIDE
    stuck = correlation > STUCK + n[_TOLERATED]
    window = max(1.0, COOL_SPARSE * MIXTURE / per_atom)
    hot = max(1.0, COOL * HOT / per_atom)
    age = n[_AGE]
    if n[_PHASE] == 0.0:
        if ratio < WAIT and enough:
            age = min(age, hot)
        over = ratio < SPARSE and not stuck and enough
        if ratio < WAIT and enough and stuck:
            n[_WAITED] += per_atom
        _resign(n, correlation)
        if over:
            age = min(age, window)
        if adaptive:
            n[_AGE] = age
        if n[_AGE] > SETTLED * window:
            n[_MARK] = n[_LEVEL]
        if over:
            n[_LEVEL] = n[_MARK] = ratio
            n[_PHASE] = 1.0
            n[_EVIDENCE] = n[_TURN] = 0.0
            n[_TRUST] = 1.0
        return over
    lost = n[_EVIDENCE] > ALARM
    saddle = n[_TURN] > ALARM and n[_TOLERATED] == 0.0
    back = stuck or lost or saddle or belongs < ASTRAY or inside < OUTSIDE
    if stuck:
        n[_WAITED] += DETOUR
    _resign(n, correlation)
    if lost:
        n[_WAITED] = n[_TOLERATED] = 0.0
    if back:
        age = min(age, max(1.0, COOL * LOST / per_atom) if lost else hot)
    halved = not back and n[_LEVEL] < 0.5 * n[_MARK]
    if halved:
        age = min(age, window)
    if adaptive:
        n[_AGE] = age
    if halved or n[_AGE] > SETTLED * window:
        n[_MARK] = n[_LEVEL]
    if lost:
        n[_CHANGES] += 1.0
    if back:
        slab = n[_SIGNAL] / max(n[_OPEN], 1e-12)
        n[_OPEN], n[_SIGNAL], n[_ENERGY] = 0.5, 0.5 * slab, 0.75 * slab
        n[_PHASE] = 0.0
        n[_EVIDENCE] = n[_TURN] = 0.0
        n[_TRUST] = 1.0
    return back


@_jit
def compiled_hand_over(
    x: Any,
    gradient: Any,
    batch: Any,
    old: Any,
    old_rows: Any,
    matrices: Any,
    p: float,
    sparse: bool,
    floor: float,
    adaptive: bool,
    low: float,
    tolerance: float,
) -> Any:
    """Take a step; return the point, the gradient, the next guess, the three memories, and whether it was taken.

    It is not taken where certified products do not do, or where values are missing, infinite, all zero or extreme.
    """
    untaken = (x, gradient, low, old, old_rows, matrices, False)
    most = 10.0 ** (370.0 / max(p, 4.0))  # see `fused.largest_square`
    total = _square_norm(batch)
    if low < LOWEST or old[_ENERGY] <= NOTHING or not 1.0 / most < total < most:
        return untaken
    samples, atoms = batch.shape[0], x.shape[1]
    z = np.dot(batch, x)
    silent = np.zeros(samples, np.bool_)
    heard = 0
    for i in range(samples):
        silent[i] = not _square_norm(z[i]) > 0.0
        heard += not silent[i]
    if heard == 0 or (heard < samples and floor > 0.0):  # the floor is that of all samples
        return untaken
    per_atom = heard / atoms
    share = 1.0 / heard
    n = old.copy()
    n[_STEPS] += 1.0
    in_phase = n[_PHASE] == 1.0
    sparsity, spike, slab = _mixture(n)
    kappa = 0.5 * (1.0 / spike - 1.0 / slab)
    offset = math.log(sparsity / (1.0 - sparsity)) + 0.5 * math.log(spike / slab)
    wide = min(max(WIDEST * slab, spike), WIDEN * spike)
    wide_kappa = 0.5 * (1.0 / wide - 1.0 / slab)
    wide_offset = math.log(sparsity / (1.0 - sparsity)) + 0.5 * math.log(wide / slab)
    shift = SHIFT if x.shape[0] == atoms else 0.0
    second = n[_ENERGY]
    bent, gated = _weakest(old_rows)
    bend_shift = shift * min((p - 1.0) * n[_BEND], bent)
    unit = PULL * second ** (1.0 - 0.5 * p)
    gate_shift = shift * min(sparsity, gated)
    less = 0.5 * (1.0 / slab - 1.0 / second)

    gates = np.empty_like(z)
    score = np.empty_like(z)
    fresh = np.zeros((4, atoms))
    energy = opened = signal = bend = surprise = 0.0
    product = 1.0
    for i in range(samples):
        if silent[i]:
            gates[i] = 0.0
            score[i] = 0.0
            continue
        for j in range(atoms):
            one = z[i, j]
            square = one * one
            odds = offset + kappa * square
            rest = math.exp(-abs(odds)) if abs(odds) < 40.0 else 0.0
            gate = (1.0 if odds > 0.0 else rest) / (1.0 + rest)
            size = abs(one) if p == 3.0 else abs(one) ** (p - 2.0)
            gates[i, j] = gate
            energy += square
            opened += gate
            signal += gate * square
            bend += size
            fresh[_GATE, j] += gate
            fresh[_SQUARE, j] += square
            fresh[_BENT, j] += size * square
            fresh[_GATED, j] += gate * square
            if in_phase:
                # The logarithm of 1 + e^-odds, its last part by way of a product of factors between 1 and 2.
                surprise += max(-odds, 0.0) - less * square
                product *= 1.0 + rest
                if product > 1e200:
                    surprise += math.log(product)
                    product = 1.0
                score[i, j] = (_gate(wide_offset + wide_kappa * square) - gate_shift) * one * share
            else:
                score[i, j] = (size - bend_shift) * unit * one * share
    count = heard * atoms
    inside = 1.0 if x.shape[0] == atoms else energy / total
    if not 0.0 < energy < np.inf:
        return untaken
    if in_phase:
        gain = surprise + math.log(product) + count * (math.log(sparsity) + 0.5 * math.log(second / slab))
        n[_EVIDENCE] = max(n[_EVIDENCE] - gain, 0.0)
        first, other = int(n[_FIRST]), int(n[_SECOND])
        turn = 0.0
        for i in range(samples):
            if silent[i] or first == other:
                continue
            a, b = z[i, first], z[i, other]
            turn -= _softplus(-offset - kappa * a * a) + _softplus(-offset - kappa * b * b)
            turn += _softplus(-offset - 0.5 * kappa * (a + b) ** 2) + _softplus(-offset - 0.5 * kappa * (a - b) ** 2)
        n[_TURN] = max(n[_TURN] + turn, 0.0)
    else:
        n[_EVIDENCE] = n[_TURN] = 0.0

    cool = COOL_SPARSE if in_phase else COOL
    rho = max(cool / (n[_AGE] + cool - 1.0), floor)
    g = np.dot(batch.T, score)
    was, new = gradient.reshape(-1), g.reshape(-1)
    for i in range(new.size):
        new[i] = (1.0 - rho) * was[i] - rho * new[i]
    moved, guess, good = _polar(g, low, tolerance, -1.0)
    if not good:
        return untaken
    mixing = max(min(1.0, per_atom / MIXTURE), 1.0 / (n[_STEPS] + 1.0))
    n[_OPEN] += mixing * (opened / count - n[_OPEN])
    n[_SIGNAL] += mixing * (signal / count - n[_SIGNAL])
    n[_ENERGY] += mixing * (energy / count - n[_ENERGY])
    n[_BEND] += mixing * (bend / count - n[_BEND])
    watching = max(min(1.0, per_atom / GATES, rho if in_phase else 1.0), 1.0 / n[_STEPS])
    rows = old_rows.copy()
    for k in range(4):
        for j in range(atoms):
            rows[k, j] += watching * (fresh[k, j] * share - rows[k, j])
    kept = np.empty_like(matrices)
    together, turning, power = kept[0], kept[1], kept[2]
    old_together, old_force, old_power = matrices[0], matrices[1], matrices[2]
    alike = np.dot(gates.T, gates)
    force = np.dot(z.T, score)
    feeling = max(rho, min(1.0, per_atom / FORCE))
    n[_TRUST] = (1.0 - feeling) ** 2 * n[_TRUST] + feeling * feeling
    trust = n[_TRUST]
    squares = powers = pair = 0.0
    tiny = 2.2250738585072014e-308
    for i in range(atoms):
        for j in range(atoms):
            together[i, j] = old_together[i, j] + watching * (alike[i, j] * share - old_together[i, j])
            pull = force[i, j] - force[j, i]
            mean = old_force[i, j] + feeling * (pull - old_force[i, j])
            variance = old_power[i, j] + feeling * (pull * pull - old_power[i, j])
            turning[i, j] = mean
            power[i, j] = variance
            squares += mean * mean
            powers += variance
            pair = max(pair, mean * mean / max(trust * variance, tiny))
    sparsity, spike, slab = _mixture(n)
    ratio = spike / slab
    n[_LEVEL] += rho * (ratio - n[_LEVEL])
    _clock(n, squares / max(trust * powers, tiny), pair, feeling, per_atom, atoms, floor, adaptive)
    if sparse and _phase(n, rows, together, ratio, per_atom, inside, adaptive):
        turning[:] = 0.0
        power[:] = 0.0
    n[_AGE] = max(n[_AGE], 1.0)
    return moved, g, guess, n, rows, kept, True
