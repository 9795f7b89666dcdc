"""When samples were taken, as version 2 tells it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.adaptive_times import AdaptiveTimes

LEAST, MOST = -(2**63), 2**63 - 1
K = np.arange(3000)
START = 1_700_000_000


def cut(times: Any, size: int) -> list[list[int]]:
    times = [int(time) for time in times]
    return [times[start : start + size] for start in range(0, len(times), size)]


def there_and_back(frames: list[list[int]]) -> list[int | None]:
    """Send times frame by frame; return the bytes that each frame took, None for no section at all."""
    sender, receiver = AdaptiveTimes(), AdaptiveTimes()
    sizes: list[int | None] = []
    for times in frames:
        section = sender.encode(list(times))
        assert receiver.decode(section, len(times)) == times
        sizes.append(None if section is None else len(section))
    assert sender.to_plain() == receiver.to_plain()
    assert sender.bits == 8 * sum(size or 0 for size in sizes)
    return sizes


def bits_per_sample(times: Any, size: int) -> float:
    return 8 * sum(bytes_ or 0 for bytes_ in there_and_back(cut(times, size))) / len(times)


@pytest.mark.parametrize("unit", [1, 10**3, 10**9])
@pytest.mark.parametrize("step", [0, 1, 60, -60, 3600])
@pytest.mark.parametrize("size", [1, 2, 24, 1000])
def test_a_steady_step_is_told_once(size: int, step: int, unit: int) -> None:
    sizes = there_and_back(cut((START + step * K[:1500]) * unit, size))
    told = 1 if size > 1 or step == 0 else 2
    assert sum(size or 0 for size in sizes[:told]) <= 18
    assert sizes[told:] == [None] * (len(sizes) - told)


@pytest.mark.parametrize("size", [1, 24, 1000, 20_000])
def test_a_gap_costs_a_few_bytes(size: int) -> None:
    k = np.arange(20_000)
    sizes = there_and_back(cut(START + 60 * k + 3540 * (k >= 10_010), size))
    assert sum(size or 0 for size in sizes) <= 20
    assert sum(size is not None for size in sizes) <= 3


@pytest.mark.parametrize(
    ("times", "most"),
    [
        pytest.param(START + np.where(K % 2, 60, 30).cumsum(), 0.06, id="two steps in turn"),
        pytest.param(START + np.where(K // 500 % 2, 60, 1).cumsum(), 0.1, id="two rates"),
        pytest.param(19_000 + np.where(K % 5 == 4, 3, 1).cumsum(), 0.06, id="business days"),
        pytest.param(START + 60 * K - 3600 * (K >= 1500), 0.06, id="clock set back"),
        pytest.param(START + 3600 * K + 3600 * (K // 1000 % 2), 0.1, id="daylight saving"),
        pytest.param(START * 10**6 + np.round(K * 1e6 / 60).astype(int), 0.1, id="60 Hz in microseconds"),
        pytest.param(START * 1000 + K * 1000 // 128, 0.15, id="128 Hz in milliseconds"),
        pytest.param(START * 1000 + np.round(K * 1000.37).astype(int), 0.3, id="a period that is no whole number"),
    ],
)
@pytest.mark.parametrize("size", [1, 24, 1000])
def test_what_recurs_is_almost_free(times: Any, most: float, size: int) -> None:
    assert bits_per_sample(times, size) <= most


def test_business_days_are_expected_after_some_weeks() -> None:
    assert set(there_and_back(cut(19_000 + np.where(K[:300] % 5 == 4, 3, 1).cumsum(), 1))[60:]) == {None}


def test_random_gaps() -> None:
    generator = np.random.default_rng(0)
    gaps = np.where(generator.random(3000) < 0.01, generator.integers(2, 10, 3000), 1)
    for size in (1, 24, 1000):
        assert bits_per_sample(START + 60 * gaps.cumsum(), size) <= 0.3


@pytest.mark.parametrize("ticks", [10**3, 10**6, 10**9])
@pytest.mark.parametrize("walk", [False, True])
def test_jitter_costs_its_entropy(ticks: int, walk: bool) -> None:
    """Around a grid or around the last sample; and ten thousandths of a second in finer ticks cost no more."""
    most = ticks // 20
    jitter = np.random.default_rng(1).integers(-most, most + 1, len(K))
    times = START * ticks + K * ticks + (jitter.cumsum() if walk else jitter)
    assert bits_per_sample(times, 1000) <= math.log2(2 * most + 1) + 0.3
    assert bits_per_sample(times, 24) <= math.log2(2 * most + 1) + 0.5


def test_ticks_finer_than_the_clock_cost_nothing() -> None:
    jitter = np.random.default_rng(2).integers(-50, 51, len(K))
    assert bits_per_sample(((START + K) * 1000 + jitter) * 10**6, 1000) <= math.log2(101) + 0.35


def test_small_jitter() -> None:
    jitter = np.random.default_rng(3).integers(-1, 2, len(K))
    assert bits_per_sample((START + K) * 1000 + jitter, 1000) <= math.log2(3) + 0.15


def test_late_samples_and_a_grid_that_goes_on() -> None:
    generator = np.random.default_rng(4)
    late = np.where(generator.random(len(K)) < 0.02, generator.integers(1, 400, len(K)), 0)
    assert bits_per_sample((START + K) * 1000 + late, 1000) <= 0.5


def test_arrivals_at_random() -> None:
    steps = np.round(np.random.default_rng(5).exponential(1e6, len(K))).astype(int)
    assert bits_per_sample(START * 10**6 + steps.cumsum(), 1000) <= math.log2(math.e * 1e6) + 0.3


def test_anything_costs_little_more_than_itself() -> None:
    times = np.random.default_rng(6).integers(LEAST, MOST, 500)
    assert bits_per_sample(times, 100) <= 67
    assert bits_per_sample(np.sort(times), 100) <= 64 - math.log2(500 / math.e) + 1.5


def test_the_first_frame_is_cheap() -> None:
    jitter = np.random.default_rng(7).integers(-50, 51, 24)
    (size,) = there_and_back([((START + K[:24]) * 1000 + jitter).tolist()])
    assert size is not None and size <= 40


ordinary = st.integers(-1000, 1000)
anything = ordinary | st.integers(LEAST, MOST) | st.sampled_from([LEAST, LEAST + 1, MOST - 1, MOST, 0])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(anything, min_size=1, max_size=9), min_size=1, max_size=9))
@example([[0, 1, 2], [3, 4], [2**58], [-(2**58), 0]])
@example([[MOST - 2, MOST - 1, MOST], [LEAST], [MOST], [LEAST, MOST]])
@example([[LEAST, MOST] * 20, [LEAST]])
@example([[5, 5, 5], [5], [6], [6, 6, 5]])
def test_any_times_come_back(frames: list[list[int]]) -> None:
    there_and_back(frames)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from([0, 1, 7, 60, 60, 60, 61, 120, 10**9]) | st.integers(-9, 9), min_size=1, max_size=200),
    st.lists(st.integers(1, 40), min_size=1),
    st.sampled_from([1, 1000, 10**7]),
)
def test_steps_that_recur_come_back(steps: list[int], sizes: list[int], unit: int) -> None:
    times = (np.cumsum(steps) * unit).tolist()
    frames, at = [], 0
    while at < len(times):
        size = sizes[len(frames) % len(sizes)]
        frames.append(times[at : at + size])
        at += size
    there_and_back(frames)


def test_a_long_stream_of_extremes() -> None:
    generator = np.random.default_rng(8)
    there_and_back(cut(generator.choice([LEAST, -1, 0, 1, MOST], 800), 50))
    there_and_back(cut(generator.choice([LEAST, MOST], 400), 1))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.none() | st.binary(max_size=60), min_size=1, max_size=6), st.integers(1, 60), st.booleans())
@example([b"\xff" * 60] * 6, 60, True)
def test_hostile_sections(sections: list[bytes | None], count: int, begun: bool) -> None:
    times = AdaptiveTimes()
    if begun:
        times.encode([0, 10, 20, 33, 40, MOST - 5, MOST])
    for section in sections:
        before = times.to_plain()
        try:
            decoded = times.decode(section, count)
        except FrameError:
            assert times.to_plain() == before
            continue
        assert len(decoded) == count
        assert all(LEAST <= time <= MOST for time in decoded)


def test_nothing_is_known_at_first() -> None:
    with pytest.raises(FrameError, match="without times"):
        AdaptiveTimes().decode(None, 3)


def test_times_end_with_64_bits() -> None:
    times = AdaptiveTimes()
    times.encode([MOST - 2, MOST - 1])
    assert times.decode(None, 1) == [MOST]
    with pytest.raises(FrameError, match="64 bits"):
        times.decode(None, 1)


def test_restart_forgets_all_but_the_bits() -> None:
    times = AdaptiveTimes()
    first = times.encode([10, 20, 31, 40])
    assert first is not None
    times.restart()
    assert times.encode([10, 20, 31, 40]) == first
    assert times.bits == 16 * len(first)
    times.restart()
    with pytest.raises(FrameError):
        times.decode(None, 1)


@pytest.mark.parametrize("at", [1, 2, 3, 10, 40])
def test_a_saved_state_goes_on_with_the_same_bytes(at: int) -> None:
    generator = np.random.default_rng(9)
    times = np.concatenate([K[:200] * 60, 12_000 + 60 * K[:400] + generator.integers(-3, 4, 400)])
    frames = cut(times, 12)
    sender, receiver = AdaptiveTimes(), AdaptiveTimes()
    for frame in frames[:at]:
        receiver.decode(sender.encode(frame), len(frame))
    text = json.dumps(sender.to_plain())
    loaded, loaded_receiver = AdaptiveTimes(), AdaptiveTimes()
    loaded.from_plain(json.loads(text))
    loaded_receiver.from_plain(receiver.to_plain())
    for frame in frames[at:]:
        section = sender.encode(frame)
        assert loaded.encode(frame) == section
        assert loaded_receiver.decode(section, len(frame)) == frame
    assert loaded.to_plain() == sender.to_plain()


def test_the_same_bytes_for_ever() -> None:
    """An accidental change of the format shows here."""
    times = [0, 1000, 2000, 3003, 3999, 5000, 9000, 10_000, 10_999, 12_000, 12_000, 11_000]
    assert (AdaptiveTimes().encode(times) or b"").hex() == "0029e8ef23a69f71ae409421473aa576b9a4f3"
