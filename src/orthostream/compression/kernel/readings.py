"""The readings of one sample, sensor by sensor: expect, quantise, code, adapt."""

from __future__ import annotations

import math
from typing import Any

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.account import chosen_shape, rehearses
from orthostream.compression.kernel.adaptation import (
    NARROW,
    adapt_scale,
    follow,
    probability_of,
    score_of,
    score_of_narrow,
)
from orthostream.compression.kernel.expectation import (
    CORRECTION,
    ERROR,
    JUMP,
    SCALE,
    TRUST,
    UNLIMITED,
    centre_of,
    expect,
    width_of_curve,
)
from orthostream.compression.kernel.group_state import CORRUPT, CURVE, HASH, SAMPLES, STIRS, Group, value_of
from orthostream.compression.kernel.halving import code_mixed
from orthostream.compression.kernel.jumps import jump_of
from orthostream.compression.kernel.mixture import PHASE, SHAPE
from orthostream.compression.kernel.range_coder import ENCODING, MODE, code_bit, code_bits, position_in_bits
from orthostream.compression.kernel.raw_reading import RAW_BIT, code_first, code_pattern, code_raw, rest_bits
from orthostream.compression.kernel.repeats import take_cell
from orthostream.compression.kernel.rows import add_scaled
from orthostream.compression.kernel.student import code_cell
from orthostream.compression.kernel.ways import judge, look_around

#: Compiled without memory management: nothing here makes arrays.
ALLOCATES = False
#: Functions with this parameter are inlined: it is many arrays, which a call would copy.
INLINES = "group"

#: No integer of a lattice lies farther out.
LIMIT = 1125899906842624.0  # 2**50
_FARTHEST = 1 << 38

#: What a reading is: a number of the lattice, missing, or sent as it is.
CELL, MISSING, RAW = 0, 1, 2


