"""Thresholds on streams of scores with a known distribution."""

from __future__ import annotations

import math

import numpy as np
import pytest

from orthostream.novelty.thresholds import FalseAlarmRate, FixedThreshold, RecentQuantile, Threshold

ALL = [FixedThreshold(0.9), RecentQuantile(), RecentQuantile(0.95, window=100), FalseAlarmRate(), FalseAlarmRate(0.001)]


def flagged(threshold: Threshold, scores: np.ndarray, block: int = 100) -> np.ndarray:
    """Return which scores of a stream a threshold flags."""
    memory, found = threshold.begin(), []
    for start in range(0, len(scores), block):
        part = scores[start : start + block]
        above = part > threshold.value(memory)
        memory = threshold.learn(memory, part)
        found.append(above)
    return np.concatenate(found)


@pytest.mark.parametrize("threshold", ALL, ids=repr)
class TestContract:
    def test_repr_makes_an_equal_one(self, threshold: Threshold) -> None:
        assert eval(repr(threshold)) == threshold
        assert hash(eval(repr(threshold))) == hash(threshold)

    def test_nothing_is_flagged_before_anything_was_seen_unless_fixed(self, threshold: Threshold) -> None:
        value = threshold.value(threshold.begin())
        assert value == 0.9 if isinstance(threshold, FixedThreshold) else math.isinf(value)

    def test_memory_is_bounded_and_inputs_are_kept(self, threshold: Threshold) -> None:
        memory, scores = threshold.begin(), np.random.default_rng(0).uniform(size=500)
        before = scores.copy()
        for _ in range(20):
            memory = threshold.learn(memory, scores)
        assert len(memory) <= 2000
        np.testing.assert_array_equal(scores, before)

    def test_equal_scores_flag_nothing(self, threshold: Threshold) -> None:
        assert not flagged(threshold, np.full(3000, 0.5)).any()


@pytest.mark.parametrize(("rate", "factor"), [(0.05, 1.2), (0.01, 1.6), (0.002, 3.2)])
@pytest.mark.parametrize("kind", ["beta(20, 6)", "beta(2, 2)", "normal", "Gumbel"])
def test_the_rate_of_false_alarms(rate: float, factor: float, kind: str) -> None:
    rng = np.random.default_rng(1)
    draw = {
        "beta(20, 6)": lambda: rng.beta(20.0, 6.0, 30_000),
        "beta(2, 2)": lambda: rng.beta(2.0, 2.0, 30_000),
        "normal": lambda: rng.standard_normal(30_000),
        "Gumbel": lambda: rng.gumbel(size=30_000),
    }
    assert rate / factor < flagged(FalseAlarmRate(rate), draw[kind]())[2000:].mean() < factor * rate


def test_scores_crowded_at_their_limit_give_too_few_alarms_rather_than_too_many() -> None:
    scores = np.random.default_rng(1).beta(5.0, 1.0, size=30_000)
    assert flagged(FalseAlarmRate(0.01), scores)[2000:].mean() < 0.01


def test_scores_of_a_few_kinds_of_documents() -> None:
    """Nothing can be extrapolated from clusters of scores, but the number of alarms is bounded."""
    rng = np.random.default_rng(4)
    kinds = rng.choice([0.1, 0.15, 0.2, 0.6], size=30_000, p=[0.4, 0.3, 0.2, 0.1])
    scores = kinds + 0.01 * rng.standard_normal(30_000)
    assert flagged(FalseAlarmRate(0.01), scores)[2000:].mean() < 0.04


def test_novel_documents_do_not_raise_the_threshold() -> None:
    rng = np.random.default_rng(2)
    scores = rng.beta(20.0, 12.0, size=60_000)
    novel = rng.random(len(scores)) < 0.03
    scores[novel] = rng.beta(60.0, 2.0, size=novel.sum())
    found = flagged(FalseAlarmRate(0.01), scores)[5000:]
    assert found[~novel[5000:]].mean() < 0.01
    assert found[novel[5000:]].mean() > 0.9
    # A quantile of all scores flags a fixed share, however many are novel.
    assert flagged(RecentQuantile(0.99), scores)[5000:][novel[5000:]].mean() < 0.4


def test_falling_scores() -> None:
    """As the history grows, scores fall; both adaptive thresholds follow."""
    rng = np.random.default_rng(3)
    level = 0.6 + 0.3 * 0.5 ** (np.arange(40_000) / 5000.0)
    scores = level + 0.05 * rng.standard_normal(len(level))
    for threshold in (RecentQuantile(0.99), FalseAlarmRate(0.01)):
        assert 0.002 < flagged(threshold, scores)[2000:].mean() < 0.02


def test_a_threshold_is_not_above_all_that_was_seen() -> None:
    scores = np.random.default_rng(5).beta(8.0, 1.0, 600)
    assert FalseAlarmRate(0.01).value(scores) <= scores.max()


def test_quantile_of_few_scores_is_not_guessed() -> None:
    threshold = RecentQuantile(0.99)
    assert math.isinf(threshold.value(np.linspace(0, 1, 50)))
    assert threshold.value(np.linspace(0, 1, 101)) == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FixedThreshold(math.nan), "score must be a number from .*, got nan"),
        (lambda: FixedThreshold("high"), "score must be a number from .*, got 'high'"),  # type: ignore[arg-type]
        (lambda: RecentQuantile(1.5), r"quantile must lie in \(0, 1\], got 1.5"),
        (lambda: RecentQuantile(0.9, window=3), "window must be an integer of at least 10, got 3"),
        (lambda: FalseAlarmRate(0.5), "rate must be a number from 0.0001 to 0.1, got 0.5"),
        (lambda: FalseAlarmRate(0.0), "rate must be a number from 0.0001 to 0.1, got 0.0"),
    ],
)
def test_bad_parameters(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
