"""The decisions of a hand-over, on the numbers of one problem: mixture, weights, evidence, clock and phase.

Both paths run these functions. Python runs them on a list of numbers, Numba compiles them for an array.
"""

from __future__ import annotations

import math
from typing import Any

from orthostream.optimize.estimates.hand_over.constants import (
    ALARM,
    ALWAYS,
    ASLEEP,
    ASTRAY,
    BELONGS,
    COOL,
    COOL_SPARSE,
    DETOUR,
    FITS,
    FITS_NOT,
    FORCE_MEMORY,
    GATE_MEMORY,
    HOT,
    INSIDE,
    LEAST,
    LOST,
    MARGIN,
    MIXTURE_MEMORY,
    OUTSIDE,
    PATIENCE,
    PULL,
    PUSH,
    PUSH_YOUNG,
    SETTLED,
    SHIFT,
    SLEEPS,
    SPARSE,
    STUCK,
    WAIT,
    WIDE,
    WIDE_MEMORY,
    WIDEN,
    WIDEST,
)
from orthostream.optimize.estimates.hand_over.layout import (
    ADVANTAGE,
    AGE,
    ALIKE,
    BEND,
    CHANGES,
    COUNT,
    ENERGY,
    EVIDENCE,
    FIRST,
    LEVEL,
    MARK,
    OPEN,
    PHASE,
    SECOND,
    SIGNAL,
    STEPS,
    TOLERATED,
    TRUST,
    TURN,
    UNIT_OPEN,
    WAITED,
)


def start(n: Any, energy: float) -> None:
    """Set the numbers to their first values, given the mean square of the first mini-batch's coefficients."""
    for i in range(COUNT):
        n[i] = 0.0
    n[AGE] = n[TRUST] = n[LEVEL] = n[MARK] = 1.0
    n[OPEN], n[SIGNAL], n[ENERGY] = 0.5, 0.5 * energy / 0.75, energy


def mixture(n: Any) -> tuple[float, float, float]:
    """Return the sparsity, the spike and the slab that the running means describe."""
    return mixture_of(n[OPEN], n[SIGNAL], n[ENERGY], 1e-3, LEAST)


def mixture_of(opened: float, signal: float, energy: float, rare: float, least: float) -> tuple[float, float, float]:
    """Return sparsity, spike and slab, none of them more extreme than the shares ``rare`` and ``least``."""
    sparsity = min(max(opened, rare), 1.0 - rare)
    slab = signal / max(opened, 1e-12)
    if not slab > 0.0:
        slab = 1.0
    spike = (energy - signal) / (1.0 - sparsity)
    return sparsity, min(max(spike, least * slab), 0.9 * slab), slab


def least_energy(n: Any) -> float:
    """Return the mean square of a coefficient up to which an atom is asleep: it holds only rounding or noise."""
    _, spike, _ = mixture(n)
    share: float = ASLEEP * n[ENERGY]
    return min(SLEEPS * spike, share)


def only_if_few(level: float, asleep: int, atoms: int) -> float:
    """Return the energy up to which atoms are asleep; 0 if most of them would be, as those of real sensors.

    The mixture is that of all atoms, so it tells nothing about the few that are left.
    """
    return level if 2 * asleep <= atoms else 0.0


def log_odds(sparsity: float, spike: float, slab: float) -> tuple[float, float]:
    """Return (a, b): a coefficient z belongs to the slab with log-odds a + b z^2."""
    odds = math.log(sparsity / (1.0 - sparsity)) + 0.5 * math.log(spike / slab)
    return odds, 0.5 * (1.0 / spike - 1.0 / slab)


def widened(spike: float, slab: float) -> float:
    """Return the spike that the gradient uses."""
    return min(max(WIDEST * slab, spike), WIDEN * spike)


def has_pair(n: Any) -> bool:
    """Return whether spike and slab is in force and two gates always open together."""
    return bool(n[PHASE] == 1.0 and n[ALIKE] > ALWAYS)


def wide_mixture(n: Any, sparsity: float, spike: float, slab: float, per_atom: float) -> tuple[float, float, float]:
    """Return the mixture, with the spike that is used for two atoms whose gates always open together.

    They may be a mixture of two true atoms. A narrow spike exerts no force on such a pair: what one atom holds of the
    other is already slab. A wide one separates them; it narrows as the memory gets longer.
    """
    cooled: float = min(1.0, WIDE_MEMORY / (per_atom * n[AGE]))
    return sparsity, max(widened(spike, slab), WIDE * cooled * cooled * slab), slab


