"""The coherence of topics, against its definition in words."""

from __future__ import annotations

from itertools import combinations
from math import log
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from orthostream.metrics import topic_coherence


def literal(topic: Any, rows: np.ndarray) -> float:
    """Return the mean NPMI, counting documents one by one."""
    documents = [{column for column, count in enumerate(row) if count > 0} for row in rows.tolist()]
    total, values = len(documents), []
    for i, j in combinations(topic, 2):
        one = sum(i in document for document in documents) / total
        other = sum(j in document for document in documents) / total
        both = sum(i in document and j in document for document in documents) / total
        if both == 0.0:
            values.append(-1.0)
        elif both == 1.0:
            values.append(1.0)
        else:
            values.append(log(both / (one * other)) / -log(both))
    return sum(values) / len(values)


@pytest.mark.parametrize("density", [0.05, 0.3, 0.95, 1.0])
def test_is_the_mean_over_pairs(density: float) -> None:
    rng = np.random.default_rng(0)
    rows = rng.poisson(1.0, (40, 12)) * (rng.random((40, 12)) < density) + (density == 1.0)
    topics = [rng.permutation(12)[:count] for count in (2, 3, 5, 12)]
    found = topic_coherence(topics, sparse.csr_array(rows))
    np.testing.assert_allclose(found, [literal(topic, rows) for topic in topics], rtol=1e-12, atol=1e-15)
    assert (np.abs(found) <= 1.0).all()


ROWS = sparse.csr_array([[1, 2, 0, 1, 0], [3, 1, 0, 0, 0], [0, 0, 1, 1, 0], [0, 0, 4, 0, 0]])


@pytest.mark.parametrize(
    ("topic", "coherence"),
    [((0, 1), 1.0), ((1, 0), 1.0), ((0, 2), -1.0), ((0, 3), 0.0), ((0, 1, 2), -1 / 3), ((0, 4), -1.0)],
)
def test_known_values(topic: tuple[int, ...], coherence: float) -> None:
    assert topic_coherence([topic], ROWS)[0] == pytest.approx(coherence, abs=1e-15)


def test_words_of_all_documents_are_coherent() -> None:
    assert topic_coherence([[0, 1]], np.ones((3, 2))).tolist() == [1.0]


def test_no_topics_have_no_coherence() -> None:
    assert topic_coherence([], ROWS).shape == (0,)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, np.asarray])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.bool_])
def test_counts_may_come_in_any_form(form: Any, dtype: Any) -> None:
    given = form(ROWS.toarray().astype(dtype))
    np.testing.assert_array_equal(
        topic_coherence([[0, 1, 3], [2, 3]], given), topic_coherence([[0, 1, 3], [2, 3]], ROWS)
    )


def test_duplicate_entries_count_once_and_the_input_is_left_alone() -> None:
    data, indices, starts = np.array([1.0, 1.0, 1.0, 1.0]), np.array([1, 0, 1, 0]), np.array([0, 3, 4])
    for array in (data, indices, starts):
        array.setflags(write=False)
    found = topic_coherence([[0, 1]], sparse.csc_array((data, indices, starts), shape=(2, 2)))
    np.testing.assert_allclose(found, [literal([0, 1], np.array([[1, 1], [2, 0]]))])


def test_zeros_that_are_stored_are_no_words() -> None:
    stored = sparse.csr_array(
        (np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])), shape=(2, 2)
    )
    np.testing.assert_array_equal(
        topic_coherence([[0, 1]], stored), topic_coherence([[0, 1]], np.array([[1, 0], [1, 1]]))
    )


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ([0], "at least two columns"),
        ([], "at least two columns"),
        ([[0, 1]], "at least two columns"),
        ([0.0, 1.0], "at least two columns"),
        (["a", "b"], "at least two columns"),
        ([0, 5], "columns from 0 to 4"),
        ([-1, 2], "columns from 0 to 4"),
        ([2, 2], "each column once"),
    ],
)
def test_bad_topics_are_refused(topic: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"a topic must .*{message}.*, got "):
        topic_coherence([[0, 1], topic], ROWS)


def test_documents_are_needed() -> None:
    with pytest.raises(ValueError, match="at least one document"):
        topic_coherence([[0, 1]], sparse.csr_array((0, 5)))
