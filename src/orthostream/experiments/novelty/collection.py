"""A labelled collection of documents, as a stream in the order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from orthostream._typing import IntArray
from orthostream.novelty.block import SparseMatrix
from orthostream.novelty.term_counts import count_terms, counts_of_rows
from orthostream.novelty.word_tokenizer import WordTokenizer


class Collection(NamedTuple):
    """Documents with one topic each, oldest first.

    Attributes
    ----------
    counts : CSR array (n_documents, n_terms)
        How often each term occurs in each document.
    topics : array of str (n_documents,)

    Examples
    --------
    >>> found = Collection.of(["new cocoa", "old cocoa", "tin"], ["cocoa", "cocoa", "tin"], dates=[2, 1, 3])
    >>> found.counts.toarray().astype(int).tolist(), found.topics.tolist()
    ([[0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 1]], ['cocoa', 'cocoa', 'tin'])
    """

    counts: SparseMatrix
    topics: Any

    def __len__(self) -> int:
        return len(self.topics)

    @classmethod
    def of(cls, documents: Any, topics: Sequence[Any], dates: Sequence[Any] | None = None) -> Self:
        """Check and sort what the caller has: texts or a matrix of counts, labels, and dates or None.

        Documents of the same date stay in the order in which they are given.
        """
        counts = _counts(documents)
        names = _names(topics)
        _same_length("topics", len(names), counts.shape[0])
        if len(np.unique(names)) < 2:
            raise ValueError(f"topics must name at least two different topics, got {np.unique(names).tolist()}.")
        if dates is None:
            return cls(counts, names)
        order = _by_date(dates)
        _same_length("dates", len(order), counts.shape[0])
        return cls(counts[order], names[order])


def _counts(documents: Any) -> SparseMatrix:
    if isinstance(documents, str):
        raise TypeError("documents must be a list of texts or a matrix of counts, got a single text.")
    if sparse.issparse(documents) or (isinstance(documents, np.ndarray) and documents.dtype.kind in "biufc"):
        return _same_columns(documents)
    texts = list(documents)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"documents must be texts or a matrix of counts, got {type(text).__name__} at {place}.")
    return count_terms(texts, WordTokenizer()).entries


def _same_columns(matrix: Any) -> SparseMatrix:
    """Return the counts in a matrix, checked."""
    if matrix.ndim != 2:
        raise ValueError(f"a matrix of counts must have two dimensions, got {matrix.ndim}.")
    found = counts_of_rows(matrix)
    columns = np.asarray(found.terms, dtype=np.int32)[found.entries.indices]
    return sparse.csr_array((found.entries.data, columns, found.entries.indptr), shape=matrix.shape)


def _names(topics: Sequence[Any]) -> Any:
    labels = list(topics)
    for place, label in enumerate(labels):
        if _is_missing(label):
            raise ValueError(f"every document needs a topic, got {label!r} at {place}: leave out the others.")
    return np.array([str(label) for label in labels], dtype=str)


def _by_date(dates: Sequence[Any]) -> IntArray:
    stamps = list(dates)
    for place, stamp in enumerate(stamps):
        if _is_missing(stamp):
            raise ValueError(f"every document needs a date, got {stamp!r} at {place}: leave out the others.")
    try:
        order = sorted(range(len(stamps)), key=stamps.__getitem__)
    except TypeError as error:
        raise ValueError(f"dates must be of one kind that can be sorted: {error}.") from error
    return np.array(order, dtype=np.int64)


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or not a time; the last two do not equal themselves."""
    return value is None or bool(value != value)


def _same_length(name: str, found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"{name} must have one entry for each document: got {found} for {expected} documents.")
