"""The decisions of a learner in a subspace, on the numbers of one problem: weights, clock, which basis is in force.

Both paths run these functions. Python runs them on a list of numbers, Numba compiles them for an array.
"""

from __future__ import annotations

import math
from typing import Any

from orthostream.optimize.estimates.subspace.constants import (
    AHEAD,
    BLOCK,
    CLEARLY,
    CLOSE,
    COOL,
    DIVERSE,
    DRIFT_MEMORY,
    ENOUGH,
    EVERY,
    FAR_AHEAD,
    FEW,
    JUMP,
    KNOWN,
    LEAD_MEMORY,
    LEAST_LEAD,
    LONG,
    NEAR,
    PART,
    PULL_MEMORY,
    PUSH,
    PUSH_YOUNG,
    QUICK_MEMORY,
    SETTLED,
    SHORTEST_BLOCK,
    YOUNG,
)
from orthostream.optimize.estimates.subspace.layout import (
    AGE,
    CHANGED,
    COMPARED,
    GUESS,
    HELD,
    IN_FORCE,
    JUDGED,
    LEAD_QUICK,
    LEAD_STEADY,
    NUMBERS,
    OUTSIDE,
    PATIENT_ONE,
    POWER,
    POWER_QUICK,
    POWER_STEADY,
    QUICK_ONE,
    REMEMBERED,
    SINCE,
    STEADY_AGE,
    STEADY_ONE,
    TRUST,
    UNUSED,
    WAITING,
)


def start_tracking(s: Any) -> None:
    """Set the numbers to their first values."""
    for i in range(NUMBERS):
        s[i] = 0.0
    s[TRUST] = 1.0
    s[GUESS] = NEAR


def forget_bases(s: Any) -> None:
    """Let the next samples replace what the bases remember."""
    s[AGE] = s[STEADY_AGE] = s[WAITING] = s[REMEMBERED] = s[UNUSED] = s[HELD] = 0.0


def unit_of_time(atoms: int) -> int:
    """Return how many samples the constants call one per atom: a few samples say little, however few atoms."""
    return max(atoms, FEW)


def pull_weight(samples: float, atoms: int) -> float:
    """Return the weight of a mini-batch in the pulls along the atoms."""
    return min(1.0, samples / (PULL_MEMORY * unit_of_time(atoms)))


def patient_is_due(s: Any, atoms: int) -> bool:
    """Return whether the patient basis moves."""
    due: bool = s[WAITING] >= max(EVERY * unit_of_time(atoms), PART * s[AGE])
    return due


def patient_weights(s: Any, atoms: int, half_life: float) -> tuple[float, float, float, float]:
    """Return the weights of what is fresh in the patient basis, in the steady one and in the drift; the least weight.

    The least weight is the one that the half-life, in samples, allows.
    """
    window = s[WAITING]
    least = 1.0 - 0.5 ** (window / half_life)
    rho = max(min(1.0, COOL * window / (s[AGE] + COOL * window)), least)
    steady = max(COOL * window / (s[STEADY_AGE] + COOL * window), least)
    s[STEADY_AGE] += window
    drift = max(rho, min(1.0, window / (DRIFT_MEMORY * unit_of_time(atoms))))
    s[TRUST] = (1.0 - drift) ** 2 * s[TRUST] + drift * drift
    return rho, steady, drift, least


def set_patience(
    s: Any, fresh: float, directions: float, square: float, weight: float, least: float, atoms: int, others: int
) -> None:
    """Let the clock run if the mean drift is only noise, and set it back if a drift persists.

    ``fresh`` is the squared length of the last drift, which has so many directions, and ``square`` that of the mean
    drift, in which a window has this weight. There are ``others`` directions outside of the subspace. `set_clock` of a
    hand-over does the same with the force on pairs of atoms. A drift far longer than usual is an abrupt change.
    """
    window, unit = s[WAITING], unit_of_time(atoms)
    step = 1.0
    usual = s[POWER]
    s[POWER] += weight * (fresh - s[POWER])
    if fresh > JUMP * usual > 0.0 and directions > DIVERSE * atoms:
        s[AGE] *= (JUMP * usual / fresh) ** 2
    if s[TRUST] < KNOWN and s[POWER] > 0.0:
        ratio = square / (s[TRUST] * s[POWER])
        push = PUSH_YOUNG if s[AGE] < YOUNG * unit else PUSH
        excess = ratio - 1.0 - math.sqrt(2.0 / (atoms * max(others, 1)))
        slide = (1.0 - push * excess) * max(1.0, 0.5 * (s[AGE] / window + 1.0) * weight)
        step = min(1.0, slide)
    s[AGE] = max(s[AGE] + window * step, 0.0)
    if least > 0.0:
        s[AGE] = min(s[AGE], max(COOL * window / least - COOL * window, 0.0))
    s[WAITING] = 0.0


