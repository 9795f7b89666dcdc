"""A second way of coding a cell, for sensors that a bell curve does not fit."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from orthostream._typing import ByteArray, FloatArray, IntArray
from orthostream.compression.kernel.logistic import LOGIT, REHEARSING, code_known, log2_of, squash
from orthostream.compression.kernel.range_coder import EVEN, INTEGER_BITS, MODE, RATES, TOTAL, code_bits, code_integer
from orthostream.compression.kernel.student import below

N_INPUTS = 12
N_SETS = 64
SLOT_BITS = 16
N_SLOTS = 1 << SLOT_BITS
RING = 8192
MATCH_BITS = 14
MATCH_ORDER = 5
N_SHAPES = 24 * 32
N_SHARED = 8192
#: Halvings of the interval that are modelled; what is left is coded as it is.
DEEPEST = 12


class Mixture(NamedTuple):
    weights: IntArray
    refined: IntArray
    seen: IntArray
    slots: IntArray
    shapes: IntArray
    shared: IntArray
    escapes: IntArray
    ring: IntArray
    ring_at: IntArray
    found: IntArray
    match_at: IntArray
    match_length: IntArray
    mode: IntArray
    mode_count: IntArray
    answers: IntArray
    age: IntArray
    inputs: IntArray
    places: IntArray
    cost: FloatArray
    account: FloatArray
    asks: IntArray
    excluded: IntArray
    masses: FloatArray


def new_mixture(n: int) -> Mixture:
    weights = np.zeros((N_SETS, N_INPUTS), dtype=np.int64)
    weights[:, 0] = 52000
    weights[:, 1:] = 12000
    return Mixture(
        weights=weights,
        refined=np.array([squash((k - 12) * 256) * 64 for _ in range(N_SETS) for k in range(25)], dtype=np.int64),
        seen=np.zeros(N_SETS, dtype=np.int64),
        slots=np.zeros(N_SLOTS, dtype=np.int64),
        shapes=np.full(N_SHAPES, EVEN, dtype=np.int64),
        shared=np.full(N_SHARED, EVEN, dtype=np.int64),
        escapes=np.full(INTEGER_BITS + 64, EVEN, dtype=np.int64),
        ring=np.zeros((n, RING), dtype=np.int64),
        ring_at=np.zeros(n, dtype=np.int64),
        found=np.zeros(1 << MATCH_BITS, dtype=np.int64),
        match_at=np.full(n, -1, dtype=np.int64),
        match_length=np.zeros(n, dtype=np.int64),
        mode=np.zeros(n, dtype=np.int64),
        mode_count=np.zeros(n, dtype=np.int64),
        answers=np.zeros(n, dtype=np.int64),
        age=np.zeros(n, dtype=np.int64),
        inputs=np.zeros(N_INPUTS, dtype=np.int64),
        places=np.zeros(N_INPUTS, dtype=np.int64),
        cost=np.zeros(4),
        account=np.zeros(n),
        asks=np.zeros(n, dtype=np.int64),
        excluded=np.zeros(4, dtype=np.int64),
        masses=np.zeros(4),
    )


def hash_of(a: int, b: int) -> int:
    """Return 32 bits made of an integer and 32 bits before it."""
    a = (a ^ (b & 0xFFFFFFFF)) * 0x2C1B3C6D & 0xFFFFFFFF
    a ^= a >> 15
    a = (a * 0x297A2D39) & 0xFFFFFFFF
    return a ^ (a >> 14)


def slot_of(slots: IntArray, key: int) -> int:
    """Return the place of a context in the table; it starts anew where another context was."""
    place = key & (N_SLOTS - 1)
    check = ((key >> SLOT_BITS) & 0xFF) + 1
    entry = int(slots[place])
    if entry >> 30 != check:
        slots[place] = (check << 30) | EVEN
    return place


def mixed_bit(
    coder: IntArray, buffer: ByteArray, mixture: Mixture, which: int, n_inputs: int, base: int, bit: int
) -> int:
    """Code a bit whose sources stand in ``inputs`` (logits) and ``places``; learn from it.

    Places from 0 on are slots, those below 0 shapes or shared bits.
    """
    inputs = mixture.inputs
    places = mixture.places
    weights = mixture.weights[which]
    total = 0
    for j in range(n_inputs):
        if j >= base:
            place = int(places[j])
            if place >= 0:
                entry = int(mixture.slots[place]) & 0x3FFFFFFF
            else:
                entry = int(mixture.shared[-1 - place])
            inputs[j] = LOGIT[(entry >> 14)]
        total += int(weights[j]) * int(inputs[j])
    logit = total >> 16
    if logit > 3071:
        logit = 3071
    elif logit < -3072:
        logit = -3072
    place = which * 25 + ((logit + 3072) >> 8)
    along = (logit + 3072) & 255
    refined = mixture.refined
    ones = squash(logit)
    close = (int(refined[place]) * (256 - along) + int(refined[place + 1]) * along) >> 14
    ones = (ones + close + 1) >> 1
    if ones < 1:
        ones = 1
    elif ones > 65535:
        ones = 65535
    near = place + (along >> 7)
    bit = code_known(coder, buffer, ones, bit)
    mixture.cost[0] -= log2_of((ones if bit == 1 else TOTAL - ones) / 65536.0)
    error = (TOTAL if bit == 1 else 0) - squash(logit)
    if bit == 1:
        refined[near] += (4194303 - int(refined[near])) >> 6
    else:
        refined[near] -= int(refined[near]) >> 6
    seen = int(mixture.seen[which])
    pace = 5 + 60 // (seen + 2)
    if seen < 255:
        mixture.seen[which] = seen + 1
    for j in range(n_inputs):
        weights[j] += (int(inputs[j]) * error * pace) >> 18
        if j >= base:
            place = int(places[j])
            if place >= 0:
                whole = int(mixture.slots[place])
                mixture.slots[place] = (whole >> 30 << 30) | moved(whole & 0x3FFFFFFF, bit, 250 if which < 48 else 120)
            else:
                mixture.shared[-1 - place] = moved(int(mixture.shared[-1 - place]), bit, 250)
    return bit


def moved(entry: int, bit: int, limit: int) -> int:
    """Return an adaptive bit after it has seen one more."""
    seen = entry & 255
    chance = entry >> 8
    if bit == 1:
        chance += ((4194303 - chance) * int(RATES[seen])) >> 16
    else:
        chance -= (chance * int(RATES[seen])) >> 16
    if seen < limit:
        seen += 1
    return (chance << 8) | seen


def logit_of(share: float) -> int:
    """Return the logit of a probability."""
    p = math.floor(share * 65536.0)
    if p < 1:
        p = 1
    elif p > 65535:
        p = 65535
    return int(LOGIT[p])


def bucket_of(count: int) -> int:
    """Return the number of bits of a count."""
    bits = 0
    while count > 0:
        count >>= 1
        bits += 1
    return bits


def age_of(count: int) -> int:
    """Return a count, exactly if it is small, and to an eighth otherwise."""
    shift = 0
    while count >= 16:
        count >>= 1
        shift += 1
    return shift * 16 + count


def ask(
    coder: IntArray,
    buffer: ByteArray,
    mixture: Mixture,
    i: int,
    question: int,
    same: int,
    mass: float,
    asked: int,
    said_yes: int,
    phase: int,
    bit: int,
    candidate: int,
    neighbour: int,
) -> int:
    """Ask whether a cell is a candidate."""
    inputs = mixture.inputs
    places = mixture.places
    at = int(mixture.ring_at[i])
    last = int(mixture.ring[i, (at - 1) % RING])
    before = int(mixture.ring[i, (at - 2) % RING])
    answers = int(mixture.answers[i])
    long = min(int(mixture.match_length[i]), 15)
    inputs[0] = logit_of(mass)
    kind = question * 8 + same
    own = hash_of(i * 64 + kind, 77)
    age = bucket_of(int(mixture.age[i]))
    share = 0 if asked == 0 else 1 + (said_yes * 6 + (asked >> 1)) // asked
    places[1] = slot_of(mixture.slots, hash_of(answers & 15, own))
    places[2] = slot_of(mixture.slots, hash_of(candidate, hash_of(age_of(int(mixture.age[i])), own + 1)))
    places[3] = slot_of(mixture.slots, hash_of(last, hash_of(before, own + 2)))
    places[4] = -1 - ((kind * 8 + share) * 4 + (answers & 3))
    places[5] = -1 - (1024 + (kind * 16 + long) * 16 + min(age, 15))
    places[6] = slot_of(mixture.slots, hash_of(phase, hash_of(candidate, own + 3)))
    places[7] = slot_of(mixture.slots, hash_of(neighbour, hash_of(last, hash_of(candidate, kind + 4))))
    places[8] = slot_of(mixture.slots, hash_of(neighbour, hash_of(candidate, own + 5)))
    return mixed_bit(coder, buffer, mixture, kind + (24 if long >= 8 else 0), 9, 1, bit)


def code_mixed(
    coder: IntArray,
    buffer: ByteArray,
    mixture: Mixture,
    i: int,
    centre: float,
    scale: float,
    neighbour: int,
    ago: int,
    phase: int,
    asked: int,
    said_yes: int,
    stir_bin: int,
    level_bin: int,
    shape: int,
    w: int,
    holds: IntArray,
    cell: int,
) -> int:
    """Code a cell by questions first, then by halving an interval around its prediction.

    ``holds`` says, when encoding, which of the three candidates are close enough to the reading.
    """
    mixture.cost[0] = 0.0
    at = int(mixture.ring_at[i])
    last = int(mixture.ring[i, (at - 1) % RING])
    excluded = mixture.excluded
    masses = mixture.masses
    n_excluded = 0
    matched = int(mixture.match_at[i])
    predicted, mode = last, int(mixture.mode[i])
    if matched >= 0:
        predicted = int(mixture.ring[i, matched % RING])
    same = (1 if predicted == last else 0) + (2 if mode == last else 0) + (4 if matched >= 0 else 0)
    for question in range(3):
        candidate = predicted if question == 0 else last if question == 1 else mode
        asks = True
        for j in range(n_excluded):
            if excluded[j] == candidate:
                asks = False
        if not asks:
            continue
        place = float(candidate) / w
        if coder[MODE] == REHEARSING:
            place = math.floor(place + 0.5)
        mass = below((place + 0.5 - centre) / scale, shape) - below((place - 0.5 - centre) / scale, shape)
        rest = 1.0
        for j in range(n_excluded):
            rest -= masses[j]
        if rest < 1e-9:
            rest = 1e-9
        yes = ask(
            coder, buffer, mixture, i, question, same, mass / rest, asked, said_yes, phase,
            int(holds[question]), candidate, neighbour,
        )
        if yes == 1:
            return candidate
        excluded[n_excluded] = candidate
        masses[n_excluded] = mass
        n_excluded += 1
    cell = math.floor(float(cell) / w + 0.5)
    for j in range(n_excluded):
        place = float(excluded[j]) / w
        excluded[j] = math.floor(place + 0.5)
        masses[j] *= 1.0 - abs(place - float(excluded[j]))
    last = math.floor(float(last) / w + 0.5)
    # Halve an interval, aligned to powers of two, around the prediction.
    block = 3
    while (1 << block) < 8.0 * scale + 3.0 and block < 44:
        block += 1
    middle = math.floor(centre / float(1 << block) + 0.5)
    low = (middle - 1) << block
    high = (middle + 1) << block
    inside = 1 if low <= cell < high else 0
    entry = int(mixture.escapes[INTEGER_BITS])
    ones = min(max(entry >> 14, 4), TOTAL - 4)
    inside = 1 - code_known(coder, buffer, ones, 1 - inside)
    mixture.cost[0] -= log2_of((ones if inside == 0 else TOTAL - ones) / 65536.0)
    mixture.escapes[INTEGER_BITS] = moved(entry, 1 - inside, 250)
    if inside == 0:
        above = 1 if cell >= high else 0
        if coder[MODE] == REHEARSING:
            mixture.cost[0] += 2.0 * bucket_of(abs(cell - middle))
            return cell * w
        above = code_bits(coder, buffer, above, 1)
        mixture.cost[0] += 1.0
        apart = cell - high if above == 1 else low - 1 - cell
        apart = code_integer(coder, buffer, mixture.escapes, 0, apart)
        mixture.cost[0] += 2.0 * bucket_of(apart)
        return (high + apart if above == 1 else low - 1 - apart) * w
    before = math.floor(float(mixture.ring[i, (at - 2) % RING]) / w + 0.5)
    deep = 0
    size = block + 1
    while size > 0 and deep < DEEPEST:
        size -= 1
        edge = low + (1 << size)
        over = below((low + (2 << size) - 0.5 - centre) / scale, shape) - below((edge - 0.5 - centre) / scale, shape)
        under = below((edge - 0.5 - centre) / scale, shape) - below((low - 0.5 - centre) / scale, shape)
        over += 1e-12
        under += 1e-12
        whole = over + under
        for j in range(n_excluded):
            if low <= excluded[j] < low + (2 << size):
                if excluded[j] >= edge:
                    over -= masses[j]
                else:
                    under -= masses[j]
        if over < 1e-9 * whole:
            over = 1e-9 * whole
        if under < 1e-9 * whole:
            under = 1e-9 * whole
        share = over / (over + under)
        mixture.inputs[0] = logit_of(share)
        node = hash_of(low, size + 64)
        own = hash_of(i, node)
        relative = min(deep, 11)
        mixture.places[1] = -1 - (4096 + (relative * 32 + int(share * 31.999)) * 8 + stir_bin)
        mixture.places[2] = slot_of(mixture.slots, own)
        mixture.places[3] = slot_of(mixture.slots, hash_of(last, own + 1))
        mixture.places[4] = slot_of(mixture.slots, hash_of(before, hash_of(last, own + 2)))
        mixture.places[5] = slot_of(mixture.slots, hash_of(neighbour, own + 3))
        mixture.places[6] = slot_of(mixture.slots, hash_of(ago, own + 4))
        mixture.places[7] = slot_of(mixture.slots, hash_of(neighbour, node + 5))
        mixture.places[8] = slot_of(mixture.slots, hash_of(last, node + 6))
        mixture.places[9] = slot_of(mixture.slots, node)
        mixture.places[10] = slot_of(
            mixture.slots, hash_of(level_bin, hash_of(relative * 32 + int(share * 31.999), i + 1000))
        )
        bit = mixed_bit(coder, buffer, mixture, 48 + min(deep, 15), 11, 1, 1 if cell >= edge else 0)
        if bit == 1:
            low = edge
        deep += 1
    if size > 0:
        mixture.cost[0] += float(size)
        if coder[MODE] == REHEARSING:
            return cell * w
        return (low + code_bits(coder, buffer, cell - low, size)) * w
    return low * w


def holds_of(mixture: Mixture, i: int, w: int, holds: IntArray, cell: int) -> None:
    """Write which candidates are as good as a cell."""
    last = int(mixture.ring[i, (int(mixture.ring_at[i]) - 1) % RING])
    matched = int(mixture.match_at[i])
    predicted = int(mixture.ring[i, matched % RING]) if matched >= 0 else last
    index = math.floor(float(cell) / w + 0.5)
    holds[0] = 1 if math.floor(float(predicted) / w + 0.5) == index else 0
    holds[1] = 1 if math.floor(float(last) / w + 0.5) == index else 0
    holds[2] = 1 if math.floor(float(mixture.mode[i]) / w + 0.5) == index else 0


def take_cell(mixture: Mixture, i: int, w: int, cell: int) -> int:
    """Remember a cell: the ring, the match, the most frequent one; return 1 if it repeats the last."""
    at = int(mixture.ring_at[i])
    ring = mixture.ring
    last = int(ring[i, (at - 1) % RING])
    same = 1 if 2 * abs(cell - last) <= w else 0
    mixture.answers[i] = ((int(mixture.answers[i]) << 1) | same) & 255
    mixture.age[i] = min(int(mixture.age[i]) + 1, 100000) if same == 1 else 0
    matched = int(mixture.match_at[i])
    if matched >= 0:
        if 2 * abs(int(ring[i, matched % RING]) - cell) <= w:
            mixture.match_length[i] += 1
            mixture.match_at[i] = matched + 1
        else:
            mixture.match_length[i] = 0
            mixture.match_at[i] = -1
    ring[i, at % RING] = cell
    at += 1
    mixture.ring_at[i] = at
    if 2 * abs(cell - int(mixture.mode[i])) <= w:
        mixture.mode_count[i] = min(int(mixture.mode_count[i]) + 1, 255)
    elif mixture.mode_count[i] == 0:
        mixture.mode[i] = cell
        mixture.mode_count[i] = 1
    else:
        mixture.mode_count[i] -= 1
    if at >= MATCH_ORDER:
        key = i + 1
        for j in range(MATCH_ORDER):
            key = hash_of(math.floor(float(ring[i, (at - 1 - j) % RING]) / w + 0.5), key)
        place = key & ((1 << MATCH_BITS) - 1)
        if mixture.match_at[i] < 0:
            candidate = int(mixture.found[place])
            if 0 < candidate < at and at - candidate < RING - 64:
                length = 0
                while length < 32 and 2 * abs(ring[i, (candidate - 1 - length) % RING] - ring[i, (at - 1 - length) % RING]) <= 2 * w:
                    length += 1
                if length >= MATCH_ORDER:
                    mixture.match_at[i] = candidate
                    mixture.match_length[i] = length
        mixture.found[place] = at
    return same
