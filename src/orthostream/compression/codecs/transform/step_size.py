"""The step of the quantiser as one integer."""

from __future__ import annotations

import math

#: The eighth root of two and its powers; literals, since powers differ between machines.
_EIGHTHS = (
    *(1.0, 1.0905077326652577, 1.189207115002721, 1.2968395546510096),
    *(1.4142135623730951, 1.5422108254079407, 1.681792830507429, 1.8340080864093424),
)
#: Levels that a step may have: from 2**-500 to 2**500.
LOWEST_LEVEL, HIGHEST_LEVEL = -4000, 4000


def step_size(level: int) -> float:
    """Return the step of a level: 2 to the power of an eighth of it, the same bits everywhere.

    >>> step_size(0), step_size(8), step_size(-24), round(step_size(4), 4)
    (1.0, 2.0, 0.125, 1.4142)
    """
    return math.ldexp(_EIGHTHS[level % 8], level // 8)


def nearest_level(step: float) -> int:
    """Return the level whose step is nearest to a number above 0, by ratio; for the side that chooses.

    >>> nearest_level(1.0), nearest_level(0.3), nearest_level(1e-300)
    (0, -14, -4000)
    """
    return max(LOWEST_LEVEL, min(HIGHEST_LEVEL, round(8.0 * math.log2(step))))
