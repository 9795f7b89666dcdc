"""The detector as users meet it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

import orthostream
from orthostream.novelty import FalseAlarmRate, FixedThreshold, NovelDocumentDetector, RecentQuantile, TfIdf
from orthostream.novelty.rivals import NearestNeighbours
from orthostream.optimize import LpContrast

News = Callable[..., tuple[list[str], np.ndarray]]


def small(**parameters: object) -> NovelDocumentDetector:
    return NovelDocumentDetector(**({"n_components": 16, "warm_up": 200, "random_state": 0} | parameters))  # type: ignore[arg-type]


def streamed(detector: NovelDocumentDetector, documents: object, size: int = 100) -> np.ndarray:
    n_documents = documents.shape[0] if sparse.issparse(documents) else len(documents)  # type: ignore[attr-defined, arg-type]
    starts = range(0, n_documents, size)
    return np.concatenate([detector.score_then_learn(documents[start : start + size]) for start in starts])  # type: ignore[index]


@pytest.mark.parametrize("parameters", [{}, {"contrast": "l3"}, {"first_story": True}, {"correct_growth": True}])
def test_a_new_topic_scores_highest(news: News, parameters: dict[str, object]) -> None:
    texts, topics = news(3000)
    scores = streamed(small(**parameters), texts)
    first = np.flatnonzero(topics == 11)[:5]
    judged = np.r_[first, np.flatnonzero((np.arange(3000) > 1500) & (topics != 11))]
    assert roc_auc_score(topics[judged] == 11, scores[judged]) > 0.95
    # After two hundred documents the topic is known.
    later = np.flatnonzero(topics == 11)[-30:]
    assert scores[later].mean() < scores[first].mean() - 0.05


def test_scores_are_what_the_best_sparse_code_leaves(counts: sparse.csr_array) -> None:
    """Against plain arithmetic with the dense dictionary."""
    detector = small(n_nonzero=3)
    streamed(detector, counts[:1000])
    names = detector.get_feature_names_out()
    atoms = detector.components_
    np.testing.assert_allclose(atoms @ atoms.T, np.eye(16), atol=1e-4)
    vocabulary = detector._model.vocabulary
    for row in counts[1000:1020]:
        dense = row.toarray().ravel()
        known = dense[names.astype(int)]
        frequencies = vocabulary.frequencies(vocabulary.find(np.arange(3000).tolist()))
        weight = np.zeros(3000)
        there = dense > 0
        n_documents = vocabulary.n_documents
        inverse = np.log((n_documents + 1) / (frequencies[there] + 0.5))
        damping = (frequencies[there] + 0.1) / (frequencies[there] + 1.0)
        weight[there] = (1 + np.log(dense[there])) * np.sqrt(np.maximum(inverse, 0.0)) * damping
        weight /= np.linalg.norm(weight)
        codes = atoms @ weight[names.astype(int)]
        best = np.sort(codes**2)[-3:]
        assert detector.score(sparse.csr_array(row.reshape(1, -1)))[0] == pytest.approx(1.0 - best.sum(), abs=1e-5)
        assert known.any()


def test_scoring_changes_nothing(counts: sparse.csr_array) -> None:
    detector, other = small(), small()
    for start in range(0, 1000, 50):
        block = counts[start : start + 50]
        scores = detector.score(block) if start else None
        learnt = detector.score_then_learn(block)
        if scores is not None:
            np.testing.assert_allclose(scores, learnt, atol=1e-6)
        np.testing.assert_array_equal(other.score_then_learn(block), learnt)


def test_texts_and_their_counts_give_the_same(news: News) -> None:
    texts, _ = news(600)
    terms = sorted({word for text in texts for word in text.split()})
    places = {word: place for place, word in enumerate(terms)}
    matrix = sparse.lil_array((600, len(terms)))
    for document, text in enumerate(texts):
        for word in text.split():
            matrix[document, places[word]] += 1
    by_text = streamed(small(tokenizer=str.split), texts)
    by_matrix = streamed(small(feature_names=terms), sparse.csr_array(matrix))
    np.testing.assert_allclose(by_text, by_matrix, atol=1e-5)


def test_how_a_stream_is_cut(counts: sparse.csr_array) -> None:
    """The dictionary does not depend on the cut. Scores do: a longer call sees fewer of the documents before it."""
    scores, atoms = {}, {}
    for size in (1, 7, 50, 100, 1000):
        detector = small()
        scores[size] = streamed(detector, counts, size)
        atoms[size] = detector.components_
    for size in (1, 7, 50, 1000):
        np.testing.assert_array_equal(atoms[size], atoms[100])
    for size in (1, 50):
        # Cut inside of mini-batches: the same up to rounding.
        np.testing.assert_allclose(scores[size], scores[100], atol=1e-6)
    assert np.abs(scores[1000] - scores[100]).max() > 0.01


def test_long_calls_are_cut_into_blocks_of_a_thousand(counts: sparse.csr_array) -> None:
    np.testing.assert_array_equal(small().score_then_learn(counts), streamed(small(), counts, 1000))


def test_scikit_learn_conventions(counts: sparse.csr_array) -> None:
    detector = small(threshold=RecentQuantile(0.9)).fit(counts)
    scores = detector.score(counts[:50])
    np.testing.assert_array_equal(detector.score_samples(counts[:50]), -scores)
    np.testing.assert_allclose(detector.decision_function(counts[:50]), -scores - detector.offset_)
    np.testing.assert_array_equal(detector.predict(counts[:50]), np.where(scores > detector.threshold_, -1, 1))
    assert detector.n_documents_ == 2000
    copy = clone(detector)
    assert copy.get_params()["threshold"] == RecentQuantile(0.9)
    with pytest.raises(NotFittedError):
        copy.score(counts)
    assert set(np.unique(detector.fit_predict(counts))) <= {-1, 1}


def test_fit_begins_again_and_learns_the_last_small_mini_batch(counts: sparse.csr_array) -> None:
    detector = small().fit(counts[:150])
    first = detector.score(counts[150:160])
    np.testing.assert_array_equal(detector.fit(counts[:150]).score(counts[150:160]), first)
    assert detector.fit(counts[:30]).components_.shape[0] == 16


def test_warm_up_is_said(counts: sparse.csr_array) -> None:
    detector = small(warm_up=300, threshold=FixedThreshold(0.0))
    documents = [detector.process(counts[start : start + 50]) for start in range(0, 500, 50)]
    found = [document for block in documents for document in block]
    assert [document.threshold for document in found] == [None] * 300 + [0.0] * 200
    assert not any(document.novel for document in found[:300])
    assert all(document.novel for document in found[300:])
    assert found[0].to_json()["warming_up"] is True
    assert "warming_up" not in found[-1].to_json()
    assert [document.number for document in found] == list(range(1, 501))


def test_flagged_documents_need_not_be_learnt(news: News) -> None:
    texts, topics = news(3000)
    flags = {}
    for learn_flagged in (True, False):
        detector = small(learn_flagged=learn_flagged, threshold=FalseAlarmRate(0.02))
        found = [detector.process(texts[start : start + 100]) for start in range(0, 3000, 100)]
        novel = np.array([document.novel for block in found for document in block])
        flags[learn_flagged] = novel[topics == 11].mean()
    assert flags[False] > flags[True]
    assert flags[False] > 0.6


def test_explanations(news: News) -> None:
    texts, _ = news(3000)
    detector = small(contrast="l3")
    for start in range(0, 1500, 100):
        detector.process(texts[start : start + 100])
    document = {"id": "d1", "title": "quake", "text": "quake coast quake topic3word1 topic3word2 topic3word3"}
    (scored,) = detector.process([document], explain="all")
    assert scored.explanation is not None
    assert scored.id == "d1"
    terms = dict(scored.explanation.terms)
    assert sum(terms.values()) <= scored.score + 1e-6
    # All terms of this short document are shown, and their shares add up to its score.
    assert set(terms) <= {"quake", "coast", "topic3word1", "topic3word2", "topic3word3"}
    assert sum(terms.values()) == pytest.approx(scored.score, abs=0.05)
    assert {"quake", "coast"} <= set(terms)
    assert scored.explanation.unseen == ("quake", "coast")
    assert any("topic3" in word for word in scored.explanation.topics[0].words)
    assert scored.explanation.nearest[0].similarity > 0.1
    plain = scored.to_json()
    assert plain["explanation"]["terms"][0]["term"] in terms
    # Now it is among the recent documents itself.
    (again,) = detector.process([document], explain="all")
    assert again.explanation is not None
    assert again.explanation.nearest[0].id == "d1"
    assert again.explanation.nearest[0].similarity == pytest.approx(1.0, abs=1e-4)


def test_explanations_of_chosen_documents(counts: sparse.csr_array) -> None:
    detector = small(threshold=RecentQuantile(0.9))
    streamed(detector, counts[:1000])
    found = detector.process(counts[1000:1100])
    assert {document.explanation is not None for document in found if document.novel} == {True}
    assert {document.explanation is not None for document in found if not document.novel} == {False}
    assert all(document.explanation is None for document in detector.process(counts[1100:1200], explain="none"))
    found = detector.process(counts[1200:1300], explain=0.5)
    assert all((document.explanation is not None) == (document.score > 0.5) for document in found)
    with pytest.raises(ValueError, match="explain must be 'all', 'flagged', 'none' or a score, got 'some'"):
        detector.process(counts[:1], explain="some")
    with pytest.raises(ValueError, match="or a score, got None"):
        detector.process(counts[:1], explain=None)  # type: ignore[arg-type]


def test_topics_in_words(news: News) -> None:
    texts, _ = news(3000)
    detector = small(contrast="l3")
    streamed(detector, texts)
    topics = detector.topics(n_words=5)
    assert len(topics) == 16
    pure = sum(len(words) == 5 and len({word.split("word")[0] for word in words}) == 1 for words in topics)
    assert pure >= 8
    matrix = small().fit(sparse.csr_array(np.eye(30)))
    assert all(isinstance(term, int) for words in matrix.topics() for term in words)


def test_first_stories_compare_with_recent_documents_and_those_of_the_same_call(news: News) -> None:
    texts, _ = news(1000)
    detector = small(first_story=True)
    streamed(detector, texts)
    new = "earthquake shakes the coast of chile"
    alone, first, second = detector.score([new])[0], *detector.score_then_learn([new, new])
    assert alone == pytest.approx(first, abs=1e-6)
    assert second < first - 0.9
    assert detector.score([new])[0] < first - 0.9


def test_neighbours_agree_with_an_exhaustive_search(counts: sparse.csr_array) -> None:
    """The ring of the first-story mode is 1-NN over the recent documents."""
    from orthostream.novelty.block import DocumentBlock

    detector = small(first_story=True, n_recent=5000)
    streamed(detector, counts[:1000], 100)
    plain = small()
    streamed(plain, counts[:1000], 100)
    given = detector._arriving(counts[1000:1050]).counts
    model = detector._model
    rows = model.weighted(given, model.vocabulary.find(given.terms)).over_slots
    rival = NearestNeighbours(1)
    rival.learn(DocumentBlock(model.recent.past.matrix(), model.recent.past.matrix()))
    nearest = rival.score(DocumentBlock(rows, rows))
    added = detector.score(counts[1000:1050]) - plain.score(counts[1000:1050])
    np.testing.assert_allclose(added, nearest, atol=1e-4)


def test_documents_in_all_forms(news: News) -> None:
    texts, _ = news(300)
    detector = small()
    streamed(detector, texts)
    words = "topic1word1 topic2word2"
    forms = [
        words,
        {"text": words},
        {"title": "topic1word1", "text": "topic2word2"},
        {"headline": words},
        {"title": words, "text": None, "id": 7, "time": "1987"},
        orthostream.novelty.Document(words),
    ]
    scores = detector.score(forms)
    assert 0.0 < scores[0] < 0.999
    np.testing.assert_allclose(scores, scores[0], atol=1e-6)
    np.testing.assert_allclose(detector.score([{"topic1word1": 1, "topic2word2": 1}]), scores[0], atol=1e-6)
    assert detector.score([{"title": 1984}])[0] == detector.score(["1984"])[0]
    assert detector.score([{"title": 1, "topic1word1": 1}])[0] != scores[0]
    assert detector.process(forms)[4].id == "7"


@pytest.mark.parametrize(
    ("documents", "error", "message"),
    [
        ("one text", TypeError, "got a single str: wrap it in a list"),
        ({"text": "one"}, TypeError, "got a single dict: wrap it in a list"),
        (b"bytes", TypeError, "got a single bytes"),
        ([b"bytes"], TypeError, "document 0 must be a text or a mapping, got bytes"),
        (["text", None], TypeError, "document 1 must be a text or a mapping, got NoneType"),
        ([{"name": "x"}], ValueError, r"document 0 has neither 'text' nor 'title', but \['name'\]"),
        (7, TypeError, "documents must be texts or a matrix of counts, got int"),
        (np.ones(3), ValueError, "a matrix of counts must have two dimensions, got 1"),
        ([{"tin": 1}, "text"], TypeError, "some documents map words to counts, but one is a str"),
        ([{"tin": float("nan")}], ValueError, "counts must be finite"),
        ([{"id": 3}], ValueError, r"document 0 has neither 'text' nor 'title', but \['id'\]"),
        (
            np.array([[0.5, 1.0]]),
            ValueError,
            "counts must be 0 or at least 1, got 0.5 among them: give counts, not weights",
        ),
    ],
)
def test_bad_documents(documents: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        small().score_then_learn(documents)


def test_a_refused_block_changes_nothing(counts: sparse.csr_array) -> None:
    detector = small()
    streamed(detector, counts[:500])
    before = detector.score(counts[500:600])
    for wrong in (sparse.csr_array([[np.nan]]), ["text"]):
        with pytest.raises(ValueError, match=r"finite|use another detector"):
            detector.score_then_learn(wrong)
    np.testing.assert_array_equal(detector.score(counts[500:600]), before)
    assert detector.n_documents_ == 500


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components must be a positive integer, got 0"),
        ({"contrast": "l5"}, "contrast must be 'l3', 'top' or a contrast, got 'l5'"),
        ({"contrast": 3}, "contrast must be 'top', 'l3' or a contrast, got 3"),
        (
            {"threshold": 0.5},
            r"threshold must be a Threshold such as FalseAlarmRate\(rate=0.01, window=2000\), got 0.5",
        ),
        ({"weights": "idf"}, "weights must be a TermWeights such as"),
        ({"max_terms": 5}, "max_terms must be an integer of at least 16, got 5"),
        ({"half_life": -1}, "half_life must be positive and finite, got -1"),
        ({"batch_size": 0}, "batch_size must be a positive integer, got 0"),
        ({"warm_up": -1}, "warm_up must be an integer of at least 0, got -1"),
        ({"n_recent": 0}, "n_recent must be a positive integer, got 0"),
    ],
)
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(**parameters).score_then_learn(["text"])


def test_a_data_frame_is_no_list_of_documents() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"title": ["tin"], "text": ["prices fall"]})
    with pytest.raises(TypeError, match="must not be a data frame: pass one column of texts"):
        small().score_then_learn(frame)
    detector = small()
    assert len(detector.score_then_learn(frame["text"])) == len(detector.score_then_learn(frame.to_dict("records")))


def test_missing_values_of_tables() -> None:
    detector = small()
    assert len(detector.score_then_learn([{"title": "tin prices", "text": float("nan"), "id": float("nan")}])) == 1
    with pytest.raises(TypeError, match=r"document 1 must be a text or a mapping, got float: a missing value\?"):
        detector.score_then_learn(["tin", float("nan")])


def test_no_documents_decide_nothing(counts: sparse.csr_array) -> None:
    detector = small()
    detector.score_then_learn([])
    assert len(detector.score_then_learn(counts[:5])) == 5
    assert len(detector.score_then_learn([])) == 0


def test_before_there_is_a_dictionary() -> None:
    detector = small()
    for ask in (detector.topics, detector.get_feature_names_out, lambda: detector.threshold_):
        with pytest.raises(NotFittedError, match="has seen no documents yet"):
            ask()
    assert detector.score_then_learn(["tin", ""]).tolist() == [1.0, 0.0]
    with pytest.raises(NotFittedError, match=r"no dictionary yet: it begins after batch_size = 100 documents"):
        detector.topics()
    with pytest.raises(NotFittedError, match="no dictionary yet"):
        detector.transform(["tin"])
    assert detector.score_then_learn([]).shape == (0,)


def test_the_papers_procedure(news: News) -> None:
    """Example 2 as it is written: TF-IDF, sparse code, squared error, fixed threshold."""
    detector = NovelDocumentDetector.preset("paper", n_components=16, random_state=0, warm_up=100)
    assert detector.contrast == "l3"
    assert isinstance(detector.weights, TfIdf)
    assert isinstance(detector.threshold, FixedThreshold)
    texts, _ = news(1000)
    found = [document for start in range(0, 1000, 100) for document in detector.process(texts[start : start + 100])]
    assert all(document.novel == (document.score > 0.9) for document in found[100:])
    with pytest.raises(ValueError, match="preset must be 'paper', got 'best'"):
        NovelDocumentDetector.preset("best")


def test_own_contrast_and_generator(counts: sparse.csr_array) -> None:
    own = streamed(small(contrast=LpContrast(3.0)), counts[:500])
    np.testing.assert_array_equal(own, streamed(small(contrast="l3"), counts[:500]))
    same = [streamed(small(random_state=np.random.RandomState(3)), counts[:300]) for _ in range(2)]
    np.testing.assert_array_equal(*same)


def test_a_stream_that_begins_with_repeats(counts: sparse.csr_array) -> None:
    """A dictionary that was filled with one document must still become a whole one."""
    repeated = sparse.vstack([counts[:1]] * 500).tocsr()
    plain, late = small(), small()
    streamed(plain, counts[:1500])
    streamed(late, repeated)
    streamed(late, counts[:1500])
    expected, found = (detector.score(counts[1500:]).mean() for detector in (plain, late))
    assert found < expected + 0.05


def test_empty_documents_at_the_start() -> None:
    detector = small()
    assert detector.score_then_learn([""] * 250).tolist() == [0.0] * 250
    assert detector.score_then_learn(["tin prices"] * 100).min() > 0.0
    assert detector.oddities_["empty"] == 250
    assert detector.topics()[0]
