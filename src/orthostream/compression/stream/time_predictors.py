"""Where the next sample is expected: on a grid that samples lie around, or a mean step after the last one.

Both are integers, in ticks times 2**32, so that every machine predicts the same. Fewer bits below the
point would not do: corrections are rounded down, and that must not add up to parts of a tick.
"""

from __future__ import annotations

#: Bits below the binary point.
FRACTION = 32
#: No step is longer.
_LONGEST = 1 << (64 + FRACTION)
_HALF = 1 << (FRACTION - 1)
#: Samples that an estimate remembers.
_MEMORY = 300
#: Samples before anything counts as an outlier.
_WARM = 8
#: Outliers in a row after which a grid begins anew.
_RESTART = 4


def _bound(spread: int) -> int:
    """Return the largest error that is no outlier, given how large errors usually are."""
    return 8 * spread + (1 << FRACTION)


class Grid:
    """A line through times, by least squares: samples lie around it.

    An error is taken modulo the period, so that a gap of some periods keeps to the grid. A single outlier does not move
    the line, a second one in a row moves it there, and after four it begins anew.
    """

    def __init__(self) -> None:
        self.at, self.period, self.seen, self.spread, self.outliers = 0, 0, 0, 0, 0

    def to_plain(self) -> list[int]:
        """Return the state."""
        return [self.at, self.period, self.seen, self.spread, self.outliers]

    def from_plain(self, plain: list[int]) -> None:
        """Take over a state."""
        self.at, self.period, self.seen, self.spread, self.outliers = plain

    def begin(self, time: int, step: int) -> None:
        """Start with two times, the second of which is given."""
        self.at, self.period, self.seen, self.spread, self.outliers = time << FRACTION, step << FRACTION, 2, 0, 0

    def shift(self, distance: int) -> None:
        """Move along with times that were expected."""
        self.at += distance << FRACTION

    def predict(self) -> int:
        """Return the next time."""
        return max(-(2**63), min(2**63 - 1, (self.at + self.period + _HALF) >> FRACTION))

    def learn(self, time: int, step: int) -> None:
        """Take in the time of a sample, and its distance from the one before."""
        self.at += self.period
        error = (time << FRACTION) - self.at
        period = abs(self.period)
        if period > 0:
            inner = (error + (period >> 1)) % period - (period >> 1)
            self.at += error - inner
            error = inner
        n = min(self.seen + 1, _MEMORY)
        bound = _bound(self.spread) if n > _WARM else abs(error)
        if abs(error) <= bound:
            self.outliers = 0
            self.at += error * (4 * n - 2) // (n * (n + 1))
            self.period += error * 6 // (n * (n + 1))
            self.period = max(-_LONGEST, min(_LONGEST, self.period))
            self.seen = n
        else:
            self.outliers += 1
            if self.outliers > 1:
                self.at = time << FRACTION
            if self.outliers == _RESTART:
                self.period, self.seen, self.outliers = step << FRACTION, 2, 0
        self.spread += (min(abs(error), bound) - self.spread) // min(n, 16)


class MeanStep:
    """The mean of the steps, outliers cut."""

    def __init__(self) -> None:
        self.step, self.seen, self.spread = 0, 0, 0

    def to_plain(self) -> list[int]:
        """Return the state."""
        return [self.step, self.seen, self.spread]

    def from_plain(self, plain: list[int]) -> None:
        """Take over a state."""
        self.step, self.seen, self.spread = plain

    def begin(self, step: int) -> None:
        """Start with one step."""
        self.step, self.seen, self.spread = step << FRACTION, 1, 0

    def predict(self) -> int:
        """Return the next step."""
        return (self.step + _HALF) >> FRACTION

    def learn(self, step: int) -> None:
        """Take in a step."""
        error = (step << FRACTION) - self.step
        n = min(self.seen + 1, _MEMORY)
        if n > _WARM:
            bound = _bound(self.spread)
            error = max(-bound, min(bound, error))
        self.step += error // n
        self.spread += (abs(error) - self.spread) // min(n, 16)
        self.seen = n
