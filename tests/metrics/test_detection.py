"""DET curves and the detection cost, against scikit-learn and against all thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import det_curve, roc_auc_score

from orthostream.metrics import detection_cost, detection_curve


def case(seed: int, count: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
    """Documents of both kinds, with ties if there are few levels."""
    rng = np.random.default_rng(seed)
    novel = rng.random(count) < 0.3
    novel[:2] = True, False
    return novel, rng.integers(0, levels, count) / levels + 0.2 * novel


@given(seed=st.integers(0, 1000), count=st.integers(2, 60), levels=st.sampled_from([1, 3, 10**6]))
@settings(max_examples=100, deadline=None)
def test_rates_are_those_of_all_thresholds(seed: int, count: int, levels: int) -> None:
    novel, scores = case(seed, count, levels)
    thresholds = [np.inf, *np.unique(scores)[::-1]]
    false_alarm, miss = detection_curve(novel, scores)
    np.testing.assert_allclose(false_alarm, [np.mean(scores[~novel] >= one) for one in thresholds], rtol=1e-12)
    np.testing.assert_allclose(miss, [np.mean(scores[novel] < one) for one in thresholds], atol=1e-12)
    costs = [np.mean(scores[novel] < one) + 4.9 * np.mean(scores[~novel] >= one) for one in thresholds]
    assert detection_cost(novel, scores) == pytest.approx(min(costs), rel=1e-12, abs=1e-12)


@given(seed=st.integers(0, 1000), levels=st.sampled_from([4, 10**6]))
@settings(max_examples=50, deadline=None)
def test_agrees_with_scikit_learn(seed: int, levels: int) -> None:
    novel, scores = case(seed, 80, levels)
    false_alarm, miss = detection_curve(novel, scores)
    assert np.trapezoid(1.0 - miss, false_alarm) == pytest.approx(roc_auc_score(novel, scores), rel=1e-12)
    ours = set(zip(false_alarm.round(9).tolist(), miss.round(9).tolist(), strict=True))
    theirs = det_curve(novel, scores)
    assert set(zip(theirs[0].round(9).tolist(), theirs[1].round(9).tolist(), strict=True)) <= ours


def test_curve_runs_from_no_flag_to_all_flags() -> None:
    false_alarm, miss = detection_curve(*case(3, 200, 50))
    assert (false_alarm[0], miss[0]) == (0.0, 1.0)
    assert (false_alarm[-1], miss[-1]) == (1.0, 0.0)
    assert (np.diff(false_alarm) >= 0.0).all()
    assert (np.diff(miss) <= 0.0).all()


@pytest.mark.parametrize(
    ("novel", "scores", "cost"),
    [
        ([True, False], [1.0, 0.0], 0.0),
        ([True, False], [0.0, 1.0], 1.0),
        ([True, False], [1.0, 1.0], 1.0),
        # One false alarm among 49 costs a tenth, one miss among two a half.
        ([True] + [False] * 49 + [True], [0.9, 0.8] + [0.1] * 48 + [0.7], 0.1),
        ([True] + [False] * 9 + [True], [0.9] + [0.8] * 9 + [0.7], 0.5),
    ],
)
def test_known_costs(novel: list[bool], scores: list[float], cost: float) -> None:
    assert detection_cost(novel, scores) == pytest.approx(cost, rel=1e-12)


def test_false_alarms_may_weigh_otherwise() -> None:
    novel, scores = [True, False, True, False], [0.9, 0.8, 0.7, 0.1]
    assert detection_cost(novel, scores, 0.0) == 0.0
    assert detection_cost(novel, scores, 0.5) == 0.25
    assert detection_cost(novel, scores, 1e6) == 0.5


def test_only_the_order_of_scores_counts() -> None:
    novel, scores = case(5, 100, 30)
    ranks = np.unique(scores, return_inverse=True)[1]
    for changed in (2.0**900 * scores, ranks, ranks**3 - 50.0, 2.0 ** (-20.0 * ranks.max() + 20.0 * ranks)):
        for one, other in zip(detection_curve(novel, scores), detection_curve(novel, changed), strict=True):
            np.testing.assert_array_equal(one, other)
    detection_curve([True, False], [-1.7e308, 1.7e308])


BAD: dict[str, tuple[Any, Any, str]] = {
    "lengths": ([True, False], [1.0, 2.0, 3.0], "vectors of equal length"),
    "matrix": ([[True, False]], [[1.0, 2.0]], "vectors of equal length"),
    "numbers": ([1, 0], [1.0, 2.0], "novel must hold True and False, got values of type int"),
    "words": (["yes", "no"], [1.0, 2.0], "novel must hold True and False"),
    "NaN": ([True, False], [1.0, np.nan], "scores must be finite, got nan"),
    "infinity": ([True, False], [1.0, -np.inf], "scores must be finite, got -inf"),
    "no novel one": ([False, False], [1.0, 2.0], "got 0 novel ones of 2"),
    "all novel": ([True, True], [1.0, 2.0], "got 2 novel ones of 2"),
    "nothing": (np.zeros(0, dtype=bool), [], "got 0 novel ones of 0"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("metric", [detection_curve, detection_cost])
def test_bad_input_is_refused(metric: Any, name: str) -> None:
    novel, scores, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        metric(novel, scores)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "much"])
def test_weight_must_be_a_number(weight: Any) -> None:
    with pytest.raises(ValueError, match=f"false_alarm_weight must be a finite number of at least 0, got .*{weight}"):
        detection_cost([True, False], [1.0, 0.0], weight)
