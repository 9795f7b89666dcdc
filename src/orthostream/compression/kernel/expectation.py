"""What is expected of a reading, before it is coded: where it should be, and how far off that may be."""

from __future__ import annotations

import math

from orthostream._typing import FloatArray
from orthostream.compression.kernel.account import CENTRED, SCALES
from orthostream.compression.kernel.group_state import LEVELS, Group
from orthostream.compression.kernel.memory import remembered
from orthostream.compression.kernel.student import WIDEST_SCALE

#: Compiled without memory management: nothing here makes arrays.
ALLOCATES = False
#: Functions with this parameter are inlined: it is many arrays, which a call would copy.
INLINES = "group"

_DRIFT = 2251799813685248.0  # 2**51

#: What is known of each sensor in a sample, as rows of ``facts``: the scale of its errors, how much it is trusted, its
#: error; the prediction without the memory, what other sensors added to it, and the spread of errors in time; what
#: sensors coded before it say of it, in scales; its error if that is a jump, and its error without any limit.
SCALE, TRUST, ERROR, BASIS, CONDITION, SPREAD, CORRECTION, JUMP, UNLIMITED = range(9)
N_FACTS = 9


def expect(
    group: Group,
    facts: FloatArray,
    i: int,
    w: float,
    row: int,
    first: bool,
    predicted: float,
    before: float,
    spread: float,
    remembers: bool,
) -> tuple[float, float, float, int]:
    """Return what is expected of a sensor in time, and after other sensors; the scale of its errors; its level.

    It is written to the ``row`` of the history too: what is known if the reading is missing.
    """
    deviation = math.sqrt(float(group.variance[i]))
    # A prediction that has lost its way must not lead the next one astray.
    farthest = 8.0 * deviation + 16.0 * w
    if not (abs(predicted - before) <= farthest):
        # After a spike it may go back to where the sensor mostly is.
        is_usual = abs(predicted - float(group.mean[i])) <= 0.25 * farthest
        if group.mixture.ring.shape[0] == 0 or not is_usual:
            predicted = before
    plan = predicted
    if remembers and not first:
        plan = predicted + remembered(group.memory, i)
        if not (abs(plan - before) <= farthest or abs(plan - predicted) <= farthest):
            plan = predicted
    level = (plan - float(group.mean[i])) / deviation
    level_bin = 0
    if level >= -2.5:
        level_bin = int(min(math.floor(level * 2.0) + 5.0, LEVELS - 1.0))
    scale = spread * float(group.level_factors[level_bin])
    expected = plan + scale * float(facts[CORRECTION, i])
    if not (abs(expected - plan) <= farthest):
        expected = plan
    # A sensor that is missing for long may drift far out, but not beyond what an integer holds.
    expected = min(max(expected, -_DRIFT), _DRIFT)
    facts[SCALE, i] = scale
    if first:
        group.history[row, i] = 0.0
    else:
        group.history[row, i] = expected
        facts[ERROR, i] = expected - plan
    if remembers:
        facts[BASIS, i] = predicted
        facts[CONDITION, i] = expected - plan
        facts[SPREAD, i] = 0.0 if first else spread
    return plan, expected, scale, level_bin


def width_of_curve(group: Group, i: int, w: float, scale: float, factor: float, stir_bin: int, shape: int) -> float:
    """Return the scale of the bell curve of a sensor."""
    deviation = math.sqrt(float(group.pivots[i])) * scale
    spread = deviation * float(group.ratio[i]) * float(group.stir_factors[stir_bin]) * factor * SCALES[shape]
    if not (spread < WIDEST_SCALE * w):
        return WIDEST_SCALE * w
    return 0.02 * w if spread < 0.02 * w else spread


def centre_of(expected: float, spread: float, w: float, mixing: bool, mixes: bool) -> int:
    """Return the middle of a cell: near the prediction if it is good, otherwise where cells are met again."""
    if mixes:
        return 0
    if mixing and spread > CENTRED * w:
        return math.floor(expected / w + 0.5) * int(w)
    return math.floor(expected + 0.5)
