"""The decisions of a guarded hand-over, on the numbers of one problem: limit, offset, comparison, trust.

Both paths run these functions. Python runs them on a list of numbers, Numba compiles them for an array.
"""

from __future__ import annotations

import math
from typing import Any

from orthostream.optimize.estimates.guarded.constants import (
    AHEAD,
    ANY,
    BEHIND,
    BLOCK,
    CALM,
    CLEARLY,
    COOL_ANCHOR,
    DOMINANT,
    ENOUGH,
    EVERY,
    EXACT,
    FAR_AHEAD,
    FAR_BEHIND,
    FEW_LOUD,
    LATE,
    LEAD_MEMORY,
    LEAP,
    LEAST_LEAD,
    LONG_SILENCE,
    MEAN_MEMORY,
    MOST_REPEATS,
    OFFSET,
    PART,
    QUANTILE,
    RATE,
    RIDGED_GUESS,
    SAME,
    SINGULAR_MOVES,
    STRICT_L1,
    STRICT_L3,
    TINY,
    TRIAL_LENGTH,
)
from orthostream.optimize.estimates.guarded.layout import (
    ANCHOR_AGE,
    AVERAGED,
    CENTRED,
    COMPARED,
    CONTRAST,
    GUARD_COUNT,
    KNOWN_CHANGES,
    LEAD,
    LEAD_L1,
    LEAD_L1_POWER,
    LEAD_POWER,
    LENGTH,
    LIMIT,
    LOUD,
    NOTHING_MORE,
    QUIET,
    REPLACE,
    REPLACED,
    RESTART,
    RESTARTS,
    SEEN,
    SINCE,
    TRIAL,
    TRUSTED,
    WAITING,
)
from orthostream.optimize.estimates.hand_over.layout import (
    AGE,
    CHANGES,
    ENERGY,
    EVIDENCE,
    LEVEL,
    OPEN,
    PHASE,
    SIGNAL,
    TOLERATED,
    TRUST,
    TURN,
    WAITED,
)


def start_guard(g: Any, typical: float, changes: float) -> None:
    """Set the numbers to their first values.

    ``typical`` is the mean of the logarithm of the first squared lengths, ``changes`` the number of abrupt changes that
    the course has seen: it may have learnt without a guard.
    """
    for i in range(GUARD_COUNT):
        g[i] = 0.0
    g[LIMIT] = typical
    g[ANCHOR_AGE] = g[TRUSTED] = 1.0
    g[KNOWN_CHANGES] = changes


def move_limit(g: Any, longer: float, shorter: float, silent: float, typical: float, atoms: int) -> bool:
    """Move the limit of the length, given how many samples are longer, shorter, and next to nothing.

    ``typical`` is the mean of the logarithm of the squared lengths. Return whether the first samples turn out to have
    been outliers, so that what was learnt from them must be forgotten.
    """
    rate = max(RATE, 1.0 / (1.0 + 0.1 * g[SEEN]))
    step = rate * (QUANTILE * longer - (1.0 - QUANTILE) * (shorter + CALM * silent))
    g[SEEN] += longer + shorter + silent
    g[LOUD] += longer + shorter
    g[QUIET] = 0.0 if longer + shorter > 0.0 else g[QUIET] + silent
    g[LIMIT] += min(max(step, -LEAP), LEAP)
    few = g[LOUD] < FEW_LOUD * atoms
    if g[QUIET] <= (g[LOUD] if few else LONG_SILENCE * atoms):
        return False
    g[LIMIT] = typical
    g[QUIET] = g[AVERAGED] = 0.0
    if few:  # weights start at 1 again, so that the next samples replace what the anchor has learnt
        g[LOUD] = 0.0
        g[ANCHOR_AGE] = 1.0
    return bool(few)


def signature_weight(j: int) -> float:
    """Return the weight of reading j in the signature of a sample.

    The weights are independent over the integers, so that different samples of whole numbers differ too.
    """
    return 1.5 + math.sin(j + 1.0)


def is_repeat(g: Any, last: int, signature: float) -> bool:
    """Count how often in a row a sample or mini-batch has come; return whether it is too often to learn from."""
    same = abs(signature - g[last]) <= SAME * abs(signature)
    g[last + 1] = g[last + 1] + 1.0 if same else 1.0
    g[last] = signature
    return bool(g[last + 1] > MOST_REPEATS)


def mean_weight(g: Any, samples: float, atoms: int) -> float:
    """Return the weight of a mini-batch in the mean of the samples, and count it."""
    counted: float = min(g[AVERAGED] + samples, MEAN_MEMORY * atoms)
    g[AVERAGED] = counted
    return min(samples / counted, 1.0)


def has_offset(g: Any, square: float) -> bool:
    """Return whether the mean, of this squared length, is neither noise nor the main part of the samples."""
    significant: bool = OFFSET * g[LENGTH] < square * max(g[AVERAGED], 1.0)
    return significant and square < DOMINANT * g[LENGTH]


def anchor_weight(g: Any) -> float:
    """Return the weight of a new gradient in that of the anchor."""
    weight: float = COOL_ANCHOR / (g[ANCHOR_AGE] + COOL_ANCHOR - 1.0)
    return min(1.0, weight)


def count_batch(g: Any, per_atom: float) -> tuple[bool, bool]:
    """Count a mini-batch; return whether the snapshots are compared on it, and whether the anchor moves after it."""
    g[SINCE] += per_atom
    g[TRIAL] += min(per_atom, 1.0)
    g[WAITING] += per_atom
    g[ANCHOR_AGE] += 1.0
    return g[SINCE] > 0.5 * BLOCK, g[WAITING] >= max(EVERY, PART * g[ANCHOR_AGE] * per_atom)


