"""One sample after another: which readings are there, what they should be, and by how much they are not.

Both sides predict every reading from what both know, and code the cell around the prediction into which it falls:

1. *predict* in time, by one small regression that all sensors share, and a longer memory of each sensor if that pays;
2. *condition*: errors of that prediction go together, so that each sensor is corrected by the ones that were coded
   before it (a forgetting covariance of the errors, factorised);
3. *quantise* around the prediction, and *code* the cell: by a bell curve whose scale is the conditional deviation, times
   slow and fast factors that follow the data, or by a mixture that asks for candidates first, if that pays;
4. *adapt* to what was coded.

All numbers are in units of a sensor's lattice, of which a cell is ``width`` wide. Constants were chosen on real
sensors.
"""

from __future__ import annotations

import math

import numpy as np

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
from orthostream.compression.kernel.features import features_of, prediction
from orthostream.compression.kernel.group_state import (
    CORRUPT,
    CURVE,
    HASH,
    LEVELS,
    N_FEATURES,
    SAMPLES,
    STIRS,
    Group,
    value_of,
)
from orthostream.compression.kernel.halving import code_mixed
from orthostream.compression.kernel.learning import learn
from orthostream.compression.kernel.logistic import REHEARSING
from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP, remember, remembered
from orthostream.compression.kernel.mixture import AGO, ASKED, LEVEL, NEIGHBOUR, PHASE, REPEATED, SHAPE, STIR
from orthostream.compression.kernel.presence import code_presence
from orthostream.compression.kernel.range_coder import (
    CODER_SIZE,
    ENCODING,
    MODE,
    code_bit,
    code_bits,
    position_in_bits,
)
from orthostream.compression.kernel.raw_reading import RAW_BIT, code_first, code_pattern, code_raw, rest_bits
from orthostream.compression.kernel.repeats import take_cell
from orthostream.compression.kernel.rows import add_scaled, entries
from orthostream.compression.kernel.student import WIDEST_SCALE, code_cell

#: No integer of a lattice lies farther out.
LIMIT = 1125899906842624.0  # 2**50
_FARTHEST = 1 << 38

#: What a reading is: a number of the lattice, missing, or sent as it is.
CELL, MISSING, RAW = 0, 1, 2

#: What is known of each sensor in a sample, as rows of ``facts``: the scale of its errors, how much it is trusted, its
#: error; the prediction without the memory, what other sensors added to it, and the spread of errors in time.
SCALE, TRUST, ERROR, BASIS, CONDITION, SPREAD = range(6)
N_FACTS = 6


