"""Why a document is novel: the terms that no topic covers, the topics closest to it, and earlier documents like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class TermShare(NamedTuple):
    """A term of the document, and its part of the score; the parts of all terms add up to the score."""

    term: str
    share: float


class TopicShare(NamedTuple):
    """An atom of the dictionary in words, and its share of the document's energy."""

    topic: int
    words: tuple[str, ...]
    share: float


class EarlierDocument(NamedTuple):
    """A recent document, and the cosine between it and the explained one."""

    id: str
    title: str
    similarity: float


class Explanation(NamedTuple):
    """What is new in a document, and what it is close to, each list with the largest first.

    Attributes
    ----------
    terms : tuple of TermShare
        The terms that no sparse code represents.
    topics : tuple of TopicShare
    nearest : tuple of EarlierDocument
    unseen : tuple of str
        Terms that no learnt document has, the first ones of the document; documents are learnt in mini-batches. Such
        terms have little weight each.

    Examples
    --------
    >>> found = Explanation((TermShare("quake", 0.6),), (), (EarlierDocument("7", "Storm in Chile", 0.2),))
    >>> found.to_json()["terms"]
    [{'term': 'quake', 'share': 0.6}]
    """

    terms: tuple[TermShare, ...]
    topics: tuple[TopicShare, ...]
    nearest: tuple[EarlierDocument, ...]
    unseen: tuple[str, ...] = ()

    def to_json(self) -> dict[str, list[Any]]:
        """Return lists of objects with short numbers, and of words, for a line of JSON."""
        lists: dict[str, Sequence[Any]] = {"terms": self.terms, "topics": self.topics, "nearest": self.nearest}
        found: dict[str, list[Any]] = {
            name: [{key: _short(value) for key, value in item._asdict().items()} for item in items]
            for name, items in lists.items()
        }
        return found | {"unseen": list(self.unseen)}


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 4)
    return list(value) if isinstance(value, tuple) else value
