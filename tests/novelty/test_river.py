"""The adapter in river's own pipelines and evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("river", reason="river is not installed")

from river import anomaly, evaluate, feature_extraction, metrics

from orthostream.novelty import NovelDocumentDetector
from orthostream.novelty.river import RiverNovelty


def labelled() -> Iterator[tuple[str, bool]]:
    rng = np.random.default_rng(0)
    for number in range(1200):
        novel = number > 800 and rng.random() < 0.02
        topic = "quake" if novel else f"topic{rng.integers(0, 8)}"
        yield " ".join(f"{topic}word{word}" for word in rng.integers(0, 20, 12)), bool(novel)


def small() -> RiverNovelty:
    return RiverNovelty(NovelDocumentDetector(n_components=12, random_state=0))


def test_progressive_evaluation() -> None:
    metric = evaluate.progressive_val_score(labelled(), small(), metrics.ROCAUC())
    assert metric.get() > 0.95


def test_behind_a_bag_of_words() -> None:
    pipeline = feature_extraction.BagOfWords(lowercase=True) | small()
    assert evaluate.progressive_val_score(labelled(), pipeline, metrics.ROCAUC()).get() > 0.95


def test_inside_a_filter() -> None:
    model = anomaly.QuantileFilter(small(), q=0.98, protect_anomaly_detector=False)
    for text, _ in labelled():
        model.learn_one(text)
    assert model.classify(model.score_one("nothing like this was ever seen"))
    assert not model.classify(model.score_one("topic1word1 topic1word2 topic1word3 topic1word4"))


def test_one_at_a_time_is_the_same_as_a_stream() -> None:
    texts = [text for text, _ in labelled()][:300]
    model, detector = small(), NovelDocumentDetector(n_components=12, random_state=0)
    scores = []
    for text in texts:
        scores.append(model.score_one(text))
        model.learn_one(text)
    expected = np.concatenate([detector.score_then_learn([text]) for text in texts])
    np.testing.assert_allclose(scores, expected, atol=1e-6)