def _hashed(digest: int, value: int) -> int:
    return ((digest ^ (value & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF


def _quantise(
    group: Group, i: int, first: bool, centre: int, reference: int, at: float, reading: float, limit: float
) -> tuple[bool, int]:
    """Return whether a cell around the centre holds a reading within its limit, and that cell."""
    w = float(group.width[i])
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
            dry = np.zeros(CODER_SIZE, dtype=np.int64)
            dry[MODE] = REHEARSING
            code_mixed(dry, buffer, mixture, i, expected / w, spread / w, index)
        alone = chance_alone(expected, spread, w, cell, int(group.clock[CURVE]))
        compare(mixture, i, n, alone, w > 1.0 and spread <= CENTRED * w)
        mixture.around[ASKED] += 1
        mixture.around[REPEATED] += take_cell(mixture, i, index)
        mixture.around[NEIGHBOUR] = index
    elif n <= LARGEST_SMALL_GROUP:
        take_cell(mixture, i, index)
        mixture.around[NEIGHBOUR] = index


def _expect(
    group: Group, facts: FloatArray, i: int, predicted: float, before: float, spread: float, condition: float
) -> tuple[float, float, float, int]:
    """Return what is expected of a sensor in time, and after other sensors; the scale of its errors; its level."""
    first = group.seen[i] == 0
    w = float(group.width[i])
    deviation = math.sqrt(float(group.variance[i]))
    # A prediction that has lost its way must not lead the next one astray.
    farthest = 8.0 * deviation + 16.0 * w
    if not (abs(predicted - before) <= farthest):
        predicted = before
    plan = predicted
    if group.memory.steps.shape[0] > 0 and not first:
        plan = predicted + remembered(group.memory, i)
        if not (abs(plan - before) <= farthest):
            plan = predicted
    level = (plan - float(group.mean[i])) / deviation
    level_bin = 0
    if level >= -2.5:
        level_bin = int(min(math.floor(level * 2.0) + 5.0, LEVELS - 1.0))
    scale = spread * float(group.level_factors[level_bin])
    expected = plan + scale * condition
    if not (abs(expected - plan) <= farthest):
        expected = plan
    facts[SCALE, i] = scale
    facts[ERROR, i] = 0.0 if first else expected - plan
    if group.memory.steps.shape[0] > 0:
        facts[BASIS, i] = predicted
        facts[CONDITION, i] = expected - plan
        facts[SPREAD, i] = 0.0 if first else spread
    return plan, expected, scale, level_bin


def _width_of_curve(group: Group, i: int, scale: float, factor: float, stir_bin: int, shape: int) -> float:
    """Return the scale of the bell curve of a sensor."""
    w = float(group.width[i])
    deviation = math.sqrt(float(group.pivots[i])) * scale
    spread = deviation * float(group.ratio[i]) * float(group.stir_factors[stir_bin]) * factor * SCALES[shape]
    if not (spread < WIDEST_SCALE * w):
        return WIDEST_SCALE * w
    return 0.02 * w if spread < 0.02 * w else spread


def _adapt(
    group: Group,
    facts: FloatArray,
    correction: FloatArray,
    i: int,
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
    w = float(group.width[i])
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
    group.history[int(group.clock[SAMPLES]) % group.history.shape[0], i] = known
    add_scaled(correction, group.upper[i], error / float(facts[SCALE, i]), i + 1)
    follow(group, i, known, float(group.mean[i]), float(group.variance[i]), int(group.seen[i]) + 1, w)
    if i == int(group.clock[SAMPLES]) % len(group.width) and group.mixture.ring.shape[0] > 0:
        account = shape_account(float(group.shape_account[0]), upper * spread, lower * spread, spread / SCALES[shape])
        group.shape_account[0] = account
    return score


def _code_number(
    coder: IntArray,
    buffer: ByteArray,
    group: Group,
    i: int,
    expected: float,
    spread: float,
    centre: int,
    cell: int,
    bins: tuple[int, int],
    shape: int,
    mixes: bool,
) -> int:
    """Code a cell by the mixture or by the bell curve; return its number, in cells from the centre."""
    w = float(group.width[i])
    if mixes:
        _look_around(group, i, w, bins)
        return code_mixed(coder, buffer, group.mixture, i, expected / w, spread / w, cell // int(w))
    offset = (expected - centre) / w
    return code_cell(coder, buffer, group.escapes, offset, spread / w, (cell - centre) // int(w), shape)


def _code_readings(
    coder: IntArray,
    buffer: ByteArray,
    group: Group,
    kinds: IntArray,
    cells: IntArray,
    rests: IntArray,
    positions: FloatArray,
    readings: FloatArray,
    limits: FloatArray,
    patterns: IntArray,
    predicted: FloatArray,
    facts: FloatArray,
) -> None:
    """Code the readings of a sample, one sensor after another; ``kinds`` says which are missing."""
    n = len(kinds)
    t = int(group.clock[SAMPLES])
    ring = group.history.shape[0]
    position = group.history[t % ring]
    encoding = coder[MODE] == ENCODING
    mixing = group.mixture.ring.shape[0] > 0
    shape = int(group.clock[CURVE])
    trial = mixing and rehearses(float(group.mixture.surprise[0]), t, n)
    _begin_sample(group, t, shape)
    correction = np.zeros(n)
    plans = entries(predicted)
    before = entries(group.history[(t - 1) % ring])
    spreads = entries(group.spread)
    digest = int(group.clock[HASH])
    reference = 0
    factor = 1.0
    coded = 0
    surprises = 0
    for i in range(n):
        plan, expected, scale, level_bin = _expect(group, facts, i, plans[i], before[i], spreads[i], float(correction[i]))
        first = group.seen[i] == 0
        position[i] = 0.0 if first else expected
        if kinds[i] == MISSING:
            digest = _hashed(digest, 1)
            continue
        w = float(group.width[i])
        bins = (level_bin, int(min(float(group.stir[i]) * 3.0, STIRS - 1.0)))
        spread = _width_of_curve(group, i, scale, factor, bins[1], shape)
        mixes = mixing and not first and group.mixture.mixes[i] == 1
        centre = _centre_of(expected, spread, w, mixing, mixes)
        cell = 0
        raw = kinds[i] == RAW
        if encoding and not raw:
            held, cell = _quantise(
                group, i, first, centre, reference, float(positions[i]), float(readings[i]), float(limits[i])
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
            number = _code_number(coder, buffer, group, i, expected, spread, centre, cell, bins, shape, mixes)
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
        score = _adapt(
            group, facts, correction, i, plan, expected, spread, cell, number, centre, bins, shape, mixes
        )
        coded += 1
        factor *= 1.0 + 0.2 / (1.0 + 0.3 * coded) * score
        if mixing:
            surprises += _is_surprise(cell, expected, spread, before[i], w)
            # A sensor of which the mixture knows nothing is tried less often.
            tried = mixes or (trial and (group.mixture.account[i] > -48.0 or t % 4 == 0))
            _settle_accounts(buffer, group, i, expected, spread, cell, bins, tried)
    group.clock[HASH] = digest
    if mixing:
        surprise = float(group.mixture.surprise[0])
        group.mixture.surprise[0] = surprise + 0.05 * (surprises / n - surprise)
        group.clock[CURVE] = chosen_shape(shape, float(group.shape_account[0]))


def code_sample(
    coder: IntArray,
    buffer: ByteArray,
    group: Group,
    kinds: IntArray,
    cells: IntArray,
    rests: IntArray,
    positions: FloatArray,
    readings: FloatArray,
    limits: FloatArray,
    patterns: IntArray,
) -> None:
    """Code one sample.

    When encoding, ``kinds`` says what each reading is, ``positions`` where it lies on its lattice, ``rests`` its low bits,
    ``readings`` and ``limits`` what it is and how far off it may be, ``patterns`` its 64 bits; a reading that the lattice
    cannot hold is made RAW. On return, of both sides, ``kinds``, ``cells``, ``rests`` and (where RAW) ``patterns`` are
    what was coded.
    """
    n = len(kinds)
    begin = position_in_bits(coder)
    gone = np.zeros(n, dtype=np.int64)
    for i in range(n):
        gone[i] = 1 if kinds[i] == MISSING else 0
    code_presence(coder, buffer, group.presence, gone)
    for i in range(n):
        if gone[i] == 1:
            kinds[i] = MISSING
    middle = position_in_bits(coder)
    exact = float(group.spent[2])
    t = int(group.clock[SAMPLES])
    features = np.zeros((N_FEATURES + 1, n))
    last = features_of(group, features, np.zeros(n))
    predicted = prediction(group, features, last)
    facts = np.zeros((N_FACTS, n))
    _code_readings(
        coder, buffer, group, kinds, cells, rests, positions, readings, limits, patterns, predicted, facts
    )
    group.spent[0] += middle - begin
    group.spent[1] += (position_in_bits(coder) - middle) - (float(group.spent[2]) - exact)
    position = group.history[t % group.history.shape[0]]
    learn(group, features, last, position, facts[ERROR], facts[SCALE], facts[TRUST])
    if group.memory.steps.shape[0] > 0 and t > 0:
        for i in range(n):
            if facts[SPREAD, i] > 0.0:
                step = float(position[i]) - float(last[i])
                error = float(position[i]) - float(facts[BASIS, i])
                condition, trust = float(facts[CONDITION, i]), float(facts[TRUST, i])
                remember(group.memory, i, t, step, error, condition, trust, float(facts[SPREAD, i]))
    group.clock[SAMPLES] += 1


def code_samples(
    coder: IntArray,
    buffer: ByteArray,
    group: Group,
    kinds: IntArray,
    cells: IntArray,
    rests: IntArray,
    positions: FloatArray,
    readings: FloatArray,
    limits: FloatArray,
    patterns: IntArray,
) -> None:
    """Code the samples of a frame, one after another."""
    for t in range(kinds.shape[0]):
        code_sample(
            coder, buffer, group, kinds[t], cells[t], rests[t], positions[t], readings[t], limits[t], patterns[t]
        )
        if group.clock[CORRUPT] == 1:
            return
