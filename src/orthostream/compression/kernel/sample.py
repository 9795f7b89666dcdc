"""Codes samples one by one: which readings are there, and how far each is from its prediction.

Both sides predict every reading from what both know, and code the cell around the prediction into which it falls:

1. *predict* in time, by one small regression that all sensors share, and a longer memory of each sensor if that pays;
2. *condition*: errors of that prediction go together, so that each sensor is corrected by the ones that were coded
   before it (a forgetting covariance of the errors, factorised);
3. *quantise* around the prediction, and *code* the cell: by a bell curve whose scale is the conditional deviation,
   times slow and fast factors that follow the data, or by a mixture that asks for candidates first, if that pays;
4. *adapt* to what was coded, and *learn* from the whole sample.

All numbers are in units of a sensor's lattice, of which a cell is ``width`` wide. Constants were chosen on real
sensors.
"""

from __future__ import annotations

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.expectation import (
    BASIS,
    CONDITION,
    ERROR,
    JUMP,
    N_FACTS,
    SCALE,
    SPREAD,
    TRUST,
    UNLIMITED,
)
from orthostream.compression.kernel.features import features_of, prediction
from orthostream.compression.kernel.group_state import CORRUPT, N_FEATURES, SAMPLES, Group
from orthostream.compression.kernel.jumps import judge_jumps, leaves_out_jumps
from orthostream.compression.kernel.learning import learn
from orthostream.compression.kernel.logistic import REHEARSING
from orthostream.compression.kernel.memory import remember
from orthostream.compression.kernel.presence import code_presence
from orthostream.compression.kernel.range_coder import CODER_SIZE, MODE, position_in_bits
from orthostream.compression.kernel.readings import MISSING, code_readings
from orthostream.compression.kernel.rows import entries


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

    When encoding, ``kinds`` says what each reading is, ``positions`` where it lies on its lattice, ``rests`` its low
    bits, ``readings`` and ``limits`` what it is and how far off it may be, ``patterns`` its 64 bits; a reading that the
    lattice cannot hold is made RAW. On return, of both sides, ``kinds``, ``cells``, ``rests`` and (where RAW)
    ``patterns`` are what was coded.
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
    facts = np.zeros((N_FACTS, n))
    plans = prediction(group, features, last)
    rehearsal = np.zeros(CODER_SIZE, dtype=np.int64)
    rehearsal[MODE] = REHEARSING
    code_readings(
        coder,
        rehearsal,
        buffer,
        group,
        kinds,
        cells,
        rests,
        positions,
        readings,
        limits,
        patterns,
        entries(group.width),
        entries(group.seen),
        entries(plans),
        entries(last),
        entries(group.spread),
        facts,
    )
    group.spent[0] += middle - begin
    group.spent[1] += (position_in_bits(coder) - middle) - (float(group.spent[2]) - exact)
    position = group.history[t % group.history.shape[0]]
    left_out = 1.0 if leaves_out_jumps(group) else 0.0
    judge_jumps(group, plans, position, facts)
    learn(group, features, last, position, facts[ERROR], facts[SCALE], facts[TRUST], facts[UNLIMITED])
    if group.memory.steps.shape[0] > 0 and t > 0:
        for i in range(n):
            if facts[SPREAD, i] > 0.0:
                step = float(position[i]) - float(last[i]) - left_out * float(facts[JUMP, i])
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
