"""One sample after another: which readings are there, what they should be, and by how much they are not.

Both sides predict every reading from what both know, and code the cell around the prediction into which it falls:

1. in time, by one small regression that all sensors share;
2. across sensors: errors of that prediction go together, so that each sensor is corrected by the ones that were coded
   before it (a forgetting covariance of the errors, factorised);
3. the scale of what remains is the conditional deviation, times slow and fast factors that follow the data.

All numbers are in units of a sensor's lattice, of which a cell is ``width`` wide. Constants were chosen on real
sensors.
"""

from __future__ import annotations

import math

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.learning import learn
from orthostream.compression.kernel.logistic import REHEARSING, log2_of
from orthostream.compression.kernel.memory import remembered, take_step
from orthostream.compression.kernel.mixture import RING, code_mixed, holds_of, take_cell
from orthostream.compression.kernel.presence import code_presence
from orthostream.compression.kernel.range_coder import (
    ENCODING,
    MODE,
    code_bit,
    code_bits,
    code_integer,
    position_in_bits,
)
from orthostream.compression.kernel.rows import add_scaled, entries, means
from orthostream.compression.kernel.slot_state import (
    BROKEN,
    HASH,
    LEVELS,
    N_FEATURES,
    SAMPLES,
    STIRS,
    Slot,
    value_of,
)
from orthostream.compression.kernel.student import WIDEST_SCALE, below, code_cell, density

#: No integer of a lattice lies farther out.
LIMIT = 1125899906842624.0  # 2**50
_FARTHEST = 1 << 38

#: What a reading is: a number of the lattice, missing, or sent as it is.
CELL, MISSING, RAW = 0, 1, 2

_LATENT = 0.7071067811865476
_LATENT_TEN = 0.8944271909999159


def judged_shape(account: float, upper: float, lower: float, deviation: float) -> float:
    """Return by how many bits the lighter tails did better lately."""
    heavy, light = deviation * _LATENT, deviation * _LATENT_TEN
    four = below(upper / heavy, 0) - below(lower / heavy, 0)
    ten = below(upper / light, 1) - below(lower / light, 1)
    account = 0.998 * account + log2_of((ten + 1.6e-5) / (four + 1.6e-5))
    return min(max(account, -40.0), 40.0)


def features_of(slot: Slot, features: FloatArray, present: FloatArray) -> FloatArray:
    """Write what the next sample is predicted from, a row per feature; return the last sample."""
    at = int(slot.clock[SAMPLES])
    history = slot.history
    ring = history.shape[0]
    last: FloatArray = history[(at - 1) % ring]
    before = history[(at - 2) % ring]
    deviation = np.sqrt(slot.variance)
    features[0] = last - before
    features[1] = history[(at + 2) % ring] - history[(at + 1) % ring]
    features[2] = history[(at + 1) % ring] - last
    features[3] = last - slot.mean
    features[:2] /= slot.spread
    features[2:4] /= deviation
    total = 0.0
    for i in range(len(present)):
        present[i] = 1.0 if slot.seen[i] > 0 else 0.0
        total += float(present[i])
    common = means(features[:4], present, max(total, 1.0))
    for k in range(3):
        unit = deviation if k == 2 else slot.spread
        features[4 + k] = unit * float(common[k])
        features[k] *= unit
        features[k] -= features[4 + k]
    features[7] = deviation * float(common[3])
    features[3] *= deviation
    return last


def _code_first(coder: IntArray, buffer: ByteArray, slot: Slot, reference: int, cell: int) -> int:
    """Code the first number of a sensor: its distance from a number that is known."""
    apart = cell - reference
    folded = 2 * apart if apart >= 0 else -2 * apart - 1
    folded = code_integer(coder, buffer, slot.rare, 2, folded)
    return reference + ((folded >> 1) if folded & 1 == 0 else -((folded + 1) >> 1))


def _code_raw(coder: IntArray, buffer: ByteArray, pattern: int) -> int:
    """Code the 64 bits of a number."""
    high = code_bits(coder, buffer, (pattern >> 32) & 0xFFFFFFFF, 32)
    low = code_bits(coder, buffer, pattern & 0xFFFFFFFF, 32)
    if high >= 0x80000000:
        high -= 0x100000000
    return (high << 32) | low


