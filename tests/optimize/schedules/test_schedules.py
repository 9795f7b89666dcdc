"""The contract of a schedule, kept by every one of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orthostream.optimize import (
    AdaptiveSchedule,
    ConstantSchedule,
    CoolThenConstant,
    MeanThenForget,
    MokhtariSchedule,
    PaperSchedule,
    Schedule,
    schedules,
)

CASES = {
    "AdaptiveSchedule": AdaptiveSchedule(),
    "AdaptiveSchedule(60)": AdaptiveSchedule(60.0, half_life_per_atom=6.0),
    "ConstantSchedule": ConstantSchedule(),
    "ConstantSchedule(1, 1)": ConstantSchedule(1.0, 1.0),
    "CoolThenConstant(0.1)": CoolThenConstant(0.1),
    "CoolThenConstant(60)": CoolThenConstant(60.0),
    "CoolThenConstant(1e9)": CoolThenConstant(1e9),
    "MeanThenForget(0.1)": MeanThenForget(0.1),
    "MeanThenForget(2000)": MeanThenForget(2000.0),
    "MokhtariSchedule": MokhtariSchedule(),
    "PaperSchedule": PaperSchedule(),
}
each_schedule = pytest.mark.parametrize("schedule", CASES.values(), ids=CASES)

STEPS = sorted({*range(1, 40), *(int(t) for t in np.geomspace(40, 10**6, 300)), 10**6})
LATE = 10**15
"""A step at which every cooling schedule has reached its floor."""

FORGETFUL = (CoolThenConstant, MeanThenForget)


def test_the_table_holds_every_schedule() -> None:
    exported = {name for name in schedules.__all__ if name != "Schedule"}
    assert {type(schedule).__name__ for schedule in CASES.values()} == exported


def test_a_schedule_tells_how_it_was_made() -> None:
    assert repr(CoolThenConstant(60)) == "CoolThenConstant(half_life=60.0)"
    assert repr(PaperSchedule()) == "PaperSchedule()"


@each_schedule
@pytest.mark.parametrize("samples", [1, 6, 1000, 10**7])
def test_weights_are_fractions_that_never_grow(schedule: Schedule, samples: int) -> None:
    last = (1.0, 1.0)
    for t in STEPS:
        weights = schedule.weights(t, samples)
        assert len(weights) == 2
        for weight, before in zip(weights, last, strict=True):
            assert type(weight) is float
            assert 0.0 < weight <= before
        last = weights


@pytest.mark.parametrize(
    ("schedule", "t", "rho", "gamma"),
    [
        (PaperSchedule(), 1, 1.0, 2.0 * 3.0**-0.75),
        (PaperSchedule(), 14, 1.0, 0.25),
        (PaperSchedule(), 15, 1.0, 2.0 * 17.0**-0.75),
        (PaperSchedule(), 16, 4.0 / math.sqrt(17.0), 2.0 * 18.0**-0.75),
        (PaperSchedule(), 9_999, 0.04, 2.0 * 10_001**-0.75),
        (PaperSchedule(), 65_534, 4.0 / math.sqrt(65_535.0), 2.0**-11),
        (MokhtariSchedule(), 1, 4.0 / 9.0 ** (2.0 / 3.0), 2.0 / 9.0),
        (MokhtariSchedule(), 19, 4.0 / 9.0, 2.0 / 27.0),
        (MokhtariSchedule(), 992, 0.04, 0.002),
        (ConstantSchedule(), 1, 0.03, 1.0),
        (ConstantSchedule(0.2, 0.1), 10**6, 0.2, 0.1),
        (CoolThenConstant(60.0), 1, 1.0, 2.0 * 3.0**-0.75),
        (CoolThenConstant(6.0), LATE, 0.5, 0.25),
        (CoolThenConstant(12.0), LATE, 1.0 - math.sqrt(0.5), 0.5 - 0.5 * math.sqrt(0.5)),
        (CoolThenConstant(3.0), LATE, 0.75, 0.375),
        (MeanThenForget(60.0), 1, 1.0, 1.0),
        (MeanThenForget(60.0), 7, 1.0 / 7.0, 1.0),
        (MeanThenForget(60.0), 100, 1.0 - 0.5**0.1, 1.0),
        (MeanThenForget(12.0), LATE, 1.0 - math.sqrt(0.5), 1.0),
    ],
)
def test_known_values(schedule: Schedule, t: int, rho: float, gamma: float) -> None:
    assert schedule.weights(t, 6) == pytest.approx((rho, gamma), rel=1e-12)


def test_cooling_follows_the_paper_until_the_floor() -> None:
    schedule, paper = CoolThenConstant(6000.0), PaperSchedule()
    floor = 1.0 - 0.5 ** (6 / 6000.0)
    seen = set()
    for t in (*STEPS, 10**8):
        rho, gamma = paper.weights(t, 6)
        assert schedule.weights(t, 6) == (max(rho, floor), max(gamma, 0.5 * floor))
        seen |= {rho > floor, (gamma > 0.5 * floor, "gamma")}
    assert seen == {True, False, (True, "gamma"), (False, "gamma")}  # both sides of both floors were visited


def kept(schedule: Schedule, sizes: list[int]) -> float:
    """Return the weight that the past has left after mini-batches of these sizes."""
    return math.prod(1.0 - schedule.weights(LATE + i, size)[0] for i, size in enumerate(sizes))


@pytest.mark.parametrize("kind", FORGETFUL)
def test_two_batches_of_three_forget_as_much_as_one_of_six(kind: Any) -> None:
    schedule = kind(10.0)
    assert kept(schedule, [3, 3]) == pytest.approx(kept(schedule, [6]), rel=1e-12)


@pytest.mark.parametrize("kind", FORGETFUL)
def test_half_of_the_past_is_gone_after_a_half_life(kind: Any) -> None:
    assert kept(kind(60.0), [6] * 10) == pytest.approx(0.5, rel=1e-12)
    assert kept(kind(60.0), [1] * 60) == pytest.approx(0.5, rel=1e-12)
    assert kept(kind(60.0), [6] * 20) == pytest.approx(0.25, rel=1e-12)


@settings(deadline=None, max_examples=60)
@given(
    kind=st.sampled_from(FORGETFUL),
    half_life=st.floats(2.0, 1e4),
    sizes=st.lists(st.integers(1, 50), min_size=1, max_size=20),
)
def test_memory_does_not_depend_on_how_the_stream_is_cut(kind: Any, half_life: float, sizes: list[int]) -> None:
    assert kept(kind(half_life), sizes) == pytest.approx(0.5 ** (sum(sizes) / half_life), rel=1e-9)


def test_first_steps_weigh_all_mini_batches_alike() -> None:
    past = np.zeros(8)
    for t in range(1, 9):
        rho = MeanThenForget(1e6).weights(t, 5)[0]
        past *= 1.0 - rho
        past[t - 1] = rho
    np.testing.assert_allclose(past, 1 / 8, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, -0.1, 1.0000001, np.inf, np.nan])
@pytest.mark.parametrize("name", ["rho", "gamma"])
def test_constant_weights_must_be_fractions(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{name} must lie in \(0, 1\], got {value}"):
        ConstantSchedule(**{name: value})


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("kind", FORGETFUL)
def test_half_life_must_be_positive_and_finite(kind: Any, value: float) -> None:
    with pytest.raises(ValueError, match=f"half_life must be positive and finite, got {value}"):
        kind(value)
