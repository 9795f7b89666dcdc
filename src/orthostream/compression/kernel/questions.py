"""Is the cell the one that a stretch met before predicts, the last one, the most frequent one?"""

from __future__ import annotations

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.logistic import logit_of
from orthostream.compression.kernel.mixture import (
    ASKED,
    NEIGHBOUR,
    PHASE,
    REPEATED,
    SHAPE,
    Mixture,
    hash_of,
    mixed_bit,
    slot_of,
)
from orthostream.compression.kernel.repeats import last_cell
from orthostream.compression.kernel.student import below

#: What `ask_candidates` returns where no candidate holds.
NONE = 3


def bits_of(count: int) -> int:
    """Return the number of bits of a count."""
    bits = 0
    while count > 0:
        count >>= 1
        bits += 1
    return bits


def _coarse(count: int) -> int:
    """Return a count as it is if it is small, and to an eighth otherwise."""
    shift = 0
    while count >= 16:
        count >>= 1
        shift += 1
    return shift * 16 + count


def ask_candidates(
    coder: IntArray, buffer: ByteArray, mixture: Mixture, i: int, centre: float, scale: float, cell: int
) -> int:
    """Ask for each candidate in turn; return which one the cell is, or `NONE`.

    ``candidates`` and ``masses`` are left with those that it is not, and with their share of the bell curve; a candidate
    that was asked for already has a share of 0.
    """
    candidates = mixture.candidates
    masses = mixture.masses
    shape = int(mixture.around[SHAPE])
    match = int(mixture.match[i])
    last = last_cell(mixture, i, 1)
    candidates[0] = mixture.ring[i, match % mixture.ring.shape[1]] if match >= 0 else last
    candidates[1] = last
    candidates[2] = mixture.mode[i]
    agree = (1 if candidates[0] == last else 0) + (2 if candidates[2] == last else 0) + (4 if match >= 0 else 0)
    rest = 1.0
    for question in range(3):
        candidate = int(candidates[question])
        masses[question] = 0.0
        if (question > 0 and candidate == candidates[0]) or (question > 1 and candidate == candidates[1]):
            continue
        upper = below((float(candidate) + 0.5 - centre) / scale, shape)
        mass = upper - below((float(candidate) - 0.5 - centre) / scale, shape)
        holds = 1 if cell == candidate else 0
        mixture.inputs[0] = logit_of(mass / max(rest, 1e-9))
        if _ask(coder, buffer, mixture, i, question * 8 + agree, candidate, holds) == 1:
            return question
        masses[question] = mass
        rest -= mass
    return NONE


def _ask(
    coder: IntArray, buffer: ByteArray, mixture: Mixture, i: int, kind: int, candidate: int, holds: int
) -> int:
    """Ask one question, whose sources are what sensors answered in like circumstances."""
    slots = mixture.slots
    places = mixture.places
    around = mixture.around
    last = last_cell(mixture, i, 1)
    repeats = int(mixture.repeats[i])
    long = min(int(mixture.length[i]), 15)
    age = int(mixture.age[i])
    asked = int(around[ASKED])
    share = 0 if asked == 0 else 1 + (6 * int(around[REPEATED]) + (asked >> 1)) // asked
    neighbour = int(around[NEIGHBOUR])
    own = hash_of(i * 64 + kind, 77)
    places[1] = slot_of(slots, hash_of(repeats & 15, own))
    places[2] = slot_of(slots, hash_of(candidate, hash_of(_coarse(age), own + 1)))
    places[3] = slot_of(slots, hash_of(last, hash_of(last_cell(mixture, i, 2), own + 2)))
    places[4] = -1 - ((kind * 8 + share) * 4 + (repeats & 3))
    places[5] = -1 - (1024 + (kind * 16 + long) * 8 + min(bits_of(age) >> 1, 7))
    places[6] = slot_of(slots, hash_of(int(around[PHASE]), hash_of(candidate, own + 3)))
    places[7] = slot_of(slots, hash_of(neighbour, hash_of(last, hash_of(candidate, kind + 4))))
    places[8] = slot_of(slots, hash_of(neighbour, hash_of(candidate, own + 5)))
    return mixed_bit(coder, buffer, mixture, kind + (24 if long >= 8 else 0), 9, holds)
