"""Streams that were made to harm: each document is scored, memory stays bounded, the rest of the stream goes on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from orthostream.novelty import FixedThreshold, NovelDocumentDetector, TfIdf

News = Callable[..., tuple[list[str], np.ndarray]]


def small(**parameters: object) -> NovelDocumentDetector:
    return NovelDocumentDetector(**({"n_components": 16, "warm_up": 100, "random_state": 0} | parameters))  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=60), st.text("ab ", max_size=20)), max_size=40), st.integers(1, 7))
def test_any_texts(texts: list[str], batch_size: int) -> None:
    detector = small(n_components=4, batch_size=batch_size, warm_up=5, max_terms=20)
    documents = [
        document for start in range(0, len(texts), 5) for document in detector.process(texts[start : start + 5])
    ]
    assert len(documents) == len(texts)
    assert all(0.0 <= document.score <= 1.0 for document in documents)


def test_a_million_distinct_words_in_a_document(news: News) -> None:
    texts, _ = news(1200)
    detector = small(max_terms=2000)
    detector.partial_fit(texts[:1000])
    before = detector.score(texts[1000:])
    scores = detector.score_then_learn([" ".join(f"w{number}" for number in range(1_000_000)), *texts[1000:1199]])
    assert np.isfinite(scores).all()
    assert detector.oddities_["cut"] == 1
    assert len(detector._model.vocabulary) <= 2000
    # What was known is still known.
    assert np.abs(detector.score(texts[1000:]) - before).mean() < 0.05


def test_a_flood_of_words_that_never_come_again(news: News) -> None:
    texts, topics = news(2000)
    detector, calm = small(max_terms=1500), small(max_terms=1500)
    detector.partial_fit(texts[:1000])
    calm.partial_fit(texts[:1000])
    for block in range(20):
        flood = [" ".join(f"x{block}y{document}z{word}" for word in range(400)) for document in range(30)]
        detector.partial_fit(flood + texts[1000 + 40 * block : 1040 + 40 * block])
        calm.partial_fit(texts[1000 + 40 * block : 1040 + 40 * block])
    assert len(detector._model.vocabulary) <= 1500
    late = texts[1800:]
    known = topics[1800:] != 11
    assert detector.score(late)[known].mean() < calm.score(late)[known].mean() + 0.1
    assert np.isfinite(detector._model.dictionary.matrix.gram).all()


@pytest.mark.parametrize("contrast", ["top", "l3"])
def test_topics_that_share_no_word_with_what_is_known_are_learnt(contrast: str) -> None:
    rng = np.random.default_rng(0)

    def texts(prefix: str, count: int) -> list[str]:
        topics = rng.integers(0, 5, count)
        return [" ".join(f"{prefix}{topic}w{word}" for word in rng.integers(0, 15, 12)) for topic in topics]

    detector = small(contrast=contrast, half_life=1000.0)
    detector.partial_fit(texts("old", 1500))
    assert detector.score(texts("new", 100)).min() == 1.0
    detector.partial_fit(texts("new", 4000))
    assert detector.score(texts("new", 100)).mean() < 0.6


def test_counts_that_overflow_are_refused_and_change_nothing(counts: sparse.csr_array) -> None:
    detector, other = small(weights=TfIdf()), small(weights=TfIdf())
    huge = counts[:20].copy()
    huge.data[3] = 1.7e308
    for start in range(0, 1000, 20):
        detector.partial_fit(counts[start : start + 20])
        other.partial_fit(counts[start : start + 20])
        if start % 200 == 60:
            with np.errstate(over="ignore"), pytest.raises(ValueError, match=r"weights of document \d+ are not finite"):
                detector.partial_fit(huge)
    np.testing.assert_array_equal(detector.score(counts[1000:]), other.score(counts[1000:]))


def test_flagged_blocks_leave_nothing_behind(news: News) -> None:
    texts, _ = news(1000)
    detector = small(learn_flagged=False, threshold=FixedThreshold(-1.0))
    for start in range(0, 1000, 10):
        detector.partial_fit(texts[start : start + 10])
    assert sum(map(len, detector._model.pending)) == 0 and not detector._model.pending


def test_many_words_in_few_buckets_are_still_a_unit_vector(news: News) -> None:
    texts, _ = news(1200)
    detector = small(max_terms=500)
    detector.partial_fit(texts)
    assert len(detector._model.vocabulary) >= 400
    assert detector.score([" ".join(f"q{number}" for number in range(10_000))])[0] > 0.9


def test_a_document_of_ten_megabytes(news: News) -> None:
    texts, _ = news(300)
    detector = small()
    detector.partial_fit(texts)
    large = "tin price " * 1_000_000
    assert len(large) >= 10_000_000
    found = detector.process([large, "a" * 10_000_000, "東京" * 2_000_000, "\x00" * 1_000_000], explain="all")
    assert all(0.0 <= document.score <= 1.0 for document in found)
    assert detector.oddities_["cut"] == 2
    assert detector.oddities_["empty"] == 2
    assert max(len(document.title) for document in found) <= 120


def test_memory_of_the_model_is_bounded(news: News) -> None:
    """Sizes after 2,000 documents are those after 6,000."""
    texts, _ = news(2000)
    detector = small(max_terms=500, n_recent=300)
    sizes = []
    for start in range(3):
        for block in range(0, 2000, 100):
            words = [f"{text} new{start}x{block}y{place}" for place, text in enumerate(texts[block : block + 100])]
            detector.partial_fit(words)
        model = detector._model
        past = model.recent.past
        sizes.append((len(model.vocabulary), model.vocabulary.n_slots, len(past), model.dictionary.matrix.rows.nbytes))
        assert past.nbytes < 300 * 256 * 8 * 6
    assert sizes[0] == sizes[1] == sizes[2]


def test_other_scripts_are_told_apart() -> None:
    topics = {
        "cocoa": "cocoa prices rose in ghana harvest exporters beans",
        "какао": "цены на какао выросли в гане урожай экспорт",
        "可可": "加纳可可价格上涨出口收获季节",
        "कोको": "घाना में कोको की कीमतें बढ़ीं फसल निर्यात",
    }
    detector = small(n_components=8, batch_size=40)
    detector.partial_fit(list(topics.values()) * 100)
    known = detector.score(list(topics.values()))
    new = detector.score(
        ["землетрясение на побережье чили разрушило дома", "智利海岸发生地震摧毁房屋", "चिली तट पर भूकंप"]
    )
    assert known.max() < 0.1
    assert new.min() > 0.5


@pytest.mark.parametrize("column", [0, 2**31 - 2])
def test_matrices_with_columns_far_out(column: int) -> None:
    matrix = sparse.csr_array((np.ones(5), (np.arange(5), np.full(5, column))), shape=(5, 2**31 - 1))
    detector = small(n_components=2, batch_size=5)
    detector.partial_fit(matrix)
    assert detector.score(matrix).max() < 1e-3
