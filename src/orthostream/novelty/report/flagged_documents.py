"""The flagged documents of a stream of any length, the highest scores if they are too many."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from typing import Any, Self

from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.report.score_bins import LONGEST_TIME, finite_threshold
from orthostream.novelty.report.shown_text import shown_text
from orthostream.novelty.scored_document import ScoredDocument

_LONGEST_TITLE, _LONGEST_EARLIER, _LONGEST_ID, _LONGEST_WORD = 200, 120, 80, 40
#: What a page shows of an explanation.
_TERMS, _TOPICS, _WORDS, _NEAREST, _UNSEEN = 6, 3, 6, 3, 8


class FlaggedDocuments:
    """Flagged documents with texts that are fit to be shown.

    Parameters
    ----------
    most : int, default 2000
        How many are kept. Of equal scores the earlier ones are.

    Examples
    --------
    >>> flagged = FlaggedDocuments(most=2)
    >>> for number, score in enumerate([0.7, 0.9, 0.8], start=1):
    ...     flagged.add(ScoredDocument(number, "", "", "", score, 0.6, True, None))
    >>> flagged.count, [document.number for document in flagged.all()]
    (3, [2, 3])
    """

    def __init__(self, most: int = 2000) -> None:
        self.most = most
        self.count = 0
        self._heap: list[tuple[float, int, ScoredDocument]] = []

    def add(self, document: ScoredDocument) -> None:
        """Add a document that follows those before."""
        self.count += 1
        if len(self._heap) < self.most:
            heapq.heappush(self._heap, (document.score, -self.count, shown(document)))
        elif document.score > self._heap[0][0]:
            heapq.heapreplace(self._heap, (document.score, -self.count, shown(document)))

    def all(self) -> list[ScoredDocument]:
        """Return the documents that are kept, in the order of the stream."""
        return [document for _, _, document in sorted(self._heap, key=lambda entry: -entry[1])]

    def to_json(self) -> dict[str, Any]:
        """Return the state as an object for JSON."""
        entries = sorted(self._heap, key=lambda entry: -entry[1])
        documents = [[-place, document.to_json()] for _, place, document in entries]
        return {"most": self.most, "count": self.count, "documents": documents}

    @classmethod
    def from_json(cls, state: dict[str, Any]) -> Self:
        """Return what `to_json` turned into an object."""
        made = cls(int(state["most"]))
        made.count = int(state["count"])
        for place, fields in state["documents"]:
            document = _document(fields)
            made._heap.append((document.score, -int(place), document))
        heapq.heapify(made._heap)
        return made


def shown(document: ScoredDocument) -> ScoredDocument:
    """Return a document with what a page shows of it, whatever the size of its texts."""
    return document._replace(
        id=shown_text(document.id, _LONGEST_ID),
        title=shown_text(document.title, _LONGEST_TITLE),
        time=shown_text(document.time, LONGEST_TIME),
        score=float(document.score),
        threshold=finite_threshold(document),
        explanation=None if document.explanation is None else _shown_explanation(document.explanation),
    )


def _shown_explanation(explanation: Explanation) -> Explanation:
    terms, topics, nearest, unseen = explanation
    return Explanation(
        tuple(TermShare(shown_text(each.term, _LONGEST_WORD), _short(each.share)) for each in terms[:_TERMS]),
        tuple(TopicShare(each.topic, shown_words(each.words), _short(each.share)) for each in topics[:_TOPICS]),
        tuple(
            EarlierDocument(
                shown_text(each.id, _LONGEST_ID), shown_text(each.title, _LONGEST_EARLIER), _short(each.similarity)
            )
            for each in nearest[:_NEAREST]
        ),
        tuple(shown_text(term, _LONGEST_WORD) for term in unseen[:_UNSEEN]),
    )


def shown_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the first words of a topic, each of a bounded length."""
    return tuple(shown_text(word, _LONGEST_WORD) for word in words[:_WORDS])


def _short(share: float) -> float:
    return round(share, 4) if math.isfinite(share) else 0.0


def _document(fields: dict[str, Any]) -> ScoredDocument:
    """Return the document that `ScoredDocument.to_json` turned into an object."""
    found = fields.get("explanation")
    explanation = found and Explanation(
        tuple(TermShare(each["term"], each["share"]) for each in found["terms"]),
        tuple(TopicShare(each["topic"], tuple(each["words"]), each["share"]) for each in found["topics"]),
        tuple(EarlierDocument(each["id"], each["title"], each["similarity"]) for each in found["nearest"]),
        tuple(found["unseen"]),
    )
    return ScoredDocument(
        fields["number"],
        fields.get("id", ""),
        fields.get("title", ""),
        fields.get("time", ""),
        fields["score"],
        fields.get("threshold"),
        fields["novel"],
        explanation,
    )
