"""Which step makes the most of a budget of bits."""

from __future__ import annotations

import math
from typing import ClassVar

from orthostream.compression.codecs.transform.step_size import step_size

#: Bits that may be spent before the budget has to be kept: the start, when nothing is known yet, is expensive.
START_UP_BITS = 16_384
#: Bits of a frame around each payload.
FRAME_BITS = 32
#: Samples over which the bits that a step costs are averaged.
_WATCHED = 500.0
#: Samples whose budget is saved for a storm, and what part of all samples they may be; and the fewest over which what
#: is saved beyond that is spent.
_SAVED, _PART_SAVED = 400.0, 0.08
_SPENT_OVER = 1000.0
#: Beside its own budget, or while the start lasts, a payload may cost this part of all that is left.
_SHARE = 0.06
#: Bits of coefficients go with this power of one over the step.
_POWER = 1.3
#: Of a budget, coefficients are to have at least this part: with less, nothing that is worth a bit would be sent.
_LEAST_PART = 0.15


class BudgetControl:
    """Keeps the bits of all payloads so far at most at a budget for each reading, once 2 kB are spent.

    The step follows what it has cost over weeks and what is saved of the budget, slowly, since one step for all makes
    the smallest error; a payload that would be too large is made anew with a coarser one.

    Parameters
    ----------
    bits_per_reading : float
        The budget. Masks of missing readings and frames count; where they alone cost more, no step can keep it.
    level : int
        The first level of step.

    Attributes
    ----------
    level : int
        The level of step to try first.

    Examples
    --------
    >>> control = BudgetControl(2.0, level=0)
    >>> control.allows(n_bytes=100, readings=10), control.allows(n_bytes=200, readings=10)
    (True, False)
    """

    NAMES: ClassVar = ("level", "bits", "readings", "_rows", "_fixed", "_cost", "_weight")
    """What changes, for a state that is saved."""

    def __init__(self, bits_per_reading: float, level: int) -> None:
        self.bits_per_reading = bits_per_reading
        self.level = level
        self.bits = 0
        self.readings = 0
        self._rows = 0
        #: Bits of a reading that go to masks and frames, and to coefficients with a step of one; from so many samples.
        self._fixed = self._cost = 0.0
        self._weight = 0.0

    def allows(self, n_bytes: int, readings: int) -> bool:
        """Return whether a payload of so many bytes may be sent for so many readings."""
        cost = 8 * n_bytes + FRAME_BITS
        budget = self.bits_per_reading * readings
        to_come = START_UP_BITS - self.bits_per_reading * self.readings
        if to_come > budget:
            return cost <= (START_UP_BITS - self.bits) * max(_SHARE, budget / to_come)
        left = max(START_UP_BITS, self.bits_per_reading * self.readings + budget) - self.bits
        return cost <= left and cost <= max(left, 0.0) * _SHARE + budget

    def affords(self, n_bytes: int) -> bool:
        """Return whether a payload without readings would leave at least half of what is left."""
        left = max(START_UP_BITS, self.bits_per_reading * self.readings) - self.bits
        return 8 * n_bytes + FRAME_BITS <= left / 2

    def spend(self, n_bytes: int) -> None:
        """Take note of a payload without readings."""
        self.bits += 8 * n_bytes + FRAME_BITS

    def settle(self, level: int, n_bytes: int, level_bits: float, readings: int, rows: int) -> None:
        """Take note of what was sent, of which so many bits were coefficients, and choose the next level."""
        spent = 8 * n_bytes + FRAME_BITS
        self.bits += spent
        if not readings:
            return
        self.readings += readings
        self._rows += rows
        self._weight = min(self._weight + rows, _WATCHED)
        part = min(rows / self._weight, 1.0)
        self._cost += (level_bits / readings * step_size(level) ** _POWER - self._cost) * part
        self._fixed += ((spent - level_bits) / readings - self._fixed) * part
        saved = (self.readings - self.bits / self.bits_per_reading) / (readings / rows)
        keep = min(_SAVED, _PART_SAVED * self._rows)
        aim = min(max(1.0 + (saved - keep) / max(_SPENT_OVER, self._rows / 4.0), 0.6), 2.0)
        share = max(aim * self.bits_per_reading - self._fixed, _LEAST_PART * self.bits_per_reading)
        wanted = (max(self._cost, 1e-300) / share) ** (1.0 / _POWER)
        # Not by much at once: one payload says little about the next ones.
        self.level += max(-2, min(2, round(8.0 * math.log2(wanted / step_size(self.level)))))
