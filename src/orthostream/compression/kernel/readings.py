"""The readings of one sample, sensor by sensor: expect, quantise, code, adapt."""

from __future__ import annotations

import math
from typing import Any

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.account import (
    CENTRED,
    SCALES,
    chance_alone,
    chosen_shape,
    compare,
    rehearses,
    shape_account,
)
from orthostream.compression.kernel.adaptation import adapt_scale, chance_of, follow, score_of
from orthostream.compression.kernel.group_state import (
    CORRUPT,
    CURVE,
    HASH,
    LEVELS,
    SAMPLES,
    STIRS,
    Group,
    value_of,
)
from orthostream.compression.kernel.halving import code_mixed
from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP, remembered
from orthostream.compression.kernel.mixture import AGO, ASKED, LEVEL, NEIGHBOUR, PHASE, REPEATED, SHAPE, STIR
from orthostream.compression.kernel.range_coder import ENCODING, MODE, code_bit, code_bits, position_in_bits
from orthostream.compression.kernel.raw_reading import RAW_BIT, code_first, code_pattern, code_raw, rest_bits
from orthostream.compression.kernel.repeats import take_cell
from orthostream.compression.kernel.rows import add_scaled
from orthostream.compression.kernel.student import WIDEST_SCALE, code_cell

#: Compiled without memory management: nothing here makes arrays.
ALLOCATES = False

#: No integer of a lattice lies farther out.
LIMIT = 1125899906842624.0  # 2**50
_FARTHEST = 1 << 38
_DRIFT = 2251799813685248.0  # 2**51

#: What a reading is: a number of the lattice, missing, or sent as it is.
CELL, MISSING, RAW = 0, 1, 2

#: What is known of each sensor in a sample, as rows of ``facts``: the scale of its errors, how much it is trusted, its
#: error; the prediction without the memory, what other sensors added to it, and the spread of errors in time; what
#: sensors coded before it say of it, in scales.
SCALE, TRUST, ERROR, BASIS, CONDITION, SPREAD, CORRECTION = range(7)
N_FACTS = 7


