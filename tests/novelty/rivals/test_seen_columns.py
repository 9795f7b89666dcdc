"""Columns numbered in the order of their first appearance."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from orthostream.novelty.rivals.seen_columns import SeenColumns


def test_numbers_follow_the_first_appearance_and_stay() -> None:
    seen = SeenColumns()
    for columns, count in (([5, 2], 2), ([2, 9], 3), ([0], 4), ([5], 4)):
        rows = sparse.csr_array((np.ones(len(columns)), ([0] * len(columns), columns)), shape=(1, 10))
        seen.add(rows)
        assert len(seen) == count
    numbers = np.arange(1.0, 11.0)[None, :]
    assert seen.select(sparse.csr_array(numbers)).toarray().tolist() == [[3.0, 6.0, 10.0, 1.0]]
    wider = np.hstack([numbers, numbers])
    assert seen.select(sparse.csr_array(wider)).toarray().tolist() == [[3.0, 6.0, 10.0, 1.0]]
    assert seen.select(sparse.csr_array(numbers[:, :4])).toarray().tolist() == [[3.0, 0.0, 0.0, 1.0]]


def test_stored_zeros_are_no_appearance() -> None:
    seen = SeenColumns()
    seen.add(sparse.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 3)))
    assert len(seen) == 1
