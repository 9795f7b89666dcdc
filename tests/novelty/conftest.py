"""Streams of made-up news for tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

N_TOPICS, N_TERMS = 12, 400


@pytest.fixture(scope="session")
def news() -> Callable[..., tuple[list[str], np.ndarray]]:
    """A function that makes documents of topics with words of their own; the last topic begins in the middle."""

    def make(n_documents: int, seed: int = 0, n_words: int = 30) -> tuple[list[str], np.ndarray]:
        rng = np.random.default_rng(seed)
        topics = rng.integers(0, N_TOPICS - 1, n_documents)
        late = np.arange(n_documents) > n_documents // 2
        topics[late & (rng.random(n_documents) < 0.1)] = N_TOPICS - 1
        texts = []
        for topic in topics:
            own = [f"topic{topic}word{number}" for number in rng.integers(0, 30, n_words // 2)]
            common = [f"common{number}" for number in rng.zipf(1.6, n_words // 2) % 200]
            texts.append(" ".join(own + common))
        return texts, topics

    return make


@pytest.fixture(scope="session")
def counts() -> sparse.csr_array:
    """2,000 documents of 20 topics over 3,000 terms."""
    rng = np.random.default_rng(5)
    topics = rng.integers(0, 20, 2000)
    rows, columns = [], []
    for document, topic in enumerate(topics):
        own = 100 * topic + rng.integers(0, 100, 15)
        common = 2000 + rng.zipf(1.5, 15) % 1000
        rows += [document] * 30
        columns += [*own.tolist(), *common.tolist()]
    found = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(2000, 3000))
    found.sum_duplicates()
    return found
