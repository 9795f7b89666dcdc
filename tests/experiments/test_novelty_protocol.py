"""`novelty_protocol`: labels of both protocols, what detectors see, intervals, bad input; figures of Reuters."""

from __future__ import annotations

import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score

from orthostream.experiments import DateOrder, IntroducedTopics, NoveltyMethod, novelty_protocol
from orthostream.experiments.novelty.collection import Collection
from orthostream.experiments.novelty.estimate import Estimate, resampled_areas
from orthostream.experiments.novelty.method_table import METHODS, OURS
from orthostream.experiments.novelty.novelty_method import DetectorOnCounts
from orthostream.experiments.novelty.novelty_record import FALSE_ALARM, Measures
from orthostream.experiments.novelty.peak_memory import peak_memory
from orthostream.experiments.novelty.run_trial import run_trial
from orthostream.experiments.novelty.trial import Judgement
from orthostream.novelty import DampedInverseFrequency
from orthostream.novelty.block import DocumentBlock
from orthostream.novelty.rivals import NearestNeighbours, UnseenTerms

UNSEEN = NoveltyMethod("unseen", UnseenTerms, reads_weights=False)
NEAREST = NoveltyMethod("nearest", NearestNeighbours)


def collection(n_topics: int = 8, each: int = 30, seed: int = 0) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return counts and topics in mixed order; a topic has 20 terms of its own, and all topics share 20 more."""
    generator = np.random.default_rng(seed)
    topics = generator.permutation(np.repeat(np.arange(n_topics), each))
    own = generator.integers(20, size=(len(topics), 12)) + 20 * topics[:, None]
    shared = generator.integers(20, size=(len(topics), 6)) + 20 * n_topics
    columns = np.hstack([own, shared])
    rows = np.repeat(np.arange(len(topics)), columns.shape[1])
    shape = (len(topics), 20 * (n_topics + 1))
    return sparse.csr_array((np.ones(columns.size), (rows, columns.ravel())), shape=shape), topics


def late_topics(n_topics: int = 6, each: int = 40) -> tuple[Any, np.ndarray[Any, Any]]:
    """Return counts and topics of a stream in which a new topic appears every ``each`` documents."""
    counts, topics = collection(n_topics, each)
    generator = np.random.default_rng(1)
    wanted = generator.integers(1 + np.arange(len(topics)) // each)
    own = [iter(np.tile(np.flatnonzero(topics == topic), n_topics)) for topic in range(n_topics)]
    return counts[[next(own[topic]) for topic in wanted]], wanted


class Recorder:
    """Writes down what it is asked; scores are the numbers of the first terms."""

    def __init__(self, calls: list[tuple[str, DocumentBlock]]) -> None:
        self.calls = calls

    def score(self, block: DocumentBlock) -> Any:
        self.calls.append(("score", block))
        return block.counts.argmax(axis=1).astype(float)

    def learn(self, block: DocumentBlock) -> None:
        self.calls.append(("learn", block))


def test_labels_in_the_order_of_time() -> None:
    topics = ["tin", "oil", "tin", "tea", "tea", "oil", "gas", "gas"]
    made = Collection.of(["text"] * 8, topics)
    trial = DateOrder(warm_up=2).trial(made, seed=5)
    [found] = trial.judgements
    assert (found.setting, trial.group, trial.order.tolist()) == ("order of time", None, list(range(8)))
    assert found.novel.tolist() == [True, True, False, True, False, False, True, False]
    assert found.judged.tolist() == [False] * 2 + [True] * 6


def test_labels_in_groups() -> None:
    """All documents of a topic that is new to the group are novel, and the first group never counts."""
    topics = ["tin", "oil", "tin", "tea", "tea", "oil", "tea", "gas"]
    trial = DateOrder(group=3, warm_up=1).trial(Collection.of(["text"] * 8, topics), seed=0)
    [found] = trial.judgements
    assert (found.setting, trial.group) == ("groups of 3", 3)
    assert found.novel.tolist() == [True, True, True, True, True, False, False, True]
    assert found.judged.tolist() == [False] * 3 + [True] * 5


def test_introduced_topics_appear_at_known_times() -> None:
    counts, topics = late_topics(n_topics=8, each=30)
    made = Collection.of(counts, topics)
    protocol = IntroducedTopics(n_topics=3, first=(1, 4), least=5, warm_up=0.3, split="all")
    trial = protocol.trial(made, seed=7)
    order, ordered = trial.order, made.topics[trial.order]
    assert sorted(order.tolist()) == list(range(len(made)))
    assert [one.setting for one in trial.judgements] == ["introduced, n = 1", "introduced, n = 4"]
    held_back = set(ordered[trial.judgements[0].novel])
    assert len(held_back) == 3
    others = [place for place in order.tolist() if made.topics[place] not in held_back]
    assert others == sorted(others)
    for topic in held_back:
        own = [place for place in order.tolist() if made.topics[place] == topic]
        assert own == sorted(own)
        # Fewer documents stand before the start than in the collection, as held-back ones have moved away.
        assert np.flatnonzero(ordered == topic)[0] >= 0.3 * len(others) - 1
    for n, found in zip((1, 4), trial.judgements, strict=True):
        for topic in np.unique(ordered):
            places = np.flatnonzero(ordered == topic)
            is_held_back = topic in held_back
            assert found.novel[places].tolist() == [is_held_back and rank < n for rank in range(len(places))]
            if is_held_back:
                assert found.judged[places].all()
            else:
                late = order[places] >= 0.3 * len(made)
                assert found.judged[places].tolist() == (late & (np.arange(len(places)) >= n)).tolist()


def test_a_topic_begins_at_its_time() -> None:
    """With nothing left to draw, the first document stands where 85 % of the stream have passed."""
    counts, topics = collection()
    made = Collection.of(counts, topics)
    trial = IntroducedTopics(1, (1,), least=5, warm_up=0.85, split="all").trial(made, seed=1)
    [first] = np.flatnonzero(trial.judgements[0].novel)
    before = trial.order[:first]
    topic = made.topics[trial.order[first]]
    assert before.tolist() == [place for place in range(204) if made.topics[place] != topic]  # 0.85 of 240


def test_topics_are_divided_once_and_for_all() -> None:
    counts, topics = collection()
    halves = {split: IntroducedTopics(1, least=5, split=split).can_be_held_back for split in ("tune", "report", "all")}
    made = Collection.of(counts, topics)
    assert halves["tune"](made) == ["4", "0", "1", "7"]
    assert sorted(halves["tune"](made) + halves["report"](made)) == halves["all"](made) == list("01234567")
    mixed = np.random.default_rng(1).permutation(len(topics))
    again = Collection.of(counts[mixed], topics[mixed])
    assert halves["report"](again) == halves["report"](made)
    chosen = IntroducedTopics(2, least=5, split="report")
    trials = [chosen.trial(made, seed) for seed in (0, 0, 1)]
    assert np.array_equal(trials[0].order, trials[1].order)
    assert not np.array_equal(trials[0].order, trials[2].order)
    assert set(made.topics[trials[2].order][trials[2].judgements[0].novel]) <= set(halves["report"](made))


def test_documents_are_sorted_by_date() -> None:
    texts, topics = ["tin mine", "oil well", "tea leaf", "oil rig"], ["tin", "oil", "tea", "oil"]
    for dates in ([3, 1, 2, 1], ["1987-03", "1987-01", "1987-02", "1987-01"], np.array([3, 1, 2, 1], "datetime64[s]")):
        found = Collection.of(texts, topics, dates)
        assert found.topics.tolist() == ["oil", "oil", "tea", "tin"]
        np.testing.assert_array_equal(
            found.counts.toarray(), Collection.of(texts, topics).counts.toarray()[[1, 3, 2, 0]]
        )
    counts, labels = collection()
    mixed = np.random.default_rng(1).permutation(len(labels))
    kwargs: dict[str, Any] = {"protocol": DateOrder(warm_up=5), "methods": [NEAREST], "seeds": [0]}
    sorted_already = novelty_protocol(counts, labels, **kwargs).records[0]
    sorted_here = novelty_protocol(counts[mixed], labels[mixed], mixed, **kwargs).records[0]
    assert sorted_here.auc == sorted_already.auc


def test_blocks_are_scored_before_they_are_learnt() -> None:
    counts, _ = collection(n_topics=2, each=6)
    for group, expected in (
        (None, ["score 0-5", "learn 0-5", "score 5-10", "learn 5-10", "score 10-12", "learn 10-12"]),
        (8, ["score 0-8", "learn 0-5", "learn 5-8", "score 8-12", "learn 8-12"]),
    ):
        calls: list[tuple[str, DocumentBlock]] = []
        found = run_trial(NoveltyMethod("recorder", partial(Recorder, calls)), counts, 5, group)
        seen = []
        for name, block in calls:
            starts = [
                start
                for start in range(12)
                if block.counts.shape[0] <= 12 - start
                and (counts[start : start + block.counts.shape[0]] != block.counts).nnz == 0
            ]
            seen.append(f"{name} {starts[0]}-{starts[0] + block.counts.shape[0]}")
        assert seen == expected
        np.testing.assert_array_equal(found.scores, counts.argmax(axis=1))


@pytest.mark.parametrize("group", [None, 8])
def test_weights_come_from_the_past_only(group: int | None) -> None:
    """Rows are weighted by what was learnt before: changing later documents does not change them."""
    counts, _ = collection(n_topics=2, each=6)
    calls: list[tuple[str, DocumentBlock]] = []
    run_trial(NoveltyMethod("recorder", partial(Recorder, calls)), counts, 5, group)
    learnt = 0
    for name, block in calls:
        past = counts[:learnt]
        frequencies = (past > 0).sum(axis=0)
        weights = block.counts.toarray()
        rows, columns = np.nonzero(weights)
        weights[rows, columns] = DampedInverseFrequency()(weights[rows, columns], frequencies[columns], learnt)
        lengths = np.linalg.norm(weights, axis=1, keepdims=True)
        np.testing.assert_allclose(block.rows.toarray(), weights / np.where(lengths > 0.0, lengths, 1.0), atol=1e-12)
        learnt += block.counts.shape[0] if name == "learn" else 0
    assert learnt == 12


def test_ours_and_rivals_see_the_same_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, topics = collection()
    seen: dict[str, list[Any]] = {"ours": [], "rival": []}

    def watched(self: DetectorOnCounts, block: DocumentBlock) -> Any:
        seen["ours"].append(block.counts.toarray())
        return np.arange(float(block.counts.shape[0]))

    monkeypatch.setattr(DetectorOnCounts, "score_then_learn", watched)
    calls: list[tuple[str, DocumentBlock]] = []
    methods = [OURS[0], NoveltyMethod("recorder", partial(Recorder, calls))]
    protocol = IntroducedTopics(2, (1,), least=5, split="all")
    novelty_protocol(counts, topics, protocol=protocol, methods=methods, seeds=[3], batch_size=50)
    seen["rival"] = [block.counts.toarray() for name, block in calls if name == "score"]
    assert len(seen["ours"]) == len(seen["rival"]) == 5
    for ours, theirs in zip(seen["ours"], seen["rival"], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("first_story", [False, True])
def test_our_detector_scores_a_block_before_it_learns_it(first_story: bool) -> None:
    """Also in first-story mode, in which it could compare documents of a block with each other."""
    counts, _ = collection()
    block = DocumentBlock(counts[:100], counts[:100])
    detector, twin = (DetectorOnCounts(first_story=first_story, random_state=0) for _ in range(2))
    assert len(set(detector.score(block).tolist())) == 1
    detector.learn(block)
    twin.score_then_learn(block)
    later = DocumentBlock(counts[100:200], counts[100:200])
    turned = DocumentBlock(counts[100:200][::-1], counts[100:200][::-1])
    expected = detector.score(later)
    np.testing.assert_allclose(twin.score_then_learn(turned)[::-1], expected, atol=1e-4)


def test_every_method_runs_and_seeds_decide() -> None:
    counts, topics = collection(each=10)
    protocol = IntroducedTopics(2, (1, 3), least=5, split="all")
    runs = [novelty_protocol(counts, topics, protocol=protocol, seeds=[0, 1], batch_size=40) for _ in range(2)]
    assert runs[0].methods == [method.name for method in METHODS] and len(METHODS) == 14
    assert runs[0].settings == ["introduced, n = 1", "introduced, n = 3"]
    assert len(runs[0].records) == 28
    for one, other in zip(runs[0].records, runs[1].records, strict=True):
        assert (one.auc, one.average_precision, one.cost) == (other.auc, other.average_precision, other.cost)
        assert one.seeds == (0, 1) and one.n_novel == (2 if one.setting.endswith("1") else 6)
        assert 0.0 <= one.auc.mean <= 1.0 and 0.0 <= one.cost.mean <= 1.0 and one.documents_per_second > 0.0
        assert np.all(np.diff(one.miss) <= 0.0) and one.miss[-1] == 0.0 and one.miss.shape == FALSE_ALARM.shape
        assert one.auc_over_topics is None and one.group_auc is None and one.peak_megabytes is None


def test_only_what_draws_is_run_for_every_seed_in_the_order_of_time() -> None:
    counts, topics = late_topics()
    lines: list[str] = []
    result = novelty_protocol(
        counts, topics, protocol=DateOrder(10, 20), methods=[OURS[0], UNSEEN], seeds=[4, 5, 6], progress=lines.append
    )
    assert [line.split(",")[0] for line in lines] == ["top-8 energy"] * 3 + ["unseen"]
    ours, unseen = result.records
    assert ours.seeds == (4, 5, 6) and unseen.seeds == (4,)
    assert unseen.auc.low == unseen.auc.high == unseen.auc.mean
    assert unseen.auc_over_topics is not None and unseen.auc_over_topics.low <= unseen.auc.mean
    assert unseen.group_auc is not None


def test_a_detector_that_knows_finds_all() -> None:
    """Topics with words of their own only: their first documents have no term that was seen before."""
    counts, topics = collection()
    own = counts[:, :160]
    protocol = IntroducedTopics(3, (1,), least=5, split="all")
    [one] = novelty_protocol(own, topics, protocol=protocol, methods=[UNSEEN], seeds=[0, 1, 2], batch_size=1).records
    assert one.auc.values == (1.0, 1.0, 1.0) and one.cost.mean == 0.0 and one.average_precision.mean == 1.0


def test_measures_of_groups_and_curves() -> None:
    novel = np.array([True, False, True, True, False, False, True, False])
    scores = np.array([9.0, 8.0, 0.6, 0.1, 0.5, 0.2, 0.1, 0.9])
    judged = np.arange(8) >= 2
    found = Measures.of(Judgement("", novel, judged), scores, group=2)
    # Groups: (not judged), (all novel), (none), (both: the novel one is below).
    assert found.group_auc == 0.0
    assert found.auc == roc_auc_score(novel[2:], scores[2:]) and (found.n_novel, found.n_judged) == (3, 6)
    assert found.miss[0] == 1.0
    # The best document is not novel: the first hit comes at one false alarm of three.
    assert found.miss[np.searchsorted(FALSE_ALARM, 1.0 / 3.0) - 1] == 1.0
    assert found.miss[np.searchsorted(FALSE_ALARM, 1.0 / 3.0)] == pytest.approx(2.0 / 3.0)


def test_intervals() -> None:
    one = Estimate.over_seeds([0.5])
    assert one.mean == 0.5 and np.isnan(one.low) and str(one) == "0.500"
    # 12.706: Student's t with one degree of freedom.
    two = Estimate.over_seeds([0.4, 0.6])
    assert two.high - two.mean == pytest.approx(12.706 * 0.1, abs=1e-3) and str(two) == "0.500 ±1.271"
    resampled = Estimate.resampled(0.5, np.append(np.linspace(0.0, 1.0, 101), np.nan))
    assert (resampled.low, resampled.high) == pytest.approx((0.025, 0.975))


def test_topics_are_resampled_as_wholes() -> None:
    generator = np.random.default_rng(0)
    topics = generator.integers(6, size=200)
    novel = generator.random(200) < 0.2
    scores = np.round(novel + generator.standard_normal(200), 1)
    found = resampled_areas(novel, scores, topics)
    assert np.array_equal(found, resampled_areas(novel, scores, topics)) and len(found) == 500
    draws = np.random.default_rng(0).multinomial(6, np.full(6, 1 / 6), size=500)
    for place in (0, 17, 499):
        expected = roc_auc_score(novel, scores, sample_weight=draws[place][topics])
        assert found[place] == pytest.approx(expected)
    only = resampled_areas(topics == 0, scores, topics)
    assert np.isnan(only[draws[:, 0] == 0]).all() and not np.isnan(only[(draws[:, 0] > 0) & (draws[:, 0] < 6)]).any()


def test_differences_are_paired() -> None:
    counts, topics = collection()
    protocol = IntroducedTopics(2, (3,), least=5, split="all")
    kwargs: dict[str, Any] = {"protocol": protocol, "batch_size": 20}
    both = novelty_protocol(counts, topics, methods=[UNSEEN], seeds=[0, 1, 2, 3], **kwargs)
    both = both.joined(novelty_protocol(counts, topics, methods=[NEAREST], seeds=[2, 1, 9], **kwargs))
    [setting] = both.settings
    unseen, nearest = (both.record(name, setting).auc.values for name in both.methods)
    found = both.difference("unseen", "nearest", setting)
    assert found.values == pytest.approx((unseen[1] - nearest[1], unseen[2] - nearest[0]))
    assert both.difference("unseen", "unseen", setting).high == 0.0
    with pytest.raises(KeyError, match="no record of 'LSA'"):
        both.record("LSA", setting)
    text = str(both)
    assert text.startswith(f"{setting}: 6 novel documents of ") and "over topics" not in text and "peak MB" not in text
    counts, topics = late_topics()
    ordered = novelty_protocol(counts, topics, protocol=DateOrder(10, 20), methods=[UNSEEN, NEAREST])
    difference = ordered.difference("unseen", "nearest", "groups of 10")
    assert difference.mean == ordered.records[0].auc.mean - ordered.records[1].auc.mean
    assert len(difference.values) == 500
    assert "over topics" in str(ordered) and "by group" in str(ordered)


def test_texts_become_counts() -> None:
    texts = ["cocoa price"] * 30 + ["zinc mine", "cocoa price"] * 5
    topics = ["cocoa"] * 30 + ["zinc", "cocoa"] * 5
    methods = [OURS[0], UNSEEN]
    result = novelty_protocol(texts, topics, protocol=DateOrder(warm_up=20), methods=methods, batch_size=5)
    assert result.record("unseen", "order of time").auc.mean > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topics": ["a", "b"]}, "topics must have one entry for each document: got 2 for 4"),
        ({"dates": [1, 2, 3]}, "dates must have one entry for each document: got 3 for 4"),
        ({"topics": ["a", None, "b", "b"]}, "every document needs a topic, got None at 1"),
        ({"topics": [1.0, 2.0, float("nan"), 1.0]}, "every document needs a topic, got nan at 2"),
        ({"dates": [1.0, float("nan"), 2.0, 3.0]}, "every document needs a date, got nan at 1"),
        ({"dates": np.array(["1987-02-26", "NaT", "1987-02-27", "1987-02-28"], "datetime64[s]")}, "got .*NaT.* at 1"),
        ({"dates": [1, "b", 2, 3]}, "dates must be of one kind that can be sorted"),
        ({"topics": ["a"] * 4}, "at least two different topics"),
        ({"documents": -np.eye(4)}, "must not be negative"),
        ({"documents": np.diag([1.0, np.nan, 1.0, 1.0])}, "must be finite"),
        ({"documents": np.ones(4)}, "two dimensions"),
        ({"methods": []}, "at least one method"),
        ({"methods": [UNSEEN, UNSEEN]}, "names that differ"),
        ({"seeds": []}, "at least one number"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": [-1]}, "seeds must be"),
        ({"batch_size": 0}, "batch_size must be a positive integer"),
        ({"protocol": "random"}, "protocol must be"),
        ({"protocol": "introduced"}, "only 0 topics of split='report' have 20 to 500 documents"),
        ({"protocol": "order"}, "order of time: there must be novel documents and others, got 0 .* shorter warm_up"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    good = {"documents": np.eye(4), "topics": list("abab"), "methods": [UNSEEN], "protocol": DateOrder(warm_up=1)}
    assert novelty_protocol(**good).records
    with pytest.raises(ValueError, match=message):
        novelty_protocol(**(good | arguments))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DateOrder(group=0), "group must be"),
        (lambda: DateOrder(warm_up=-1), "warm_up must be"),
        (lambda: IntroducedTopics(first=()), "at least one number"),
        (lambda: IntroducedTopics(first=(0,)), "first must be"),
        (lambda: IntroducedTopics(least=10, most=5), "most must be an integer of at least 10"),
        (lambda: IntroducedTopics(warm_up=0.9), "warm_up must be a number from 0 to 0.85"),
        (lambda: IntroducedTopics(split="test"), "split must be"),
    ],
)
def test_bad_settings(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_documents_of_the_wrong_kind() -> None:
    for documents, message in (("a text", "single text"), ([b"bytes", "text"], "got bytes at 0")):
        with pytest.raises(TypeError, match=message):
            novelty_protocol(documents, ["a", "b"])


@pytest.mark.parametrize(
    ("scores", "message"), [([1.0], "got shape \\(1,\\)"), ([np.nan, 1.0, 1.0, 1.0], "values that are not finite")]
)
def test_wrong_scores_are_named(scores: list[float], message: str) -> None:
    class Wrong(Recorder):
        def score(self, block: DocumentBlock) -> Any:
            return np.array(scores)

    method = NoveltyMethod("mine", lambda: Wrong([]))
    with pytest.raises(ValueError, match=f"mine must return 4 finite scores.*{message}"):
        run_trial(method, sparse.csr_array(np.eye(4)), 4)


@pytest.mark.slow
def test_peak_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is freed again also counts; what the collection takes does not."""
    source = """
        import numpy as np
        class Hungry:
            def __init__(self, megabytes): self.size = int(megabytes * 131072)
            def score(self, block): return np.ones(block.counts.shape[0])
            def learn(self, block):
                if block.counts.shape[0] == 7: np.ones(self.size)
        class Failing(Hungry):
            def learn(self, block): raise RuntimeError("no such luck")
    """
    (tmp_path / "hungry_detectors.py").write_text(re.sub("^ {8}", "", source, flags=re.MULTILINE))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    import hungry_detectors  # type: ignore[import-not-found]

    counts = sparse.csr_array(np.ones((507, 3000)))
    found = [
        peak_memory(NoveltyMethod("hungry", partial(hungry_detectors.Hungry, megabytes)), counts, 50)
        for megabytes in (0, 80)
    ]
    if Path("/proc/self/clear_refs").exists():
        assert found[0] < 30.0
        assert 60.0 < found[1] - found[0] < 100.0
    assert all(np.isfinite(found))
    with pytest.raises(RuntimeError, match=r"(?s)broken failed in a process of its own: .*no such luck"):
        peak_memory(NoveltyMethod("broken", partial(hungry_detectors.Failing, 0)), counts, 50)
    with pytest.raises(ValueError, match="cannot import 'mine': make must be a class"):
        peak_memory(NoveltyMethod("mine", lambda: UnseenTerms()), counts, 50)
    sys.modules.pop("hungry_detectors")


