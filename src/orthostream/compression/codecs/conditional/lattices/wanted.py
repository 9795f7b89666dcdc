"""What a sensor's lattice has to fulfil, and the linear lattice of the widest cells that does."""

from __future__ import annotations

import math
from typing import NamedTuple

from orthostream.compression.codecs.conditional.lattices.linear import Linear

#: A cell of a lattice without a resolution is this many units wide, so that it can be centred on a prediction.
_FINE = 8
#: Cells wider than this many multiples of the resolution gain nothing from it.
_WIDEST = 63
#: Errors that are smaller have no unit that a double could hold.
_SMALLEST = 1e-300


class Wanted(NamedTuple):
    """How far off readings may be, and whether they are of 32 bits or of an integer type."""

    error: float = 0.0
    single: bool = False
    whole: bool = False


def without_resolution(wanted: Wanted) -> Linear | None:
    """Return cells as wide as the error allows, for readings that are multiples of nothing; None if it is 0."""
    if not wanted.error > _SMALLEST:
        return None
    # A hair less than the bound, so that rounding to a double does not cross it.
    return Linear(_FINE, wanted.error * (2.0 / _FINE) * (1.0 - 1e-12), 1.0, 0.0, wanted.single)


def widened(step: Linear, wanted: Wanted) -> Linear | None:
    """Return cells of as many multiples of a resolution as lie within the error of their middle.

    None where that gains nothing over `without_resolution`. (The middle of an even number of multiples is not one of
    them: whole degrees within half a degree are sent as pairs.) Sensors of an integer type are decoded as integers.

    Examples
    --------
    >>> widened(Linear(1, 1.0, 10.0), Wanted(0.1))
    Linear(width=2, numerator=2.0, denominator=20.0, offset=1.0, single=False)
    """
    # Differences of whole numbers are exact, those of decimals are not: these stay clear of the bound.
    sure = 1.0 if step.denominator == 1.0 and step.numerator.is_integer() else 1.0 - 1e-9
    reach = min(2.0 * wanted.error * step.denominator / step.numerator, 2.0**52)
    held = math.floor(reach * sure) + 1
    if wanted.whole:
        held -= 1 - held % 2
    single = step.single or wanted.single
    if held <= _WIDEST:
        if held % 2 == 1:
            return Linear(held, step.numerator, step.denominator, step.offset, single)
        offset = 2.0 * step.offset + step.numerator
        return Linear(held, 2.0 * step.numerator, 2.0 * step.denominator, offset, single)
    if wanted.whole:
        # Coarser units still stand for whole numbers.
        return Linear(_FINE - 1, step.numerator * (held // _FINE), 1.0, step.offset, single)
    return None