def _hashed(digest: int, value: int) -> int:
    return ((digest ^ (value & 0xFFFFFFFF)) * 16777619) & 0xFFFFFFFF


def candidates_held(slot: Slot, i: int, reading: float, limit: float, holds: IntArray) -> None:
    """Write which candidates are within the bound of a reading."""
    mixture = slot.mixture
    last = int(mixture.ring[i, (int(mixture.ring_at[i]) - 1) % RING])
    matched = int(mixture.match_at[i])
    predicted = int(mixture.ring[i, matched % RING]) if matched >= 0 else last
    holds[0] = 1 if abs(reading - value_of(slot, i, predicted)) <= limit else 0
    holds[1] = 1 if abs(reading - value_of(slot, i, last)) <= limit else 0
    holds[2] = 1 if abs(reading - value_of(slot, i, int(mixture.mode[i]))) <= limit else 0


def trial_of(slot: Slot, t: int, n: int) -> bool:
    return True


def code_sample(
    coder: IntArray,
    buffer: ByteArray,
    slot: Slot,
    kinds: IntArray,
    cells: IntArray,
    positions: FloatArray,
    readings: FloatArray,
    limits: FloatArray,
    patterns: IntArray,
) -> None:
    """Code one sample.

    When encoding, ``kinds`` says what each reading is, ``positions`` where it lies on its lattice, ``readings`` and
    ``limits`` what it is and how far off it may be, ``patterns`` its 64 bits; a reading that the lattice cannot hold is
    made RAW. On return, of both sides, ``kinds``, ``cells`` and (where RAW) ``patterns`` are what was coded.
    """
    n = len(kinds)
    width = slot.width
    clock = slot.clock
    encoding = coder[MODE] == ENCODING
    gone = np.zeros(n, dtype=np.int64)
    if encoding:
        for i in range(n):
            gone[i] = 1 if kinds[i] == MISSING else 0
    begin = position_in_bits(coder)
    code_presence(coder, buffer, slot.presence, gone)
    middle = position_in_bits(coder)
    slot.spent[0] += middle - begin

    features = np.zeros((N_FEATURES + 1, n))
    present = np.zeros(n)
    last = features_of(slot, features, present)
    predicted = last.copy()
    for k in range(N_FEATURES):
        add_scaled(predicted, features[k], float(slot.weights[k]), 0)

    position = slot.history[int(clock[SAMPLES]) % slot.history.shape[0]]
    digest = int(clock[HASH])
    correction = np.zeros(n)
    scales = np.zeros(n)
    trust = np.zeros(n)
    errors = np.zeros(n)
    widths = entries(width)
    plans = entries(predicted)
    before = entries(last)
    usual = entries(slot.mean)
    variances = entries(slot.variance)
    spreads = entries(slot.spread)
    pivots = entries(slot.pivots)
    seen = entries(slot.seen)
    ratios = entries(slot.ratio)
    stirs = entries(slot.stir)
    away = entries(gone)
    reference = 0
    slot_factor = 1.0
    coded = 0
    mixture = slot.mixture
    asked = 0
    said_yes = 0
    neighbour = 0
    t = int(clock[SAMPLES])
    ring = slot.history.shape[0]
    phase = t % (ring - 2)
    ago = slot.history[(t + 2) % ring]
    trial = trial_of(slot, t, n)
    shape = int(clock[3])
    latent = _LATENT if shape == 0 else _LATENT_TEN
    judged = t % n
    remembers = slot.memory.steps.shape[0] > 0
    bases = np.zeros(n)
    conditions = np.zeros(n)
    dry = np.zeros(8, dtype=np.int64)
    dry[MODE] = REHEARSING
    holds = np.zeros(3, dtype=np.int64)
    for i in range(n):
        w = widths[i]
        plan = plans[i]
        basis = plan
        if remembers and seen[i] > 0:
            plan = plan + remembered(slot.memory, i)
        # A prediction that has lost its way must not lead the next one astray.
        farthest = 8.0 * math.sqrt(variances[i]) + 16.0 * w
        if not (abs(plan - before[i]) <= farthest):
            plan = before[i]
        level = (plan - usual[i]) / math.sqrt(variances[i])
        level_bin = 0
        if level >= -2.5:
            level_bin = int(min(math.floor(level * 2.0) + 5.0, LEVELS - 1.0))
        scale = spreads[i] * float(slot.level_factors[level_bin])
        expected = plan + scale * float(correction[i])
        if not (abs(expected - plan) <= farthest):
            expected = plan
        scales[i] = scale
        bases[i] = basis
        conditions[i] = expected - plan
        first = seen[i] == 0
        if away[i] == 1:
            kinds[i] = MISSING
            digest = _hashed(digest, 1)
            if first:
                position[i] = 0.0
                errors[i] = 0.0
            else:
                position[i] = expected
                errors[i] = expected - plan
            continue

        centre = math.floor(expected + 0.5)
        mixes = int(mixture.asks[i]) == 1 and not first
        deviation = math.sqrt(pivots[i]) * scale
        stir_bin = int(min(stirs[i] * 3.0, STIRS - 1.0))
        spread = deviation * ratios[i] * float(slot.stir_factors[stir_bin]) * slot_factor * latent
        if not (spread < WIDEST_SCALE * w):
            spread = WIDEST_SCALE * w
        if spread < 0.02 * w:
            spread = 0.02 * w
        if mixes:
            centre = 0
        elif spread > 0.75 * w:
            centre = math.floor(expected / w + 0.5) * int(w)
        cell = 0
        if encoding:
            raw = kinds[i] == RAW
            if not raw:
                if first:
                    cell = math.floor(float(positions[i]) + 0.5)
                    raw = abs(cell - reference) >= _FARTHEST
                else:
                    cell = math.floor((float(positions[i]) - centre) / w + 0.5)
                    raw = abs(cell) >= _FARTHEST
                    cell = centre + cell * int(w)
                if not raw:
                    raw = not (abs(float(readings[i]) - value_of(slot, i, cell)) <= float(limits[i]))
            kinds[i] = RAW if raw else CELL
        if code_bit(coder, buffer, slot.rare, 1 if first else 0, 250, 1 if kinds[i] == RAW else 0) == 1:
            kinds[i] = RAW
            patterns[i] = _code_raw(coder, buffer, int(patterns[i]))
            slot.spent[2] += 64.0
            middle += 64.0
            digest = _hashed(_hashed(digest, int(patterns[i])), int(patterns[i]) >> 32)
            cells[i] = 0
            position[i] = 0.0 if first else expected
            errors[i] = 0.0 if first else expected - plan
            continue
        kinds[i] = CELL
        if first:
            cell = _code_first(coder, buffer, slot, reference, cell)
        else:
            if mixes:
                if encoding:
                    candidates_held(slot, i, float(readings[i]), float(limits[i]), holds)
                cell = code_mixed(
                    coder, buffer, mixture, i, expected / w, spread / w, neighbour,
                    math.floor(float(ago[i]) / w + 0.5), phase, asked, said_yes, stir_bin, level_bin, shape, int(w), holds, cell,
                )
                number = 0
            else:
                offset = (expected - centre) / w
                number = code_cell(coder, buffer, slot.escapes, offset, spread / w, (cell - centre) // int(w), shape)
                cell = centre + number * int(w)
        if abs(cell) > LIMIT:
            clock[BROKEN] = 1
            cell = 0
        cells[i] = cell
        digest = _hashed(digest, cell)
        reference = cell
        if first:
            slot.seen[i] = 1
            slot.mean[i] = float(cell)
            slot.history[:, i] = float(cell)
            predicted[i] = float(cell)
            errors[i] = 0.0
            neighbour = math.floor(cell / w + 0.5)
            take_cell(mixture, i, int(w), cell)
            continue

        # How much too narrow or too wide the distribution was, for the cell that was met (the derivative of the
        # logarithm of its probability), moves every factor of the scale.
        upper = ((number + 0.5) * w - (expected - (cell if mixes else centre))) / spread
        lower = upper - w / spread
        chance = below(upper, shape) - below(lower, shape)
        score = 4.0
        if chance > 1e-9:
            score = (lower * density(lower, shape) - upper * density(upper, shape)) / chance
            if score < -1.0:
                score = -1.0
            elif score > 4.0:
                score = 4.0
        if i == judged:
            slot.shapes[0] = judged_shape(float(slot.shapes[0]), upper * spread, lower * spread, spread / latent)
            if slot.shapes[0] > 4.0:
                clock[3] = 1
            elif slot.shapes[0] < -4.0:
                clock[3] = 0
        index = math.floor(cell / w + 0.5)
        if mixes or trial:
            if not mixes:
                holds_of(mixture, i, int(w), holds, cell)
                code_mixed(
                    dry, buffer, mixture, i, expected / w, spread / w, neighbour,
                    math.floor(float(ago[i]) / w + 0.5), phase, asked, said_yes, stir_bin, level_bin, shape, int(w), holds, cell,
                )
            gain = -log2_of(chance + 1.6e-5) - float(mixture.cost[0])
            if gain > 24.0:
                gain = 24.0
            mixture.cost[2] += gain
            account = 0.998 * float(mixture.account[i]) + gain
            if account > 64.0:
                account = 64.0
            elif account < -64.0:
                account = -64.0
            mixture.account[i] = account
            if mixes and account < -8.0:
                mixture.asks[i] = 0
            elif not mixes and account > 8.0:
                mixture.asks[i] = 1
            asked += 1
            said_yes += take_cell(mixture, i, int(w), cell)
        else:
            take_cell(mixture, i, int(w), cell)
        neighbour = index
        known = float(cell)
        if number == 0 and w > 1.0 and not mixes:
            known += 0.5 * (expected - known)
        error = known - expected
        slot.stir[i] = 0.7 * stirs[i] + 0.3 * min(abs(cell - expected) / (spread + 0.3 * w), 6.0)
        factor = ratios[i] * (1.0 + 0.005 * score)
        slot.ratio[i] = 0.01 if factor < 0.01 else 100.0 if factor > 100.0 else factor
        factor = float(slot.level_factors[level_bin]) * (1.0 + 0.003 * score)
        slot.level_factors[level_bin] = 0.05 if factor < 0.05 else 20.0 if factor > 20.0 else factor
        factor = float(slot.stir_factors[stir_bin]) * (1.0 + 0.005 * score)
        slot.stir_factors[stir_bin] = 0.05 if factor < 0.05 else 20.0 if factor > 20.0 else factor
        coded += 1
        slot_factor *= 1.0 + 0.2 / (1.0 + 0.3 * coded) * score
        trust[i] = min(11.0 / (10.0 + (error * error) / (spread * spread + 0.05 * w * w)), 1.0)
        most = 6.0 * spread
        if error > most:
            error = most
        elif error < -most:
            error = -most
        errors[i] = (expected - plan) + error
        position[i] = known
        add_scaled(correction, slot.upper[i], error / scale, i + 1)

        count = seen[i] + 1
        rate = max(0.005, 1.0 / (count + 1.0))
        apart = known - usual[i]
        if count > 20:
            most = 5.0 * math.sqrt(variances[i])
            apart = min(max(apart, -most), most)
        slot.seen[i] = min(count, 1000)
        slot.mean[i] = usual[i] + rate * apart
        slot.variance[i] = max(variances[i] + rate * (apart * apart - variances[i]), 0.01 * w * w)
    slot.spent[1] += position_in_bits(coder) - middle
    clock[HASH] = digest
    learn(slot, features, last, position, errors, scales, trust)
    if remembers and t > 0:
        for i in range(n):
            if seen[i] > 0:
                take_step(
                    slot.memory, i, t, float(position[i]) - before[i], float(position[i]) - float(bases[i]),
                    float(trust[i]), spreads[i], float(conditions[i]),
                )
    clock[SAMPLES] += 1


def code_samples(
    coder: IntArray,
    buffer: ByteArray,
    slot: Slot,
    kinds: IntArray,
    cells: IntArray,
    positions: FloatArray,
    readings: FloatArray,
    limits: FloatArray,
    patterns: IntArray,
) -> None:
    """Code the samples of a frame, one after another."""
    for t in range(kinds.shape[0]):
        code_sample(coder, buffer, slot, kinds[t], cells[t], positions[t], readings[t], limits[t], patterns[t])
        if slot.clock[BROKEN] == 1:
            return