def test_memory_is_measured_on_demand() -> None:
    counts, topics = late_topics()
    protocol = DateOrder(warm_up=5)
    [one] = novelty_protocol(counts, topics, protocol=protocol, methods=[UNSEEN], measure_memory=True).records
    assert one.peak_megabytes is not None and 0.0 <= one.peak_megabytes < 50.0


@pytest.mark.slow
def test_reuters() -> None:
    """Ours is far above a count of unseen terms, and topics are divided as they always were."""
    if not (Path(os.environ.get("ORTHOSTREAM_DATA", "")) / "reuters").is_dir() or not os.environ.get(
        "ORTHOSTREAM_DATA"
    ):
        pytest.skip("ORTHOSTREAM_DATA does not name a folder with Reuters-21578")
    from orthostream.datasets import load_reuters

    reuters = load_reuters()
    made = Collection.of(reuters.texts, reuters.topics, reuters.dates)
    assert IntroducedTopics().can_be_held_back(made) == REPORTED
    ordered = novelty_protocol(made.counts, made.topics, methods=[OURS[0], UNSEEN], seeds=[0])
    ours, unseen = ordered.records
    assert (ours.n_novel, ours.n_judged) == (44, 9293)
    assert ours.auc.mean > 0.77 and ours.auc.mean > unseen.auc.mean + 0.05
    introduced = novelty_protocol(made.counts, made.topics, protocol="introduced", methods=[OURS[0], UNSEEN])
    for setting, least in zip(introduced.settings, (0.7, 0.75, 0.73, 0.7), strict=True):
        ours, unseen = (introduced.record(name, setting) for name in introduced.methods)
        assert ours.auc.mean > least and introduced.difference(ours.method, unseen.method, setting).mean > 0.1
        assert ours.n_novel == 10 * int(setting.split()[-1])


#: The topics of Reuters on which results are reported.
REPORTED = [
    *("alum", "orange", "trade", "reserves", "sugar", "rubber", "grain", "gold"),
    *("retail", "money-fx", "coffee", "wpi", "livestock", "ship", "ipi"),
]
