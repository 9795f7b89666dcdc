"""How much of a stream of any length each topic makes up over time, in a bounded number of bins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from orthostream._typing import FloatArray
from orthostream.novelty.report.score_bins import LONGEST_TIME
from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.scored_document import ScoredDocument


class TopicBin(NamedTuple):
    """The energies of all topics in some consecutive documents.

    Attributes
    ----------
    first, last, size : int
        Numbers of the first and the last document, and how many there are.
    first_time, last_time : str
        As the input has them.
    energies : array of shape (n_topics,)
        The sum of the documents' shares.
    """

    first: int
    last: int
    size: int
    first_time: str
    last_time: str
    energies: FloatArray

    def joined(self, other: TopicBin) -> TopicBin:
        """Return the bin of the documents of both, of which the other's are the later ones."""
        return self._replace(
            last=other.last,
            size=self.size + other.size,
            last_time=other.last_time,
            energies=self.energies + other.energies,
        )


class TopicBins:
    """Bins of whole blocks; when they are too many, neighbours are joined.

    Parameters
    ----------
    most : int, default 200
        How many bins there are at most.

    Examples
    --------
    >>> bins = TopicBins(most=2)
    >>> for n in range(1, 5):
    ...     bins.add([ScoredDocument(n, "", "", "", 0.5, None, False, None)], np.array([1.0, 0.0]))
    >>> [(each.first, each.last, each.energies.tolist()) for each in bins.all()]
    [(1, 2, [2.0, 0.0]), (3, 4, [2.0, 0.0])]
    """

    def __init__(self, most: int = 200) -> None:
        self.most = most
        self._width = 1
        self._bins: list[TopicBin] = []

    @property
    def n_topics(self) -> int:
        """How many topics there are; 0 before they are known."""
        return len(self._bins[-1].energies) if self._bins else 0

    def add(self, documents: Sequence[ScoredDocument], energies: FloatArray) -> None:
        """Add a block of documents that follows those before."""
        checked = self._checked(energies)
        first, last = documents[0], documents[-1]
        first_time, last_time = (shown_text(each.time, LONGEST_TIME) for each in (first, last))
        self._bins.append(TopicBin(first.number, last.number, len(documents), first_time, last_time, checked))
        self._join_narrow()
        while len(self._bins) > self.most:
            self._width = max(2 * self._width, min(a.size + b.size for a, b in pairwise(self._bins)))
            self._join_narrow(0)

    def all(self) -> list[TopicBin]:
        """Return the bins in the order of the stream."""
        return list(self._bins)

    def _checked(self, energies: FloatArray) -> FloatArray:
        """Return energies as an array of its own; bins of before the topics were known get zeros."""
        made = np.array(energies, dtype=float)
        if made.ndim != 1 or not (np.isfinite(made).all() and (made >= 0.0).all()):
            raise ValueError(
                f"topic_energies must be one number for each topic, none of them negative or NaN, got {energies!r}."
            )
        known = self.n_topics
        if not known:
            self._bins = [each._replace(energies=np.zeros(len(made))) for each in self._bins]
        elif not len(made):
            made = np.zeros(known)
        elif len(made) != known:
            raise ValueError(f"topic_energies has {len(made)} topics, but there were {known} before: give all of them.")
        return made

    def _join_narrow(self, start: int = -2) -> None:
        """Join neighbours, from one of the bins on, that together are not wider than a bin may be."""
        kept = self._bins[:start]
        for each in self._bins[start:]:
            if kept and kept[-1].size + each.size <= self._width:
                kept[-1] = kept[-1].joined(each)
            else:
                kept.append(each)
        self._bins = kept

    def to_json(self) -> dict[str, Any]:
        """Return the state as an object for JSON."""
        return {
            "most": self.most,
            "width": self._width,
            "bins": [[*each[:-1], each.energies.tolist()] for each in self._bins],
        }

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """Return what `to_json` turned into an object."""
        made = cls(int(state["most"]))
        made._width = int(state["width"])
        made._bins = [TopicBin._make([*fields, np.array(energies, dtype=float)]) for *fields, energies in state["bins"]]
        return made
