"""A goal of a benchmark, and whether it is met."""

from __future__ import annotations

from typing import NamedTuple


class Goal(NamedTuple):
    """A number that should not be larger than its limit, and where it was measured."""

    what: str
    limit: float
    value: float
    median: float | None
    where: str

    @property
    def is_met(self) -> bool:
        """Whether the value, for times the best one, is within the limit."""
        return self.value <= self.limit

    @property
    def text(self) -> str:
        """The line of the summary; UNSURE is met by the best times, but not by the medians."""
        median = "" if self.median is None else f" (median {self.median:.2f})"
        verdict = "MISSED" if not self.is_met else "met   " if (self.median or 0.0) <= self.limit else "UNSURE"
        return f"  {verdict}  {self.what} <= {self.limit:g}: {self.value:.2f}{median}, {self.where}"
