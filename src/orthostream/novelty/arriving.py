"""Documents as callers pass them: texts, mappings, or a matrix of counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from orthostream.novelty.document import ID, TEXT, TIME, TITLE, Document
from orthostream.novelty.term_counts import TermCounts, Tokenizer, count_bags, count_terms, counts_of_rows

#: Words of a document that are read; the rest of a longer one is left out and counted.
LONGEST = 100_000
_FIELDS = {*ID, *TEXT, *TIME, *TITLE}


@dataclass(frozen=True)
class Arriving:
    """A block of documents on its way into the detector."""

    counts: TermCounts
    documents: list[Document] | None
    """None for a matrix, whose rows have no names."""
    n_cut: int = 0
    """How many documents were so long that their end was left out."""

    def __len__(self) -> int:
        return len(self.counts)

    def part(self, start: int, stop: int) -> Arriving:
        """Return some of the documents."""
        documents = None if self.documents is None else self.documents[start:stop]
        return Arriving(self.counts.part(start, stop), documents)


def arriving(documents: Any, tokenizer: Tokenizer) -> Arriving:
    """Return the counts of documents in any of the forms that the detector takes.

    Texts, mappings with a text, `Document`, mappings from words to counts, or a matrix.

    >>> found = arriving(["cocoa prices", {"title": "Tin", "text": "prices fall"}], str.split)
    >>> found.counts.terms, found.documents[1].title
    (['cocoa', 'prices', 'Tin', 'fall'], 'Tin')
    """
    is_sparse = sparse.issparse(documents)
    if isinstance(documents, str | bytes | Document) or (isinstance(documents, Mapping) and not is_sparse):
        raise TypeError(
            f"documents must be a list of documents, got a single {type(documents).__name__}: wrap it in a list."
        )
    if is_sparse or (isinstance(documents, np.ndarray) and documents.dtype.kind in "biufc"):
        matrix: Any = documents
        if matrix.ndim != 2:
            raise ValueError(f"a matrix of counts must have two dimensions, got {matrix.ndim}.")
        return Arriving(counts_of_rows(matrix), None)
    if hasattr(documents, "iloc") and hasattr(documents, "columns"):
        raise TypeError("documents must not be a data frame: pass one column of texts, or frame.to_dict('records').")
    if not isinstance(documents, Iterable):
        raise TypeError(f"documents must be texts or a matrix of counts, got {type(documents).__name__}.")
    listed = list(documents)
    if any(map(_is_bag, listed)):
        return Arriving(count_bags(listed), [Document("")] * len(listed))
    given = [as_document(document, place) for place, document in enumerate(listed)]
    cut: list[int] = []
    counts = count_terms([document.text for document in given], tokenizer, LONGEST, cut.append)
    return Arriving(counts, given, len(cut))


def _is_bag(document: Any) -> bool:
    """Whether a document maps words to counts; a field such as "title" alone is no word."""
    return (
        isinstance(document, Mapping)
        and not set(document) <= _FIELDS
        and all(
            isinstance(count, int | float | np.number) and not isinstance(count, bool) for count in document.values()
        )
    )


def as_document(document: Any, place: int = 0) -> Document:
    r"""Return a text, or a mapping with a text and perhaps title, id and time, as a `Document`.

    >>> as_document({"title": "Tin", "body": "Prices fall."}).text
    'Tin\nPrices fall.'
    """
    if isinstance(document, Document):
        return document
    if isinstance(document, str):
        return Document.of(document)
    if isinstance(document, Mapping):
        title, body = _text(document, TITLE), _text(document, TEXT)
        if not title and body is None:
            raise ValueError(f"document {place} has neither 'text' nor 'title', but {sorted(map(str, document))}.")
        identity, time = _text(document, ID), _text(document, TIME)
        return Document.of(body or "", title or "", identity or "", time or "")
    hint = ": a missing value?" if document is None or document != document else ""
    raise TypeError(f"document {place} must be a text or a mapping, got {type(document).__name__}{hint}.")


def _text(document: Mapping[Any, Any], names: tuple[str, ...]) -> str | None:
    """Return the first of some fields that is there, as text."""
    # NaN is how tables mark what is missing.
    found = next((value for name in names if (value := document.get(name)) is not None and value == value), None)
    return None if found is None else str(found)
