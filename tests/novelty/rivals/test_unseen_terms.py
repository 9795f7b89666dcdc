"""The share of unseen terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from orthostream.novelty.rivals import UnseenTerms


def test_terms_are_counted_once_each(as_block: Any) -> None:
    rival = UnseenTerms()
    rival.learn(as_block([[1, 0, 0, 5, 0], [1, 2, 0, 0, 0]]))
    asked = as_block([[3, 1, 0, 1, 0], [9, 0, 1, 0, 0], [0, 0, 7, 0, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])
    np.testing.assert_allclose(rival.score(asked), [0.0, 0.5, 1.0, 0.0, 0.4])


def test_terms_count_that_weigh_nothing(as_block: Any) -> None:
    rival, block = UnseenTerms(), as_block([[1, 1]])
    rival.learn(block._replace(rows=0.0 * block.rows))
    np.testing.assert_array_equal(rival.score(as_block([[1, 1, 1]])), [1 / 3])


def test_nothing_is_forgotten(topical: Any) -> None:
    rival, first = UnseenTerms(), topical(200)
    rival.learn(first)
    for _ in range(5):
        rival.learn(topical(3, terms=90))
    np.testing.assert_array_equal(rival.score(first), np.zeros(200))
