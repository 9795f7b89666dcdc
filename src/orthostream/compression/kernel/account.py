"""Which way of coding a sensor pays: running accounts that both sides keep."""

from __future__ import annotations

import math

from orthostream.compression.kernel.logistic import log2_of
from orthostream.compression.kernel.memory import LARGEST_SMALL_GROUP
from orthostream.compression.kernel.mixture import Mixture
from orthostream.compression.kernel.student import FOUR, TEN, below

#: Compiled without memory management: nothing here makes arrays while it codes.
ALLOCATES = False


#: The scale of a bell curve, by its shape, as a share of the standard deviation.
SCALES = (0.7071067811865476, 0.8944271909999159)

#: Probability of the nearest cell beyond 8 scales, by the shape of the curve; halved each time the distance doubles.
_FAR_OUT = (1.6e-4, 1.5e-6)

#: Bits that a way must lead by before it replaces the other.
_LEAD, _SHAPE_LEAD = 8.0, 4.0
_KEEP = 0.998
#: Probability that a cell as wide as the bell curve has at least, in the accounts.
_LEAST = 1.6e-5
#: Share of surprises above which the mixture is tried in every sample.
_SURPRISED = 0.08
#: Up to this scale, in cells, the cells of a bell curve are centred on the prediction.
CENTRED = 1.5


def rehearses(surprise: float, t: int, n: int) -> bool:
    """Return whether the mixture is tried, in this sample, by sensors that do not use it."""
    if n <= LARGEST_SMALL_GROUP or surprise > _SURPRISED:
        return True
    return t % 512 == 16 or t % 512 == 17


def probability_alone(expected: float, scale: float, w: float, cell: int, shape: int) -> float:
    """Return the probability that the bell curve alone gives a cell, from its own choice of cells."""
    centre = 0
    if scale <= CENTRED * w:
        centre = math.floor(expected + 0.5)
    number = math.floor((float(cell) - float(centre)) / w + 0.5)
    excess = abs(number - (expected - float(centre)) / w) - 8.0 * scale / w - 3.0
    if excess > 0.0:
        probability = _FAR_OUT[shape]
        while excess >= 1.0 and probability > 1e-12:
            probability *= 0.5
            excess *= 0.5
        return probability
    upper = ((number + 0.5) * w - (expected - float(centre))) / scale
    return below(upper, shape) - below(upper - w / scale, shape) + _LEAST * w / max(scale, w)


def compare(mixture: Mixture, i: int, n: int, alone: float, is_centred: bool) -> None:
    """Enter what a cell cost the mixture, and what it would have cost the bell curve, and choose between them.

    The mixture takes more time: it must save something, and more in large groups. Where cells are centred on the
    prediction, other sensors lose by it as well.
    """
    price = 0.995 if n <= LARGEST_SMALL_GROUP else 0.85 if is_centred else 0.97
    gain = min(-price * log2_of(alone) - float(mixture.cost[0]), 16.0)
    account = min(max(_KEEP * float(mixture.account[i]) + gain, -64.0), 64.0)
    mixture.account[i] = account
    if account < -_LEAD:
        mixture.mixes[i] = 0
    elif account > _LEAD:
        mixture.mixes[i] = 1


def shape_account(account: float, upper: float, lower: float, deviation: float) -> float:
    """Return by how many bits the lighter tails did better lately, after one more cell."""
    four = below(upper / (deviation * SCALES[FOUR]), FOUR) - below(lower / (deviation * SCALES[FOUR]), FOUR)
    ten = below(upper / (deviation * SCALES[TEN]), TEN) - below(lower / (deviation * SCALES[TEN]), TEN)
    least = _LEAST * min((upper - lower) / deviation, 1.0)
    account = _KEEP * account + log2_of((ten + least) / (four + least))
    return min(max(account, -40.0), 40.0)


def chosen_shape(shape: int, account: float) -> int:
    """Return the shape that the account asks for."""
    if account > _SHAPE_LEAD:
        return TEN
    if account < -_SHAPE_LEAD:
        return FOUR
    return shape
