"""Which step keeps the error on average below its bound, at every moment."""

from __future__ import annotations

import math
from typing import ClassVar

from orthostream.compression.codecs.transform.step_size import nearest_level, step_size

#: Samples over which the error that a step makes is averaged, and the weight of the first guess in them.
_WATCHED = 1000.0
_GUESS = 12.0
#: Samples whose allowed error is saved for a storm, and what part of all samples they may be; and over how many samples
#: what is saved beyond that is spent: as many as half of those so far, within bounds.
_SAVED, _PART_SAVED = 240.0, 0.03
_SPENT_OVER = (480.0, 2000.0)
#: The mean square error goes with this power of the step: 2 where every coefficient is sent, less where few are.
_POWER = 1.2


class ErrorControl:
    """Keeps the root mean square error of all readings so far at most at a bound.

    One step for all is what costs least at a given error, so the step follows what it has been worth over weeks and
    what has been saved of the error that is allowed, slowly. Where a payload would break the bound it is refined at
    once, for that payload.

    Parameters
    ----------
    rmse : float
        The bound.

    Attributes
    ----------
    level : int
        The level of step to try first.
    finest : int
        The level at which a step keeps the bound whatever the readings, but for rounding.

    Examples
    --------
    >>> control = ErrorControl(1.0)
    >>> control.allows(squares=25.0, readings=24), control.allows(squares=23.0, readings=24)
    (False, True)
    """

    NAMES: ClassVar = ("level", "squares", "readings", "_rows", "_worth", "_weight")
    """What changes, for a state that is saved."""

    def __init__(self, rmse: float) -> None:
        self.rmse = rmse
        self.level = nearest_level(4.0 * rmse)
        self.finest = nearest_level(rmse / 8.0)
        self.squares = 0.0
        self.readings = 0
        self._rows = 0
        #: Mean square error in units of what is allowed, of a step as large as the bound; how many samples say so.
        self._worth = 4.0**-_POWER
        self._weight = _GUESS

    def allows(self, squares: float, readings: int) -> bool:
        """Return whether so many readings with such a sum of squared errors may be sent."""
        bound = self.rmse * self.rmse * (self.readings + readings)
        return self.squares + squares <= bound * (1.0 - 1e-9)

    def settle(self, level: int, squares: float, readings: int, rows: int) -> None:
        """Take note of what was sent, and choose the next level."""
        if not readings:
            return
        self.squares += squares
        self.readings += readings
        self._rows += rows
        allowed = self.rmse * self.rmse
        worth = squares / (allowed * readings) / (step_size(level) / self.rmse) ** _POWER
        self._weight = min(self._weight + rows, _WATCHED)
        self._worth += (worth - self._worth) * min(rows / self._weight, 1.0)
        saved = (self.readings - self.squares / allowed) / (readings / rows)
        keep = min(_SAVED, _PART_SAVED * self._rows)
        horizon = min(max(_SPENT_OVER[0], self._rows / 2.0), _SPENT_OVER[1])
        aim = min(max(1.0 + (saved - keep) / horizon, 0.5), 2.0)
        wanted = (aim / max(self._worth, 1e-9)) ** (1.0 / _POWER) * self.rmse
        # Not faster than a level a payload: readings that cost no error at all say little about the next ones.
        self.level += max(-8, min(1, round(8.0 * math.log2(wanted / step_size(self.level)))))
