"""Counts of terms, from texts, bags and matrices."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from orthostream.novelty.term_counts import TermCounts, count_bags, count_terms, counts_of_rows

_TEXTS = st.lists(st.text("ab cd", max_size=12), max_size=8)


def as_counters(counts: TermCounts) -> list[Counter[object]]:
    dense = counts.entries.toarray()
    return [Counter({counts.terms[place]: int(row[place]) for place in np.flatnonzero(row)}) for row in dense]


@given(_TEXTS)
def test_counts_are_those_of_a_counter(texts: list[str]) -> None:
    assert as_counters(count_terms(texts, str.split)) == [Counter(text.split()) for text in texts]


@given(_TEXTS, st.integers(0, 8), st.integers(0, 8))
def test_parts_and_stacks(texts: list[str], start: int, stop: int) -> None:
    counts = count_terms(texts, str.split)
    expected = [Counter(text.split()) for text in texts]
    part = counts.part(start, stop)
    assert as_counters(part) == expected[start:stop]
    assert set(part.terms) == set().union(*as_counters(part))
    blocks = [count_terms([text], str.split) for text in texts]
    if blocks:
        assert as_counters(TermCounts.stacked(blocks)) == expected


@given(_TEXTS)
def test_bags_count_like_texts(texts: list[str]) -> None:
    bags = [dict(Counter(text.split())) for text in texts]
    assert as_counters(count_bags(bags)) == as_counters(count_terms(texts, str.split))


def test_only_the_first_words_of_a_long_text() -> None:
    assert count_terms(["a b c d"], str.split, most=2).terms == ["a", "b"]


def test_a_tokenizer_must_return_words() -> None:
    with pytest.raises(TypeError, match=r"must return words \(str\), got 1 of type int"):
        count_terms(["a"], lambda text: [1])  # type: ignore[list-item, return-value]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.asarray])
def test_matrices_of_all_kinds(kind: object) -> None:
    matrix = kind(np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0]]))  # type: ignore[operator]
    assert as_counters(counts_of_rows(matrix)) == [Counter({1: 2, 3: 1}), Counter(), Counter({0: 3})]


def test_a_matrix_is_not_changed() -> None:
    matrix = sparse.csr_array((np.array([1.0, 2.0, 0.0]), np.array([3, 3, 1]), np.array([0, 3])), shape=(1, 5))
    before = [matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy()]
    assert as_counters(counts_of_rows(matrix)) == [Counter({3: 3})]
    for array, copy in zip([matrix.data, matrix.indices, matrix.indptr], before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (np.nan, ValueError, "counts must be finite, got nan"),
        (np.inf, ValueError, "counts must be finite, got inf"),
        (-1.0, ValueError, "counts must not be negative, got -1"),
        (0.5, ValueError, "counts must be 0 or at least 1, got 0.5"),
        (1j, TypeError, "counts must be numbers, got a matrix of type complex128"),
    ],
)
def test_bad_counts(value: complex, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        counts_of_rows(sparse.csr_array([[1.0, value]]))
