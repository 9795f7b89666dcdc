from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.novelty.explanation import EarlierDocument, Explanation, TermShare, TopicShare
from orthostream.novelty.report import StreamReport
from orthostream.novelty.report.flagged_documents import FlaggedDocuments
from orthostream.novelty.report.score_bins import ScoreBins
from orthostream.novelty.report.topic_bins import TopicBins
from orthostream.novelty.scored_document import ScoredDocument

SIZES = st.lists(st.integers(1, 70), min_size=1, max_size=60)


def document(number: int, score: float, novel: bool = False, threshold: float | None = 0.5) -> ScoredDocument:
    return ScoredDocument(number, f"a{number}", f"title {number}", f"day {number}", score, threshold, novel, None)


def blocks_of(sizes: list[int], scores: list[float]) -> list[list[ScoredDocument]]:
    starts = np.cumsum([1, *sizes])[:-1].tolist()
    return [
        [document(n, scores[n % len(scores)]) for n in range(start, start + size)]
        for start, size in zip(starts, sizes, strict=True)
    ]


@given(SIZES, st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=50), st.integers(2, 40))
def test_bins_of_scores_lose_no_document_and_no_extreme(sizes: list[int], scores: list[float], most: int) -> None:
    bins = ScoreBins(most)
    blocks = blocks_of(sizes, scores)
    for block in blocks:
        bins.add(block)
        assert len(bins.all()) <= most + 1 + max(0, math.ceil(math.log2(sum(sizes)))) + 1
    found, everything = bins.all(), [each for block in blocks for each in block]
    assert sum(each.size for each in found) == sum(sizes)
    assert found[0].first == 1 and found[-1].last == sum(sizes)
    assert all(after.first == before.last + 1 for before, after in pairwise(found))
    for each in found:
        part = [one.score for one in everything[each.first - 1 : each.last]]
        assert len(part) == each.size
        assert (each.least, each.most) == (min(part), max(part))
        assert each.least <= each.median <= each.most
        assert each.size > 8 or each.median == pytest.approx(np.median(part))
        assert (each.first_time, each.last_time) == (f"day {each.first}", f"day {each.last}")


@given(SIZES, st.integers(2, 40))
def test_bins_of_scores_do_not_depend_on_how_the_stream_is_cut(sizes: list[int], most: int) -> None:
    scores = np.random.default_rng(0).random(97).tolist()
    cut, whole = ScoreBins(most), ScoreBins(most)
    for block in blocks_of(sizes, scores):
        cut.add(block)
    whole.add(blocks_of([sum(sizes)], scores)[0])
    assert cut.all() == whole.all()


def test_medians_of_wide_bins_are_not_biased() -> None:
    scores = np.random.default_rng(0).gamma(2.0, size=65_536)
    bins = ScoreBins(64)
    bins.add([document(number, score) for number, score in enumerate(scores.tolist(), start=1)])
    found = bins.all()
    assert min(each.size for each in found) >= 1024
    errors = [each.median - np.median(scores[each.first - 1 : each.last]) for each in found]
    assert abs(np.mean(errors)) < 0.03 and np.max(np.abs(errors)) < 0.25


def test_the_threshold_of_a_bin_is_the_last_one_and_infinity_is_none() -> None:
    bins = ScoreBins(2)
    bins.add([document(1, 0.1, threshold=None), document(2, 0.1, threshold=math.inf)])
    assert [each.threshold for each in bins.all()] == [None]
    bins.add([document(3, 0.1, threshold=0.7), document(4, 0.1, threshold=math.inf)])
    assert [each.threshold for each in bins.all()] == [0.7]


@given(SIZES, st.integers(1, 20))
def test_bins_of_topics_keep_all_energy_and_stay_few(sizes: list[int], most: int) -> None:
    bins = TopicBins(most)
    energies = np.random.default_rng(0).random((len(sizes), 5))
    for block, shares in zip(blocks_of(sizes, [0.5]), energies, strict=True):
        bins.add(block, shares)
        assert len(bins.all()) <= most
    found = bins.all()
    assert sum(each.size for each in found) == sum(sizes)
    np.testing.assert_allclose(sum(each.energies for each in found), energies.sum(axis=0))
    # Each bin is made of whole blocks, with their energy.
    ends = np.cumsum(sizes)
    for each in found:
        inside = (ends >= each.first) & (ends <= each.last)
        assert sum(np.array(sizes)[inside]) == each.size == each.last - each.first + 1
        np.testing.assert_allclose(each.energies, energies[inside].sum(axis=0))


def test_topics_that_come_later_were_at_nothing_before() -> None:
    report = StreamReport()
    report.add([document(1, 0.5)], np.zeros(0))
    assert report.topics.n_topics == 0
    given_energies = np.array([0.5, 0.1])
    report.add([document(2, 0.5)], given_energies)
    given_energies[:] = 7.0
    report.add([document(3, 0.5)], np.zeros(0))
    assert [each.energies.tolist() for each in report.topics.all()] == [[0.0, 0.0], [0.5, 0.1], [0.0, 0.0]]


@pytest.mark.parametrize("energies", [[0.1], [0.1, 0.2, 0.3], [0.1, -0.2], [0.1, math.nan], [[0.1, 0.2]]])
def test_wrong_energies_are_refused_before_anything_is_collected(energies: list[Any]) -> None:
    report = StreamReport()
    report.add([document(1, 0.5)], np.array([0.5, 0.1]))
    before = report.to_json()
    with pytest.raises(ValueError, match="topic_energies"):
        report.add([document(2, 0.5)], np.array(energies))
    assert report.to_json() == before