def point_weight(g: Any, per_atom: float) -> float:
    """Return the weight of a new point of the anchor in the mean of its points."""
    weight: float = (1.0 + LATE) * g[WAITING] / (per_atom * g[ANCHOR_AGE])
    g[WAITING] = 0.0
    return min(1.0, weight)


def carried_guess(guess: float) -> float:
    """Return the guess of the conditioning for the anchor's next move.

    A negative one counts moves with a nearly singular gradient, which take the exact path; see `polar`.
    """
    return RIDGED_GUESS if guess <= -SINGULAR_MOVES else guess


def compare(g: Any, lead: float, contrast: float, lead_l1: float, per_atom: float) -> None:
    """Add what a mini-batch says of the two snapshots: by how much the course's codes are sparser, in l3 and in l1."""
    keep = math.exp(-per_atom / LEAD_MEMORY)
    g[LEAD] = keep * g[LEAD] + lead
    g[LEAD_POWER] = keep * keep * g[LEAD_POWER] + lead * lead
    g[CONTRAST] = keep * g[CONTRAST] + contrast
    g[LEAD_L1] = keep * g[LEAD_L1] + lead_l1
    g[LEAD_L1_POWER] = keep * keep * g[LEAD_L1_POWER] + lead_l1 * lead_l1
    g[COMPARED] = keep * g[COMPARED] + 1.0


def judge(g: Any, n: Any) -> int:
    """Decide which dictionary is trusted; return whether the course or the anchor starts again from the other."""
    if n[CHANGES] > g[KNOWN_CHANGES]:
        g[TRUSTED] = 0.0
    g[KNOWN_CHANGES] = n[CHANGES]  # also downwards: a course that was forgotten counts from 0
    ahead = _deviations_ahead(g, n)
    verdict = NOTHING_MORE
    if ahead < BEHIND:
        g[TRUSTED] = 0.0
        if ahead < FAR_BEHIND and g[TRIAL] > TRIAL_LENGTH:
            verdict = RESTART
            g[RESTARTS] += 1.0
            g[TRIAL] = 0.0
    elif ahead > AHEAD and g[TRUSTED] == 0.0:
        g[TRUSTED] = 1.0
        _forget_comparison(g)
    elif ahead > FAR_AHEAD and g[LEAD] > CLEARLY * g[CONTRAST]:
        verdict = REPLACE
        g[REPLACED] += 1.0
        g[ANCHOR_AGE] = 1.0
    if verdict != NOTHING_MORE:
        _forget_comparison(g)
    return verdict


def block_is_over(g: Any) -> bool:
    """Return whether new snapshots are due, and begin the next block if so."""
    if g[SINCE] < BLOCK:
        return False
    g[SINCE] = 0.0
    return True


def start_from_anchor(n: Any, g: Any, square: float) -> None:
    """Set the numbers of a course that starts at the anchor's dictionary; ``square`` is that of the mean's length."""
    if n[PHASE] == 1.0:
        slab = n[SIGNAL] / max(n[OPEN], 1e-12)
        n[OPEN], n[SIGNAL], n[ENERGY] = 0.5, 0.5 * slab, 0.75 * slab
        n[PHASE] = 0.0
    n[EVIDENCE] = n[TURN] = n[WAITED] = 0.0
    n[TRUST] = 1.0
    # If the anchor is near the truth, correlated gates are a property of the data. If it is not, they are a pair of
    # atoms that is still mixed. Two of three trials assume the first.
    n[TOLERATED] = ANY if g[RESTARTS] % 3.0 != 0.0 else 0.0
    n[AGE] = g[ANCHOR_AGE]
    g[CENTRED] = 1.0 - g[CENTRED] if has_offset(g, square) else 0.0
    g[SINCE] = 0.0


def _deviations_ahead(g: Any, n: Any) -> float:
    """Return by how many standard deviations the course is ahead of the anchor.

    l3 decides about spike and slab. While the course has the lp contrast too, which of the two dictionaries has the
    better memory is the question, and a lead in either norm counts; the same if codes are exactly sparse. With fewer
    atoms than features l1 is not asked: it is smallest for atoms that hold the least energy.
    """
    if g[COMPARED] < ENOUGH:
        return 0.0
    least = max((LEAST_LEAD * g[CONTRAST]) ** 2, TINY)
    ahead: float = g[LEAD] / math.sqrt(max(g[LEAD_POWER], least))
    if g[LEAD_L1_POWER] == 0.0:
        return ahead
    sparser: float = g[LEAD_L1] / math.sqrt(max(g[LEAD_L1_POWER], least))
    if n[PHASE] == 0.0:
        return max(ahead, sparser)
    if n[LEVEL] >= EXACT:
        return ahead
    if n[TOLERATED] == 0.0:
        return max(ahead, sparser)
    # Two atoms that always occur together are not separated by spike and slab, but they are by l3.
    if sparser > STRICT_L1 and ahead > STRICT_L3:
        return AHEAD + 0.1
    return min(ahead - 1.0, sparser - 3.0)


def _forget_comparison(g: Any) -> None:
    g[LEAD] = g[LEAD_POWER] = g[CONTRAST] = g[LEAD_L1] = g[LEAD_L1_POWER] = g[COMPARED] = 0.0