def turning_weight(per_atom: float) -> float:
    """Return the part of the angle that pairs which always occur together are turned by at least."""
    return min(1.0, per_atom / WIDE_MEMORY)


def new_weight(n: Any, samples: float, half_life: float) -> tuple[float, float]:
    """Return the weight of a new gradient, and the smallest weight that the half-life allows."""
    floor = 1.0 - 0.5 ** (samples / half_life)
    cool = COOL_SPARSE if n[PHASE] == 1.0 else COOL
    return max(cool / (n[AGE] + cool - 1.0), floor), floor


def score_shape(n: Any, sparsity: float, bent: float, gated: float, p: float, whole: bool) -> tuple[float, float]:
    """Return (shift, unit): the score of z is unit (|z|^(p-2) - shift) z, or (gate - shift) z for spike and slab.

    ``bent`` and ``gated`` are the pulls of the two contrasts along the weakest atom. With fewer atoms than features the
    energy is not constant, so that no multiple of it may be subtracted.
    """
    share = SHIFT if whole else 0.0
    if n[PHASE] == 1.0:
        return share * min(sparsity, gated), 1.0
    return share * min((p - 1.0) * n[BEND], bent), PULL * max(n[ENERGY], 1e-100) ** (1.0 - 0.5 * p)


def weigh_evidence(
    n: Any, sparsity: float, slab: float, misfit: float, energy: float, turn: float, size: float
) -> None:
    """Compare spike and slab with a normal distribution, and the most correlated pair with the same pair turned.

    ``misfit`` is the mean of log(1 + exp(-log-odds)), ``energy`` the mean square and ``size`` the number of the
    coefficients of the mini-batch; ``turn`` is the log-likelihood that turning the pair would gain.
    """
    if n[PHASE] == 0.0:
        n[EVIDENCE] = n[TURN] = 0.0
        return
    second = n[ENERGY]
    gain = misfit - 0.5 * energy * (1.0 / slab - 1.0 / second) + math.log(sparsity) + 0.5 * math.log(second / slab)
    n[EVIDENCE] = max(n[EVIDENCE] - gain * size, 0.0)
    n[TURN] = max(n[TURN] + turn, 0.0)


def learn_mixture(n: Any, opened: float, signal: float, energy: float, bend: float, per_atom: float) -> None:
    """Add the means of a mini-batch to the running means of the mixture."""
    weight = max(min(1.0, per_atom / MIXTURE_MEMORY), 1.0 / (n[STEPS] + 1.0))
    n[OPEN] += weight * (opened - n[OPEN])
    n[SIGNAL] += weight * (signal - n[SIGNAL])
    n[ENERGY] += weight * (energy - n[ENERGY])
    n[BEND] += weight * (bend - n[BEND])


def other_weights(n: Any, rho: float, per_atom: float) -> tuple[float, float]:
    """Return the weights of a mini-batch in the running means of the gates and of the force."""
    slow = rho if n[PHASE] == 1.0 else 1.0
    gates = max(min(1.0, per_atom / GATE_MEMORY, slow), 1.0 / n[STEPS])
    force = max(rho, min(1.0, per_atom / FORCE_MEMORY))
    n[TRUST] = (1.0 - force) ** 2 * n[TRUST] + force * force
    return gates, force


def measure_level(n: Any, rho: float) -> float:
    """Return the ratio of the spike to the slab, and add it to its running mean."""
    _, spike, slab = mixture(n)
    ratio = spike / slab
    n[LEVEL] += rho * (ratio - n[LEVEL])
    return ratio


def set_clock(
    n: Any, whole: float, pair: float, weight: float, per_atom: float, atoms: int, floor: float, adaptive: bool
) -> None:
    """Let the clock run if the mean force is only noise, and set it back if a force persists.

    ``whole`` and ``pair`` are ratios of the squared mean force to its variance: over all pairs of atoms, and the
    largest of any pair. For noise each pair's ratio is about 1. ``weight`` is that of a mini-batch in the mean force.
    """
    age = n[AGE]
    step = 1.0
    if adaptive and atoms > 1 and n[TRUST] < 0.5:
        usual = 2.0 * math.log(0.5 * atoms * (atoms - 1)) + 2.0  # about the largest of that many squared normals
        push = PUSH_YOUNG if age * per_atom < MIXTURE_MEMORY else PUSH
        slide = (1.0 - push * (whole - 1.0)) * max(1.0, 0.5 * age * weight)
        step = min(1.0, slide, 2.0 - 2.0 * pair / usual)
    age = max(age + step, 1.0)
    if floor > 0.0:
        cool = COOL_SPARSE if n[PHASE] == 1.0 else COOL
        age = min(age, max(cool / floor - cool + 1.0, 1.0))
    n[AGE] = age