def _hashed(digest: int, value: int) -> int:
    return ((digest ^ (value & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF


def _quantise(
    group: Group,
    i: int,
    w: float,
    first: bool,
    centre: int,
    expected: float,
    reference: int,
    at: float,
    reading: float,
    limit: float,
) -> tuple[bool, int]:
    """Return whether no cell around the centre holds a reading within its limit, and the cell.

    Cells that are too far from the centre, or from what is expected, cannot be coded.
    """
    if first:
        cell = math.floor(at + 0.5)
        far = abs(cell - reference) >= _FARTHEST
    else:
        cell = math.floor((at - centre) / w + 0.5)
        far = abs(cell) >= _FARTHEST or abs(at - expected) >= _FARTHEST * w
        cell = centre + cell * int(w)
    if far:
        return True, 0
    return not (group.exact[i] == 1 or abs(reading - value_of(group, i, cell)) <= limit), cell


def _checked(group: Group, cell: int) -> int:
    """Return a cell, or 0 if it is one that no encoder writes."""
    if abs(cell) > LIMIT:
        group.clock[CORRUPT] = 1
        return 0
    return cell


def _code_exact(coder: IntArray, buffer: ByteArray, group: Group, i: int, patterns: IntArray, digest: int) -> int:
    """Code all bits of a reading; return the hash with them."""
    before = position_in_bits(coder)
    if group.mixture.ring.shape[0] == 0:
        patterns[i] = code_pattern(coder, buffer, int(patterns[i]))
    else:
        patterns[i] = code_raw(coder, buffer, group, i, int(patterns[i]))
    group.spent[2] += position_in_bits(coder) - before
    return _hashed(_hashed(digest, int(patterns[i])), int(patterns[i]) >> 32)


def _code_rest(
    coder: IntArray, buffer: ByteArray, group: Group, i: int, cell: int, rests: IntArray, digest: int
) -> int:
    """Code the low bits of a float as they are, if the sensor has any; return the hash with them."""
    if group.precision[i] == 0:
        return digest
    bits = rest_bits(int(group.precision[i]), cell)
    group.spent[2] += float(bits)
    rests[i] = code_bits(coder, buffer, int(rests[i]), bits)
    return _hashed(_hashed(digest, int(rests[i])), int(rests[i]) >> 32)


def _begin_sample(group: Group, t: int, shape: int) -> None:
    """Forget what was around in the last sample."""
    around = group.mixture.around
    around[:] = 0
    around[PHASE] = t % (group.history.shape[0] - 2)
    around[SHAPE] = shape


def _end_sample(group: Group, surprises: int, n: int, shape: int) -> None:
    """Follow the share of surprises, and choose the shape of the bell curve."""
    surprise = float(group.mixture.surprise[0])
    group.mixture.surprise[0] = surprise + 0.05 * (surprises / n - surprise)
    group.clock[CURVE] = chosen_shape(shape, float(group.shape_account[0]))


def _begin(group: Group, i: int, cell: int) -> None:
    """Take the first cell of a sensor in."""
    group.seen[i] = 1
    group.mean[i] = float(cell)
    group.history[:, i] = float(cell)
    if group.mixture.ring.shape[0] > 0:
        take_cell(group.mixture, i, math.floor(float(cell) / float(group.width[i]) + 0.5))


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
    if group.mixture.ring.shape[0] > 0 and spread > NARROW * w:
        score = score_of_narrow(0.5 * (upper + lower), shape)
    else:
        score = score_of(upper, lower, probability_of(upper, lower, shape), shape)
    known = float(cell)
    if number == 0 and w > 1.0 and not mixes:
        known += 0.5 * (expected - known)
    error = known - expected
    stir = float(group.stir[i])
    group.stir[i] = 0.7 * stir + 0.3 * min(abs(cell - expected) / (spread + 0.3 * w), 6.0)
    adapt_scale(group, i, float(group.ratio[i]), score, bins[0], bins[1])
    facts[TRUST, i] = min(11.0 / (10.0 + (error * error) / (spread * spread + 0.05 * w * w)), 1.0)
    most = 6.0 * spread
    facts[UNLIMITED, i] = (expected - plan) + error
    facts[JUMP, i] = jump_of(group, i, error, spread, w)
    if error > most:
        error = most
    elif error < -most:
        error = -most
    facts[ERROR, i] = (expected - plan) + error
    group.history[row, i] = known
    add_scaled(facts[CORRECTION], group.upper[i], error / float(facts[SCALE, i]), i + 1)
    follow(group, i, known, float(group.mean[i]), float(group.variance[i]), int(group.seen[i]) + 1, w)
    return score


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
        look_around(group, i, w, bins)
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
    reference = coded = surprises = 0
    factor = 1.0
    for i in range(n):
        w = widths[i]
        first = seen[i] == 0
        plan, expected, scale, level_bin = expect(
            group, facts, i, w, row, first, plans[i], before[i], spreads[i], remembers
        )
        if kinds[i] == MISSING:
            digest = _hashed(digest, 1)
            continue
        bins = (level_bin, int(min(float(group.stir[i]) * 3.0, STIRS - 1.0)))
        spread = width_of_curve(group, i, w, scale, factor, bins[1], shape)
        mixes = mixing and not first and group.mixture.mixes[i] == 1
        centre = centre_of(expected, spread, w, mixing, mixes)
        cell = 0
        raw = kinds[i] == RAW
        if encoding and not raw:
            at, reading, limit = float(positions[i]), float(readings[i]), float(limits[i])
            raw, cell = _quantise(group, i, w, first, centre, expected, reference, at, reading, limit)
        if code_bit(coder, buffer, group.rare, RAW_BIT + (1 if first else 0), 250, 1 if raw else 0) == 1:
            kinds[i] = RAW
            digest = _code_exact(coder, buffer, group, i, patterns, digest)
            continue
        kinds[i] = CELL
        if first:
            number, cell = 0, code_first(coder, buffer, group, reference, cell)
        else:
            number = _code_number(coder, buffer, group, i, w, expected, spread, centre, cell, bins, shape, mixes)
            cell = centre + number * int(w)
        cells[i] = reference = cell = _checked(group, cell)
        digest = _code_rest(coder, buffer, group, i, cell, rests, _hashed(digest, cell))
        if first:
            _begin(group, i, cell)
            continue
        score = _adapt(group, facts, i, w, row, plan, expected, spread, cell, number, centre, bins, shape, mixes)
        coded += 1
        factor *= 1.0 + 0.2 / (1.0 + 0.3 * coded) * score
        if mixing:
            surprises += judge(
                rehearsal, buffer, group, i, w, expected, spread, before[i], cell, bins, shape, mixes, trial
            )
    group.clock[HASH] = digest
    if mixing:
        _end_sample(group, surprises, n, shape)
