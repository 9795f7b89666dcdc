"""What the tests of the rivals share: blocks of documents with topics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from orthostream.novelty.block import DocumentBlock

#: Makes a block of this many documents over this many terms.
Blocks = Callable[..., DocumentBlock]


def block_of(counts: Any) -> DocumentBlock:
    """Return a block whose rows are the counts scaled to unit length."""
    counts = sparse.csr_array(counts).astype(float)
    return DocumentBlock(counts, sparse.csr_array(normalize(counts)))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240607)


@pytest.fixture
def as_block() -> Callable[[Any], DocumentBlock]:
    """Return a function that turns counts into a block."""
    return block_of


@pytest.fixture
def topical(rng: np.random.Generator) -> Blocks:
    """Return a maker of documents of about 8 terms about one of 6 topics, which share half of their terms."""
    topics = rng.dirichlet(np.full(40, 0.1), size=6)

    def make(documents: int = 60, terms: int = 40) -> DocumentBlock:
        chosen = topics[rng.integers(0, 6, max(documents, 1))]
        counts = np.array([rng.multinomial(12, topic) for topic in chosen])
        block = block_of(np.pad(counts, ((0, 0), (0, terms - 40))))
        return DocumentBlock(block.counts[:documents], block.rows[:documents])

    return make