def may_change(n: Any, ratio: float) -> bool:
    """Return whether the phase can change at all; if not, the other measurements are skipped."""
    return n[PHASE] == 1.0 or ratio < SPARSE


def can_start(n: Any, belongs: float, inside: float, per_atom: float) -> bool:
    """Return whether spike and slab may start: enough samples, a good fit, all atoms in the slab, all energy inside."""
    fits = n[STEPS] * per_atom > MIXTURE_MEMORY and n[ADVANTAGE] > FITS
    return fits and belongs > BELONGS and inside > INSIDE


def needs_pairs(n: Any, ratio: float, able: bool) -> bool:
    """Return whether the next decision needs the most correlated pair of gates."""
    return n[PHASE] == 1.0 or (able and may_change(n, ratio))


def change_phase(
    n: Any,
    ratio: float,
    correlation: float,
    first: int,
    second: int,
    belongs: float,
    inside: float,
    able: bool,
    per_atom: float,
    adaptive: bool,
) -> bool:
    """Hand over to spike and slab, go back to lp, or only set the clock back; return whether the phase has changed."""
    if n[FIRST] != first or n[SECOND] != second:
        n[TURN] = 0.0
    n[FIRST], n[SECOND], n[ALIKE] = first, second, correlation
    stuck = correlation > STUCK + n[TOLERATED]
    if n[PHASE] == 0.0:
        changed = _hand_over(n, ratio, correlation, stuck, able, per_atom, adaptive)
    else:
        changed = _go_back(n, correlation, stuck, belongs, inside, per_atom, adaptive)
    if changed:
        n[EVIDENCE] = n[TURN] = 0.0
        n[TRUST] = 1.0
    return changed


def _window(per_atom: float) -> float:
    """Return the age at which the memory of spike and slab is as long as that of the mixture."""
    return max(1.0, COOL_SPARSE * MIXTURE_MEMORY / per_atom)


def _hot(per_atom: float) -> float:
    """Return the age at which the lp contrast follows the stream quickly."""
    return max(1.0, COOL * HOT / per_atom)


def _hand_over(
    n: Any, ratio: float, correlation: float, stuck: bool, able: bool, per_atom: float, adaptive: bool
) -> bool:
    window = _window(per_atom)
    age = n[AGE]
    if able and ratio < WAIT:
        age = min(age, _hot(per_atom))
        if stuck:
            n[WAITED] += per_atom
    _tolerate(n, correlation)
    ready = able and ratio < SPARSE and not stuck
    if ready:
        age = min(age, window)
    if adaptive:
        n[AGE] = age
    if n[AGE] > SETTLED * window:
        n[MARK] = n[LEVEL]
    if ready:
        n[LEVEL] = n[MARK] = ratio
        n[PHASE] = 1.0
    return ready


def _go_back(
    n: Any, correlation: float, stuck: bool, belongs: float, inside: float, per_atom: float, adaptive: bool
) -> bool:
    window = _window(per_atom)
    lost = n[EVIDENCE] > ALARM
    saddle = n[TURN] > ALARM and n[TOLERATED] == 0.0
    back = stuck or lost or saddle or belongs < ASTRAY or inside < OUTSIDE or n[ADVANTAGE] < FITS_NOT
    if stuck:
        n[WAITED] += DETOUR
    _tolerate(n, correlation)
    age = n[AGE]
    if back:
        age = min(age, max(1.0, COOL * LOST / per_atom) if lost else _hot(per_atom))
    halved = not back and n[LEVEL] < 0.5 * n[MARK]
    if halved:
        age = min(age, window)
    if adaptive:
        n[AGE] = age
    if halved or n[AGE] > SETTLED * window:
        n[MARK] = n[LEVEL]
    if lost:
        n[WAITED] = n[TOLERATED] = 0.0
        n[CHANGES] += 1.0
    if back:
        slab = n[SIGNAL] / max(n[OPEN], 1e-12)
        n[OPEN], n[SIGNAL], n[ENERGY] = 0.5, 0.5 * slab, 0.75 * slab
        n[PHASE] = n[UNIT_OPEN] = 0.0
    return back


def _tolerate(n: Any, correlation: float) -> None:
    """Accept a correlation of two gates that has lasted long enough as a property of the data."""
    if n[WAITED] > PATIENCE:
        n[TOLERATED] = max(n[TOLERATED], correlation - STUCK + MARGIN)
        n[WAITED] = 0.0
