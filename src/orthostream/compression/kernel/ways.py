"""Which way of coding is better for a sensor: what both ways know of a cell, and what it cost each of them."""

from __future__ import annotations

import math

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.kernel.account import CENTRED, SCALES, compare, probability_alone, shape_account
from orthostream.compression.kernel.group_state import CURVE, SAMPLES, Group
from orthostream.compression.kernel.halving import code_mixed
from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP
from orthostream.compression.kernel.mixture import AGO, ASKED, LEVEL, NEIGHBOUR, REPEATED, STIR
from orthostream.compression.kernel.repeats import take_cell

#: Compiled without memory management: nothing here makes arrays.
ALLOCATES = False
#: Functions with this parameter are inlined: it is many arrays, which a call would copy.
INLINES = "group"


def look_around(group: Group, i: int, w: float, bins: tuple[int, int]) -> None:
    """Write what else the mixture looks at."""
    around = group.mixture.around
    ring = group.history.shape[0]
    ago = float(group.history[(int(group.clock[SAMPLES]) + 2) % ring, i])
    around[AGO] = math.floor(ago / w + 0.5)
    around[LEVEL] = bins[0]
    around[STIR] = bins[1]


def _judge_shape(group: Group, w: float, expected: float, spread: float, cell: int, shape: int) -> None:
    """Compare the shapes of the bell curve, on one sensor of each sample."""
    upper = float(cell) + 0.5 * w - expected
    account = shape_account(float(group.shape_account[0]), upper, upper - w, spread / SCALES[shape])
    group.shape_account[0] = account


def _is_surprise(cell: int, expected: float, spread: float, before: float, w: float) -> int:
    """Return 1 if a bell curve does not explain a cell: it is far out, or repeats the last one though few should."""
    if abs(float(cell) - expected) > 6.0 * spread:
        return 1
    return 1 if float(cell) == before and spread > 8.0 * w else 0


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
    """Rehearse the mixture if it is to be tried and was not used, compare the two ways, and remember the cell."""
    mixture = group.mixture
    n = len(group.width)
    w = float(group.width[i])
    index = math.floor(float(cell) / w + 0.5)
    if tried:
        if mixture.mixes[i] == 0:
            look_around(group, i, w, bins)
            code_mixed(rehearsal, buffer, mixture, i, expected / w, spread / w, index)
        alone = probability_alone(expected, spread, w, cell, int(group.clock[CURVE]))
        compare(mixture, i, n, alone, w > 1.0 and spread <= CENTRED * w)
        mixture.around[ASKED] += 1
        mixture.around[REPEATED] += take_cell(mixture, i, index)
        mixture.around[NEIGHBOUR] = index
    else:
        take_cell(mixture, i, index)
        mixture.around[NEIGHBOUR] = index


def judge(
    rehearsal: IntArray,
    buffer: ByteArray,
    group: Group,
    i: int,
    w: float,
    expected: float,
    spread: float,
    before: float,
    cell: int,
    bins: tuple[int, int],
    shape: int,
    mixes: bool,
    trial: bool,
) -> int:
    """Compare the ways of coding, and the shapes of the bell curve, on a cell; return 1 if it was a surprise."""
    t = int(group.clock[SAMPLES])
    if i == t % len(group.width):
        _judge_shape(group, w, expected, spread, cell, shape)
    # A sensor of which the mixture knows nothing is tried less often.
    tried = mixes or (trial and (group.mixture.account[i] > -48.0 or t % 4 == 0))
    if tried or len(group.width) <= LARGEST_SMALL_GROUP:
        _settle_accounts(rehearsal, buffer, group, i, expected, spread, cell, bins, tried)
    return _is_surprise(cell, expected, spread, before, w)