def is_elsewhere(s: Any, inside: float, atoms: int, changes: float) -> bool:
    """Return whether a new basis spans another subspace, given its squared length in the last one.

    It is reported as an abrupt change, with the ``changes`` that the learner inside has seen, unless all is still new.
    """
    if inside > CLOSE * atoms:
        return False
    if s[STEADY_AGE] > SETTLED * unit_of_time(atoms):
        s[CHANGED] += 1.0 + changes
    return True


def quick_weight(s: Any, features: int, half_life: float) -> float:
    """Return the weight of the rows that waited in the second moment of the quick basis, and count them."""
    samples: float = s[UNUSED]
    counted: float = max(min(s[REMEMBERED] + samples, QUICK_MEMORY * features, 1.5 * half_life), samples)
    s[REMEMBERED] = counted
    s[UNUSED] = s[HELD] = 0.0
    return samples / counted


def quick_rests(s: Any, sparse: bool, atoms: int) -> bool:
    """Return whether the quick basis need not learn, because nothing moves and it is behind."""
    settled = sparse and s[IN_FORCE] != QUICK_ONE and s[AGE] > LONG * unit_of_time(atoms)
    return settled and s[COMPARED] >= ENOUGH and s[LEAD_QUICK] < -AHEAD * math.sqrt(s[POWER_QUICK])


def is_compared(s: Any, samples: float, features: int) -> tuple[bool, bool]:
    """Count a mini-batch; return whether the snapshots are compared on it, and whether new ones are due after it."""
    block = max(BLOCK * features, SHORTEST_BLOCK)
    compared = s[JUDGED] == 1.0 and s[SINCE] >= 0.5 * block
    s[SINCE] += samples
    due = s[SINCE] >= block or s[JUDGED] == 0.0
    if due:
        s[SINCE], s[JUDGED] = 0.0, 1.0
    return compared, due


def compare_bases(s: Any, quick: float, steady: float, outside: float, samples: float, features: int) -> None:
    """Add what a mini-batch says: how much more energy than the patient basis the others hold, and what it misses."""
    keep = math.exp(-samples / (LEAD_MEMORY * features))
    s[LEAD_QUICK] = keep * s[LEAD_QUICK] + quick
    s[POWER_QUICK] = keep * keep * s[POWER_QUICK] + quick * quick
    s[LEAD_STEADY] = keep * s[LEAD_STEADY] + steady
    s[POWER_STEADY] = keep * keep * s[POWER_STEADY] + steady * steady
    s[OUTSIDE] = keep * s[OUTSIDE] + outside
    s[COMPARED] = keep * s[COMPARED] + 1.0


def choose_basis(s: Any, sparse: bool) -> bool:
    """Decide which basis is in force; return whether that has changed. ``sparse`` tells whether codes are."""
    if s[COMPARED] < ENOUGH:
        return False
    quick = s[LEAD_QUICK] - (CLEARLY * s[OUTSIDE] if sparse else 0.0)
    steady = s[LEAD_STEADY]
    before = s[IN_FORCE]
    now = quick if before == QUICK_ONE else (steady if before == STEADY_ONE else 0.0)
    least = now + LEAST_LEAD * s[OUTSIDE]
    own = s[POWER_QUICK] if before == QUICK_ONE else (s[POWER_STEADY] if before == STEADY_ONE else 0.0)
    if quick > max(steady, least + AHEAD * math.sqrt(max(own, s[POWER_QUICK]))):
        s[IN_FORCE] = QUICK_ONE
    elif steady > least + AHEAD * math.sqrt(max(own, s[POWER_STEADY])):
        s[IN_FORCE] = STEADY_ONE
    elif least + AHEAD * math.sqrt(own) < 0.0:
        s[IN_FORCE] = PATIENT_ONE
    changed: bool = s[IN_FORCE] != before
    return changed


def replaces_steady(s: Any) -> bool:
    """Return whether the patient basis is so far ahead of the steady one that it takes its place, as after a change."""
    ahead = -s[LEAD_STEADY]
    if s[COMPARED] < ENOUGH or ahead < max(FAR_AHEAD * math.sqrt(s[POWER_STEADY]), CLEARLY * s[OUTSIDE]):
        return False
    s[STEADY_AGE] = s[AGE]
    s[LEAD_STEADY] = s[POWER_STEADY] = 0.0
    return True
