"""Which step makes the most of a budget of bits."""

from __future__ import annotations

#: Bits that may be spent before the budget has to be kept: the start, when nothing is known yet, is dear.
START_UP_BITS = 16_384
#: Bits of a frame around each payload.
FRAME_BITS = 32
_LEAST_SAVED, _MOST_SAVED = 24.0, 72.0
_PATIENCE = 24


class BudgetControl:
    """Keeps the bits of all payloads so far at most at a budget for each reading, once 2 kB are spent.

    The step follows what is saved of the budget, slowly, since one step for all makes the smallest error; a payload
    that would be too large is made anew with a coarser one.

    Parameters
    ----------
    bits_per_reading : float
        The budget. Masks of missing readings and frames count; where they alone cost more, no step can keep it.

    Attributes
    ----------
    level : int
        The level of step to try first.
    """

    def __init__(self, bits_per_reading: float, level: int) -> None:
        self.bits_per_reading = bits_per_reading
        self.level = level
        self.bits = 0
        self.readings = 0
        self._rows = 0

    def allows(self, n_bytes: int, readings: int) -> bool:
        """Return whether a payload of so many bytes may be sent for so many readings."""
        budget = self.bits_per_reading * (self.readings + readings)
        return self.bits + 8 * n_bytes + FRAME_BITS <= max(START_UP_BITS, budget)

    def spend(self, n_bytes: int) -> None:
        """Take note of bytes that bring no readings."""
        self.bits += 8 * n_bytes + FRAME_BITS

    def settle(self, level: int, n_bytes: int, readings: int, rows: int) -> None:
        """Take note of what was sent, and choose the next level."""
        spent = 8 * n_bytes + FRAME_BITS
        self.bits += spent
        self.readings += readings
        self._rows += rows
        self.level = level
        if readings and self._rows >= _PATIENCE:
            self._rows = 0
            saved = (self.bits_per_reading * self.readings - self.bits) / (self.bits_per_reading * readings / rows)
            if saved > _MOST_SAVED:
                self.level -= 1
            elif saved < _LEAST_SAVED and spent > self.bits_per_reading * readings:
                self.level += 1