def test_scores_that_are_no_numbers_are_refused() -> None:
    report = StreamReport()
    with pytest.raises(ValueError, match="document 2 has the score nan"):
        report.add([document(1, 0.5), document(2, math.nan)], np.zeros(0))
    assert report.n_documents == 0


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.4]), max_size=60), st.integers(1, 12))
def test_the_highest_flagged_documents_are_kept_and_of_equal_ones_the_first(scores: list[float], most: int) -> None:
    flagged = FlaggedDocuments(most)
    for number, score in enumerate(scores, start=1):
        flagged.add(document(number, score, novel=True))
    best = sorted(range(1, len(scores) + 1), key=lambda number: (-scores[number - 1], number))[:most]
    assert flagged.count == len(scores)
    assert [each.number for each in flagged.all()] == sorted(best)


def test_counts_are_exact_for_a_long_stream() -> None:
    report = StreamReport()
    random = np.random.default_rng(0)
    novel = random.random(20_000) < 0.2
    for start in range(0, len(novel), 500):
        block = [
            document(n + 1, random.random(), novel=bool(novel[n]), threshold=None if n < 700 else 0.5)
            for n in range(start, start + 500)
        ]
        report.add(block, np.ones(3))
    assert (report.n_documents, report.n_flagged, report.n_warming_up) == (20_000, int(novel.sum()), 700)
    assert len(report.flagged.all()) == 2000 < report.n_flagged
    assert 1000 <= len(report.scores.all()) <= 2020 and len(report.topics.all()) == 40
    assert report.threshold == 0.5
    assert report.typical_score == pytest.approx(0.5, abs=0.02)


@settings(max_examples=30)
@given(st.lists(st.integers(1, 300), min_size=2, max_size=12), st.data())
def test_a_resumed_report_goes_on_as_if_nothing_had_happened(sizes: list[int], data: st.DataObject) -> None:
    random = np.random.default_rng(sum(sizes))
    blocks = []
    for block in blocks_of(sizes, random.random(101).tolist()):
        explained = [
            each._replace(novel=each.score > 0.8, explanation=explanation(each.number) if each.number % 2 else None)
            for each in block
        ]
        blocks.append((explained, random.random(4)))
    stop = data.draw(st.integers(0, len(blocks)))
    whole, part = small_report(), small_report()
    for block, energies in blocks:
        whole.add(block, energies)
    for block, energies in blocks[:stop]:
        part.add(block, energies)
    resumed = StreamReport.from_json(json.loads(json.dumps(part.to_json(), allow_nan=False)))
    for block, energies in blocks[stop:]:
        resumed.add(block, energies)
    assert resumed.to_json() == whole.to_json()
    assert resumed.flagged.all() == whole.flagged.all()


def small_report() -> StreamReport:
    report = StreamReport(rule="fixed")
    report.scores, report.topics, report.flagged = ScoreBins(6), TopicBins(4), FlaggedDocuments(9)
    report.problems = {"empty lines": 2}
    report.documents_per_second = 12.5
    return report


def explanation(number: int) -> Explanation:
    return Explanation(
        (TermShare("quake", 1 / number),),
        (TopicShare(number % 4, ("oil", "crude"), 0.123456789),),
        (EarlierDocument("", "An earlier storm", 1 / 3),),
        ("valparaiso",),
    )


def test_numbers_of_numpy_can_be_saved() -> None:
    report = StreamReport()
    scored = document(1, np.float32(0.75), novel=True, threshold=np.float32(0.5))  # type: ignore[arg-type]
    report.add([scored], np.ones(2, dtype=np.float32))
    report.problems = {"empty lines": np.int64(3)}  # type: ignore[dict-item]
    assert StreamReport.from_json(json.loads(json.dumps(report.to_json()))).to_json() == report.to_json()


def test_texts_of_any_size_and_kind_are_shown_short_and_can_be_written() -> None:
    report = StreamReport()
    hostile = "\ud800\u202e\x00\n</script>" + "W" * 1_000_000
    reasons = Explanation(
        tuple(TermShare(hostile, math.inf) for _ in range(500)),
        tuple(TopicShare(1, (hostile,) * 500, 0.1) for _ in range(500)),
        tuple(EarlierDocument(hostile, hostile, math.nan) for _ in range(500)),
        (hostile,) * 500,
    )
    report.add([ScoredDocument(1, hostile, hostile, hostile, 0.9, 0.5, True, reasons)], np.zeros(0))
    text = json.dumps(report.to_json(), ensure_ascii=False, allow_nan=False)
    assert len(text.encode()) < 10_000
    assert "\u202e" not in text and "�" in text and report.flagged.all()[0].title.startswith("� </script>WWW")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "orthostream stream report 99"}, "its format is 'orthostream stream report 99'"),
        ({"scores": {}}, "damaged"),
        ({"topics": {"most": 200, "width": "wide", "bins": []}}, "damaged"),
        ({"flagged": None}, "damaged"),
        ({"documents": None}, "damaged"),
    ],
)
def test_what_is_no_report_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StreamReport.from_json(small_report().to_json() | change)
