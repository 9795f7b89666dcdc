"""What a page or a picture shows of a stream of any length, in bounded memory."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Self

from orthostream._typing import FloatArray
from orthostream.novelty.report.flagged_documents import FlaggedDocuments
from orthostream.novelty.report.score_bins import ScoreBins, finite_threshold
from orthostream.novelty.report.topic_bins import TopicBins
from orthostream.novelty.scored_document import ScoredDocument

_FORMAT = "orthostream stream report 1"


class StreamReport:
    """Collects scores, flagged documents and topics, block after block.

    Attributes
    ----------
    scores : ScoreBins
        At most about 2,000 stretches of the stream, with their lowest, median and highest score and the threshold.
    topics : TopicBins
        At most 200 stretches, with the energy of each topic.
    flagged : FlaggedDocuments
        At most 2,000, with the highest scores.
    n_documents, n_warming_up : int
        All documents, and those among them that came before there was a threshold.
    rule : str
        How documents are flagged, in a few words; set by the caller, as are the next two.
    problems : dict of str to int
        How often something was wrong with the input, by kind.
    documents_per_second : float or None

    Examples
    --------
    >>> import numpy as np
    >>> report = StreamReport(rule="1 % false alarms")
    >>> report.add([ScoredDocument(1, "a", "Storm in Chile", "", 0.93, 0.9, True, None)], np.array([0.5, 0.1]))
    >>> report.n_documents, report.n_flagged, report.threshold
    (1, 1, 0.9)
    >>> StreamReport.from_json(report.to_json()).to_json() == report.to_json()
    True
    """

    def __init__(self, rule: str = "") -> None:
        self.scores = ScoreBins()
        self.topics = TopicBins()
        self.flagged = FlaggedDocuments()
        self.n_documents = 0
        self.n_warming_up = 0
        self.rule = rule
        self.problems: dict[str, int] = {}
        self.documents_per_second: float | None = None

    @property
    def n_flagged(self) -> int:
        """How many documents were flagged, kept or not."""
        return self.flagged.count

    @property
    def threshold(self) -> float | None:
        """The last threshold."""
        bins = self.scores.all()
        return next((each.threshold for each in reversed(bins) if each.threshold is not None), None)

    @property
    def typical_score(self) -> float:
        """The score in the middle of those of the whole stream, an estimate; 0 before there are any."""
        bins = self.scores.all()
        return statistics.median(each.median for each in bins) if bins else 0.0

    def add(self, documents: Sequence[ScoredDocument], topic_energies: FloatArray) -> None:
        """Add a block of documents that follows those before.

        Parameters
        ----------
        documents : sequence of ScoredDocument
        topic_energies : array of shape (n_topics,)
            For each topic its share of a document's energy, added up over the documents of the block: with unit rows,
            the column sums of the squared coefficients. Empty while there are no topics.
        """
        wrong = next((each for each in documents if not math.isfinite(each.score)), None)
        if wrong is not None:
            raise ValueError(f"document {wrong.number} has the score {wrong.score}: scores must be finite.")
        if not documents:
            return
        self.topics.add(documents, topic_energies)
        self.scores.add(documents)
        self.n_documents += len(documents)
        for document in documents:
            self.n_warming_up += finite_threshold(document) is None
            if document.novel:
                self.flagged.add(document)

    def to_json(self) -> dict[str, Any]:
        """Return the state as an object for JSON, without NaN."""
        return {
            "format": _FORMAT,
            "scores": self.scores.to_json(),
            "topics": self.topics.to_json(),
            "flagged": self.flagged.to_json(),
            "documents": self.n_documents,
            "warming_up": self.n_warming_up,
            "rule": self.rule,
            "problems": {kind: int(count) for kind, count in self.problems.items()},
            "documents_per_second": self.documents_per_second,
        }

    @classmethod
    def from_json(cls, state: Mapping[str, Any]) -> Self:
        """Return the report that `to_json` turned into an object, to go on with it.

        Raises
        ------
        ValueError
            If this is not the state of a report.
        """
        if state.get("format") != _FORMAT:
            raise ValueError(f"not the state of a report: its format is {state.get('format')!r}, not {_FORMAT!r}.")
        try:
            made = cls(state["rule"])
            made.scores = ScoreBins.from_json(state["scores"])
            made.topics = TopicBins.from_json(state["topics"])
            made.flagged = FlaggedDocuments.from_json(state["flagged"])
            made.n_documents, made.n_warming_up = int(state["documents"]), int(state["warming_up"])
            made.problems = dict(state["problems"])
            made.documents_per_second = state["documents_per_second"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the state of the report is damaged: {error!r}.") from error
        return made
