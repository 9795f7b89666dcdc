"""What an edge takes its samples from."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import NamedTuple, Self

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Schema

#: Readings that a source returns at once, about: as many as a message holds.
READINGS_AT_ONCE = 1 << 14
#: How often the same trouble is logged each time.
_LOGGED = 5
_log = logging.getLogger(__name__)


class Samples(NamedTuple):
    """Samples with their times, and how far their source was read when they had been taken from it."""

    readings: FloatArray
    times: IntArray
    mark: str | None


class Source(ABC):
    """Gives samples, one piece after another.

    A source is made with the ``mark`` of the last samples that were taken from it, also by an earlier process, and goes
    on behind them.

    Attributes
    ----------
    schema : Schema
        The sensors, with a time axis.
    is_live : bool
        Whether samples are lost if they are not taken soon; a file or a pipe waits.
    counts : dict
        What was left out, and why.
    """

    schema: Schema
    is_live: bool = False

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    @abstractmethod
    def poll(self, wait: float = 0.0) -> Samples | None:
        """Return the next samples, None if there are none within ``wait`` seconds."""

    @property
    @abstractmethod
    def is_finished(self) -> bool:
        """Whether all samples were returned, and no more will come."""

    @property
    def share(self) -> float | None:
        """The fraction of all samples that was returned, None if it is unknown."""
        return None

    def close(self) -> None:
        """Close what was opened."""
        return

    def count(self, what: str, more: int = 1) -> int:
        """Add to a counter; return what it is then."""
        self.counts[what] = self.counts.get(what, 0) + more
        return self.counts[what]

    def leave_out(self, what: str, reason: str) -> None:
        """Count what is left out, and log it: the first few times, and then now and then."""
        count = self.count(what)
        if count <= _LOGGED or str(count).strip("0") == "1":
            _log.warning("%s (%s: %d)", reason, what, count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def as_floats(schema: Schema) -> Schema:
    """Return a schema whose readings are all floats: a later reading may not be the integer that the first ones are."""
    return replace(schema, columns=tuple(replace(column, dtype="float64") for column in schema.columns))


def samples_at_once(schema: Schema) -> int:
    """Return how many samples to return at once."""
    return max(1, READINGS_AT_ONCE // len(schema.columns))
