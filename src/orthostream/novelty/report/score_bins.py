"""The scores of a stream of any length, in a bounded number of bins."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.scored_document import ScoredDocument

#: Scores of a bin from which its median follows.
_SAMPLE = 8
LONGEST_TIME = 40


class ScoreBin(NamedTuple):
    """The scores of some consecutive documents.

    Attributes
    ----------
    first, last, size : int
        Numbers of the first and the last document, and how many there are.
    first_time, last_time : str
        As the input has them.
    least, most : float
    threshold : float or None
        Of the last document that has one.
    sample : tuple of float
        All scores, or eight that stand for them, sorted.
    """

    first: int
    last: int
    size: int
    first_time: str
    last_time: str
    least: float
    most: float
    threshold: float | None
    sample: tuple[float, ...]

    @classmethod
    def of(cls, document: ScoredDocument) -> Self:
        """Return the bin of one document."""
        number, score, time = document.number, float(document.score), shown_text(document.time, LONGEST_TIME)
        return cls(number, number, 1, time, time, score, score, finite_threshold(document), (score,))

    @property
    def median(self) -> float:
        """The middle one of the scores; an estimate if there are more than eight."""
        return 0.5 * statistics.median_low(self.sample) + 0.5 * statistics.median_high(self.sample)


def finite_threshold(document: ScoredDocument) -> float | None:
    """Return the threshold of a document, None where it is infinite: nothing can be flagged then."""
    threshold = document.threshold
    return float(threshold) if threshold is not None and math.isfinite(threshold) else None


def joined(bins: Sequence[ScoreBin]) -> ScoreBin:
    """Return the bin of all documents of some bins, whose samples stand for equally many documents.

    >>> bins = [ScoreBin(n, n, 1, "", "", n / 10, n / 10, None, (n / 10,)) for n in (1, 2, 3)]
    >>> joined(bins).first, joined(bins).most, joined(bins).median
    (1, 0.3, 0.2)
    """
    sample = sorted(chain.from_iterable(each.sample for each in bins))
    while len(sample) > _SAMPLE:
        # Means of neighbours favour neither end; every second score would.
        sample = [0.5 * low + 0.5 * high for low, high in zip(sample[::2], sample[1::2], strict=True)]
    return ScoreBin(
        bins[0].first,
        bins[-1].last,
        sum(each.size for each in bins),
        bins[0].first_time,
        bins[-1].last_time,
        min(each.least for each in bins),
        max(each.most for each in bins),
        next((each.threshold for each in reversed(bins) if each.threshold is not None), None),
        tuple(sample),
    )


class ScoreBins:
    """Bins of equally many documents each; when they are too many, neighbours are joined.

    Parameters
    ----------
    most : int, default 2000
        About how many bins there are at most.

    Examples
    --------
    >>> bins = ScoreBins(most=4)
    >>> bins.add([ScoredDocument(n, "", "", "", n / 10, None, False, None) for n in range(1, 7)])
    >>> [(each.first, each.last, each.most) for each in bins.all()]
    [(1, 2, 0.2), (3, 4, 0.4), (5, 6, 0.6)]
    """

    def __init__(self, most: int = 2000) -> None:
        self.most = most + most % 2
        self._width = 1
        # Full bins, then narrower ones, each at most half as wide as the one before.
        self._bins: list[ScoreBin] = []
        self._waiting: list[ScoreBin] = []

    def add(self, documents: Sequence[ScoredDocument]) -> None:
        """Add the scores of documents that follow those before."""
        waiting = [*self._waiting, *map(ScoreBin.of, documents)]
        start = 0
        while len(waiting) - start >= (size := min(self._width, _SAMPLE)):
            self._push(joined(waiting[start : start + size]))
            start += size
        self._waiting = waiting[start:]

    def all(self) -> list[ScoreBin]:
        """Return the bins in the order of the stream."""
        return [*self._bins, joined(self._waiting)] if self._waiting else list(self._bins)

    def _push(self, new: ScoreBin) -> None:
        bins = self._bins
        bins.append(new)
        # As in a binary counter: only bins of the same width are joined, since only then samples count alike.
        while len(bins) > 1 and bins[-2].size == bins[-1].size < self._width:
            bins[-2:] = [joined(bins[-2:])]
        if len(bins) == self.most and bins[-1].size == self._width:
            self._bins = [joined(bins[place : place + 2]) for place in range(0, len(bins), 2)]
            self._width *= 2

    def to_json(self) -> dict[str, Any]:
        """Return the state as an object for JSON."""
        return {
            "most": self.most,
            "width": self._width,
            "bins": [list(each) for each in self._bins],
            "waiting": [list(each) for each in self._waiting],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """Return what `to_json` turned into an object."""
        made = cls(int(state["most"]))
        made._width = int(state["width"])
        made._bins, made._waiting = (
            [ScoreBin._make([*fields, tuple(sample)]) for *fields, sample in state[name]]
            for name in ("bins", "waiting")
        )
        return made
