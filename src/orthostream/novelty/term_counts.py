"""How often each term occurs in each document of a block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from orthostream._typing import IntArray
from orthostream.novelty.block import SparseMatrix

#: Columns up to which a block may have scratch memory as wide as the matrix.
_WIDEST = 1 << 20

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]


@dataclass(frozen=True)
class TermCounts:
    """Counts over the terms that a block of documents has.

    Terms stand in the order in which they first occur, in the block and in each document, so that sums do not depend on
    how a stream is cut into blocks.

    Attributes
    ----------
    terms : list of str, or int array
        The distinct terms, words or numbers of columns.
    entries : CSR array (n_documents, n_terms)
        Positive counts.
    """

    terms: Any
    entries: SparseMatrix

    def __len__(self) -> int:
        return int(self.entries.shape[0])

    def part(self, start: int, stop: int) -> TermCounts:
        """Return some documents over their own terms."""
        if start <= 0 and stop >= len(self):
            return self
        return _over_own_terms(self.terms, self.entries[start:stop])

    def kept(self, chosen: IntArray) -> TermCounts:
        """Return the documents with these numbers over their own terms."""
        return self if len(chosen) == len(self) else _over_own_terms(self.terms, self.entries[chosen])

    @classmethod
    def stacked(cls, blocks: Sequence[TermCounts]) -> TermCounts:
        """Return the documents of several blocks, in order.

        >>> blocks = [count_terms([text], str.split) for text in ("a b", "b c")]
        >>> TermCounts.stacked(blocks).terms, TermCounts.stacked(blocks).entries.toarray().tolist()
        (['a', 'b', 'c'], [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
        """
        if len(blocks) == 1:
            return blocks[0]
        if isinstance(blocks[0].terms, np.ndarray):
            columns = [block.terms[block.entries.indices] for block in blocks]
            width = 1 + max((int(own.max()) for own in columns if len(own)), default=0)
            return _over_own_terms(None, cls._joined(blocks, columns, width))
        places: dict[Any, int] = {}
        columns = []
        for block in blocks:
            own = np.array([places.setdefault(term, len(places)) for term in block.terms], dtype=np.int32)
            columns.append(own[block.entries.indices])
        return cls(list(places), cls._joined(blocks, columns, len(places)))

    @staticmethod
    def _joined(blocks: Sequence[TermCounts], columns: Sequence[Any], width: int) -> SparseMatrix:
        lengths = np.concatenate([np.diff(block.entries.indptr) for block in blocks])
        values = np.concatenate([block.entries.data for block in blocks])
        return _matrix(values, np.concatenate(columns), lengths, width)


def count_terms(
    texts: Sequence[str],
    tokenizer: Tokenizer,
    most: int | None = None,
    report_cut: Callable[[int], None] | None = None,
) -> TermCounts:
    """Return the counts of the words of some texts, of each only the first ``most`` words.

    ``report_cut`` is called with the places of the texts that have more.

    >>> found = count_terms(["a b a", "", "c b"], str.split)
    >>> found.terms, found.entries.toarray().tolist()
    (['a', 'b', 'c'], [[2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    """
    places: dict[Any, int] = {}
    numbers: list[int] = []
    lengths = np.zeros(len(texts), dtype=np.int64)
    for document, text in enumerate(texts):
        words = tokenizer(text)
        found = words if isinstance(words, list) else list(words)
        if most is not None and len(found) > most:
            found = found[:most]
            if report_cut is not None:
                report_cut(document)
        numbers += [places.setdefault(word, len(places)) for word in found]
        lengths[document] = len(found)
    wrong = next((term for term in places if not isinstance(term, str)), None)
    if wrong is not None:
        raise TypeError(f"the tokenizer must return words (str), got {wrong!r} of type {type(wrong).__name__}.")
    # Numbers that encode document and term: equal ones are counted.
    width = max(len(places), 1)
    keys = np.repeat(np.arange(len(texts)), lengths) * width + np.array(numbers, dtype=np.int64)
    keys, first, counts = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(first)
    keys, counts = keys[order], counts[order]
    own = np.bincount(keys // width, minlength=len(texts))
    return TermCounts(list(places), _matrix(counts.astype(float), (keys % width).astype(np.int32), own, len(places)))


def count_bags(bags: Sequence[Any]) -> TermCounts:
    """Return the counts in mappings from words to counts.

    >>> found = count_bags([{"a": 2, "b": 1}, {"b": 3}])
    >>> found.terms, found.entries.toarray().tolist()
    (['a', 'b'], [[2.0, 1.0], [0.0, 3.0]])
    """
    wrong = next((bag for bag in bags if not isinstance(bag, Mapping)), None)
    if wrong is not None:
        raise TypeError(f"some documents map words to counts, but one is a {type(wrong).__name__}.")
    places: dict[Any, int] = {}
    columns, values, lengths = [], [], []
    for bag in bags:
        counted: dict[str, float] = {}
        for word, count in bag.items():
            counted[str(word)] = counted.get(str(word), 0.0) + _count(count)
        kept = {word: count for word, count in counted.items() if count}
        columns += [places.setdefault(word, len(places)) for word in kept]
        values += list(kept.values())
        lengths.append(len(kept))
    matrix = _matrix(
        np.array(values), np.array(columns, dtype=np.int32), np.array(lengths, dtype=np.int64), len(places)
    )
    return TermCounts(list(places), matrix)


def counts_of_rows(rows: Any) -> TermCounts:
    """Return the counts in a matrix, whose columns are the terms; entries of zero are left out.

    >>> found = counts_of_rows(sparse.csr_array([[0.0, 2.0, 0.0], [0.0, 1.0, 3.0]]))
    >>> found.terms.tolist(), found.entries.toarray().tolist()
    ([1, 2], [[2.0, 0.0], [1.0, 3.0]])
    """
    matrix = sparse.csr_array(rows)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    values = np.asarray(matrix.data)
    _check_counts(values)
    if len(values) and not values.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    entries = sparse.csr_array((matrix.data.astype(float), matrix.indices, matrix.indptr), shape=matrix.shape)
    return _over_own_terms(None, entries)


def _check_counts(values: Any) -> None:
    if values.dtype.kind not in "biuf":
        raise TypeError(f"counts must be numbers, got a matrix of type {values.dtype}.")
    if not np.isfinite(values).all():
        raise ValueError(f"counts must be finite, got {values[~np.isfinite(values)][0]} among them.")
    if len(values) and values.min() < 0:
        hint = " (HashingVectorizer needs alternate_sign=False)"
        raise ValueError(f"counts must not be negative, got {values.min():g} among them{hint}.")
    fractions = (values > 0) & (values < 1)
    if fractions.any():
        raise ValueError(
            f"counts must be 0 or at least 1, got {values[fractions][0]:g} among them: give counts, not weights."
        )


def _count(value: Any) -> float:
    _check_counts(np.array([value]))
    return float(value)


def _over_own_terms(terms: Any, entries: SparseMatrix) -> TermCounts:
    """Return rows over the columns that they have entries in, in the order in which these first occur."""
    columns: Any = entries.indices
    first: Any
    if entries.shape[1] <= _WIDEST:
        # If an index is repeated, NumPy keeps the last value: the place of the first occurrence.
        places: Any = np.empty(entries.shape[1], dtype=np.int32)
        places[columns[::-1]] = np.arange(len(columns), dtype=np.int32)[::-1]
        first = places[columns]
    else:
        _, firsts, numbers = np.unique(columns, return_index=True, return_inverse=True)
        first = firsts[numbers]
    is_first = first == np.arange(len(columns))
    touched = columns[is_first]
    own = (np.cumsum(is_first, dtype=np.int32) - 1)[first]
    if terms is None:
        kept: Any = touched.astype(np.int64)
    elif isinstance(terms, np.ndarray):
        kept = terms[touched]
    else:
        kept = [terms[column] for column in touched.tolist()]
    return TermCounts(kept, _matrix(entries.data, own, np.diff(entries.indptr), len(touched)))


def _matrix(values: Any, columns: Any, lengths: Any, width: int) -> SparseMatrix:
    starts = np.append(0, np.cumsum(lengths))
    if starts[-1] < 2**31:
        starts = starts.astype(np.int32)
    return sparse.csr_array((values, columns, starts), shape=(len(lengths), width))