def _hashed(digest: int, value: int) -> int:
    return ((digest ^ (value & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF


def _quantise(
    group: Group, i: int, w: float, first: bool, centre: int, reference: int, at: float, reading: float, limit: float
) -> tuple[bool, int]:
    """Return whether a cell around the centre holds a reading within its limit, and that cell."""
    if first:
        cell = math.floor(at + 0.5)
        far = abs(cell - reference) >= _FARTHEST
    else:
        cell = math.floor((at - centre) / w + 0.5)
        far = abs(cell) >= _FARTHEST
        cell = centre + cell * int(w)
    if far:
        return False, 0
    return group.exact[i] == 1 or abs(reading - value_of(group, i, cell)) <= limit, cell


def _code_exact(coder: IntArray, buffer: ByteArray, group: Group, i: int, pattern: int) -> int:
    """Code all bits of a reading."""
    before = position_in_bits(coder)
    if group.mixture.ring.shape[0] == 0:
        pattern = code_pattern(coder, buffer, pattern)
    else:
        pattern = code_raw(coder, buffer, group, i, pattern)
    group.spent[2] += position_in_bits(coder) - before
    return pattern


def _code_rest(coder: IntArray, buffer: ByteArray, group: Group, i: int, cell: int, rest: int) -> int:
    """Code the low bits of a float, as they are."""
    bits = rest_bits(int(group.precision[i]), cell)
    group.spent[2] += float(bits)
    return code_bits(coder, buffer, rest, bits)


def _begin_sample(group: Group, t: int, shape: int) -> None:
    """Forget what was around in the last sample."""
    around = group.mixture.around
    around[:] = 0
    around[PHASE] = t % (group.history.shape[0] - 2)
    around[SHAPE] = shape


def _centre_of(expected: float, spread: float, w: float, mixing: bool, mixes: bool) -> int:
    """Return the middle of a cell: near the prediction if it is good, otherwise where cells are met again."""
    if mixes:
        return 0
    if mixing and spread > CENTRED * w:
        return math.floor(expected / w + 0.5) * int(w)
    return math.floor(expected + 0.5)


def _is_surprise(cell: int, expected: float, spread: float, before: float, w: float) -> int:
    """Return 1 if a bell curve does not explain a cell: it is far out, or repeats the last one though few should."""
    if abs(float(cell) - expected) > 6.0 * spread:
        return 1
    return 1 if float(cell) == before and spread > 8.0 * w else 0


def _begin(group: Group, i: int, cell: int) -> None:
    """Take the first cell of a sensor in."""
    group.seen[i] = 1
    group.mean[i] = float(cell)
    group.history[:, i] = float(cell)
    if group.mixture.ring.shape[0] > 0:
        take_cell(group.mixture, i, math.floor(float(cell) / float(group.width[i]) + 0.5))


def _look_around(group: Group, i: int, w: float, bins: tuple[int, int]) -> None:
    """Write what else the mixture looks at."""
    around = group.mixture.around
    ring = group.history.shape[0]
    ago = float(group.history[(int(group.clock[SAMPLES]) + 2) % ring, i])
    around[AGO] = math.floor(ago / w + 0.5)
    around[LEVEL] = bins[0]
    around[STIR] = bins[1]


def _settle_accounts(
    rehearsal: IntArray,
    buffer: ByteArray,
    group: Group,
    i: int,
    expected: float,
    spread: float,
    cell: int,
    bins: tuple[int, int],
    tried: bool,
) -> None:
    """Rehearse the mixture if it was not used, compare the two ways, and remember the cell."""
    mixture = group.mixture
    n = len(group.width)
    w = float(group.width[i])
    index = math.floor(float(cell) / w + 0.5)
    if tried:
        if mixture.mixes[i] == 0:
            _look_around(group, i, w, bins)
            code_mixed(rehearsal, buffer, mixture, i, expected / w, spread / w, index)
        alone = chance_alone(expected, spread, w, cell, int(group.clock[CURVE]))
        compare(mixture, i, n, alone, w > 1.0 and spread <= CENTRED * w)
        mixture.around[ASKED] += 1
        mixture.around[REPEATED] += take_cell(mixture, i, index)
        mixture.around[NEIGHBOUR] = index
    elif n <= LARGEST_SMALL_GROUP:
        take_cell(mixture, i, index)
        mixture.around[NEIGHBOUR] = index


def _expect(
    group: Group,
    facts: FloatArray,
    i: int,
    w: float,
    first: bool,
    predicted: float,
    before: float,
    spread: float,
    remembers: bool,
) -> tuple[float, float, float, int]:
    """Return what is expected of a sensor in time, and after other sensors; the scale of its errors; its level."""
    deviation = math.sqrt(float(group.variance[i]))
    # A prediction that has lost its way must not lead the next one astray.
    farthest = 8.0 * deviation + 16.0 * w
    if not (abs(predicted - before) <= farthest):
        predicted = before
    plan = predicted
    if remembers and not first:
        plan = predicted + remembered(group.memory, i)
        if not (abs(plan - before) <= farthest):
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
    if remembers:
        facts[BASIS, i] = predicted
        facts[CONDITION, i] = expected - plan
        facts[SPREAD, i] = 0.0 if first else spread
    return plan, expected, scale, level_bin


def _width_of_curve(group: Group, i: int, w: float, scale: float, factor: float, stir_bin: int, shape: int) -> float:
    """Return the scale of the bell curve of a sensor."""
    deviation = math.sqrt(float(group.pivots[i])) * scale
    spread = deviation * float(group.ratio[i]) * float(group.stir_factors[stir_bin]) * factor * SCALES[shape]
    if not (spread < WIDEST_SCALE * w):
        return WIDEST_SCALE * w
    return 0.02 * w if spread < 0.02 * w else spread


def _adapt(
    group: Group,
    facts: FloatArray,
    i: int,
    w: float,
    row: int,
    plan: float,
    expected: float,
    spread: float,
    cell: int,
    number: int,
    centre: int,
    bins: tuple[int, int],
    shape: int,
    mixes: bool,
) -> float:
    """Learn from a cell what is needed at once; return the score of the scale."""
    upper = ((number + 0.5) * w - (expected - centre)) / spread
    lower = upper - w / spread
    chance = chance_of(upper, lower, shape)
    score = score_of(upper, lower, chance, shape)
    known = float(cell)
    if number == 0 and w > 1.0 and not mixes:
        known += 0.5 * (expected - known)
    error = known - expected
    stir = float(group.stir[i])
    group.stir[i] = 0.7 * stir + 0.3 * min(abs(cell - expected) / (spread + 0.3 * w), 6.0)
    adapt_scale(group, i, float(group.ratio[i]), score, bins[0], bins[1])
    facts[TRUST, i] = min(11.0 / (10.0 + (error * error) / (spread * spread + 0.05 * w * w)), 1.0)
    most = 6.0 * spread
    if error > most:
        error = most
    elif error < -most:
        error = -most
    facts[ERROR, i] = (expected - plan) + error
    group.history[row, i] = known
    add_scaled(facts[CORRECTION], group.upper[i], error / float(facts[SCALE, i]), i + 1)
    follow(group, i, known, float(group.mean[i]), float(group.variance[i]), int(group.seen[i]) + 1, w)
    return score


def _judge_shape(group: Group, w: float, expected: float, spread: float, cell: int, shape: int) -> None:
    """Compare the shapes of the bell curve, on one sensor of each sample."""
    upper = float(cell) + 0.5 * w - expected
    account = shape_account(float(group.shape_account[0]), upper, upper - w, spread / SCALES[shape])
    group.shape_account[0] = account


def _code_number(
    coder: IntArray,
    buffer: ByteArray,
    group: Group,
    i: int,
    w: float,
    expected: float,
    spread: float,
    centre: int,
    cell: int,
    bins: tuple[int, int],
    shape: int,
    mixes: bool,
) -> int:
    """Code a cell by the mixture or by the bell curve; return its number, in cells from the centre."""
    if mixes:
        _look_around(group, i, w, bins)
        return code_mixed(coder, buffer, group.mixture, i, expected / w, spread / w, cell // int(w))
    offset = (expected - centre) / w
    return code_cell(coder, buffer, group.escapes, offset, spread / w, (cell - centre) // int(w), shape)


def code_readings(
    coder: IntArray,
    rehearsal: IntArray,
    buffer: ByteArray,
    group: Group,
    kinds: IntArray,
    cells: IntArray,
    rests: IntArray,
    positions: FloatArray,
    readings: FloatArray,
    limits: FloatArray,
    patterns: IntArray,
    widths: Any,
    seen: Any,
    plans: Any,
    before: Any,
    spreads: Any,
    facts: FloatArray,
) -> None:
    """Code the readings of a sample, one sensor after another; ``kinds`` says which are missing.

    ``widths`` and ``seen`` are those of the group; ``plans``, ``before`` and ``spreads`` what is predicted in time, the
    last positions, and the spreads of errors.
    """
    n = len(kinds)
    t = int(group.clock[SAMPLES])
    row = t % group.history.shape[0]
    encoding = coder[MODE] == ENCODING
    mixing = group.mixture.ring.shape[0] > 0
    remembers = group.memory.steps.shape[0] > 0
    shape = int(group.clock[CURVE])
    trial = mixing and rehearses(float(group.mixture.surprise[0]), t, n)
    _begin_sample(group, t, shape)
    digest = int(group.clock[HASH])
    reference = 0
    factor = 1.0
    coded = 0
    surprises = 0
    for i in range(n):
        w = widths[i]
        first = seen[i] == 0
        plan, expected, scale, level_bin = _expect(
            group, facts, i, w, first, plans[i], before[i], spreads[i], remembers
        )
        if not first:
            group.history[row, i] = expected
            facts[ERROR, i] = expected - plan
        else:
            group.history[row, i] = 0.0
        if kinds[i] == MISSING:
            digest = _hashed(digest, 1)
            continue
        bins = (level_bin, int(min(float(group.stir[i]) * 3.0, STIRS - 1.0)))
        spread = _width_of_curve(group, i, w, scale, factor, bins[1], shape)
        mixes = mixing and not first and group.mixture.mixes[i] == 1
        centre = _centre_of(expected, spread, w, mixing, mixes)
        cell = 0
        raw = kinds[i] == RAW
        if encoding and not raw:
            held, cell = _quantise(
                group, i, w, first, centre, reference, float(positions[i]), float(readings[i]), float(limits[i])
            )
            raw = not held
        if code_bit(coder, buffer, group.rare, RAW_BIT + (1 if first else 0), 250, 1 if raw else 0) == 1:
            kinds[i] = RAW
            patterns[i] = _code_exact(coder, buffer, group, i, int(patterns[i]))
            digest = _hashed(_hashed(digest, int(patterns[i])), int(patterns[i]) >> 32)
            continue
        kinds[i] = CELL
        number = 0
        if first:
            cell = code_first(coder, buffer, group, reference, cell)
        else:
            number = _code_number(coder, buffer, group, i, w, expected, spread, centre, cell, bins, shape, mixes)
            cell = centre + number * int(w)
        if abs(cell) > LIMIT:
            group.clock[CORRUPT] = 1
            cell = 0
        cells[i] = reference = cell
        digest = _hashed(digest, cell)
        if group.precision[i] > 0:
            rests[i] = _code_rest(coder, buffer, group, i, cell, int(rests[i]))
            digest = _hashed(_hashed(digest, int(rests[i])), int(rests[i]) >> 32)
        if first:
            _begin(group, i, cell)
            continue
        score = _adapt(group, facts, i, w, row, plan, expected, spread, cell, number, centre, bins, shape, mixes)
        coded += 1
        factor *= 1.0 + 0.2 / (1.0 + 0.3 * coded) * score
        if mixing:
            if i == t % n:
                _judge_shape(group, w, expected, spread, cell, shape)
            surprises += _is_surprise(cell, expected, spread, before[i], w)
            # A sensor of which the mixture knows nothing is tried less often.
            tried = mixes or (trial and (group.mixture.account[i] > -48.0 or t % 4 == 0))
            _settle_accounts(rehearsal, buffer, group, i, expected, spread, cell, bins, tried)
    group.clock[HASH] = digest
    if mixing:
        surprise = float(group.mixture.surprise[0])
        group.mixture.surprise[0] = surprise + 0.05 * (surprises / n - surprise)
        group.clock[CURVE] = chosen_shape(shape, float(group.shape_account[0]))
