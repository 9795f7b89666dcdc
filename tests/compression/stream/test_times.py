"""When samples were taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orthostream.compression.errors import FrameError
from orthostream.compression.stream.times import SampleTimes

LAST = 2**63 - 1


def there_and_back(frames: list[list[int]]) -> list[int | None]:
    """Send times frame by frame; return the bytes that each frame took, None for no section at all."""
    sender, receiver = SampleTimes(), SampleTimes()
    sizes: list[int | None] = []
    for times in frames:
        section = sender.encode(list(times))
        assert receiver.decode(section, len(times)) == times
        sizes.append(None if section is None else len(section))
    return sizes


def test_a_steady_step_is_told_once() -> None:
    frames = np.arange(1_500_000_000, 1_500_000_000 + 3600 * 50, 3600).reshape(-1, 10).tolist()
    sizes = there_and_back(frames)
    assert sizes[0] is not None and sizes[0] <= 10
    assert sizes[1:] == [None] * 4


def test_single_samples_learn_the_step() -> None:
    assert there_and_back([[1000], [1060], [1120], [1180]])[-1] is None


def test_a_gap_costs_a_few_bytes() -> None:
    frames = [[start + 600 * i for i in range(24)] for start in (0, 24_000, 38_400)]
    sizes = there_and_back(frames)
    assert all(size is None or size <= 16 for size in sizes)


def test_jitter_costs_bits_not_bytes_where_ticks_are_coarse() -> None:
    generator = np.random.default_rng(0)
    times = (np.arange(480) * 1000 + generator.integers(-3, 4, 480)).reshape(-1, 24).tolist()
    assert sum(size or 0 for size in there_and_back(times)[1:]) <= 1.3 * 456


def test_nanoseconds() -> None:
    start = 1_700_000_000_000_000_000
    sizes = there_and_back([[start + i * 10**9 for i in range(24)], [start + (24 + i) * 10**9 for i in range(24)]])
    assert sizes[1] is None
    there_and_back([[start, start + 1, start + 10**18], [start - 10**18, start, start + 3]])


@pytest.mark.parametrize(
    "frames",
    [
        [[0]],
        [[5, 5, 5], [5, 5]],
        [[10, 9, 8], [7, 6], [100, 3]],
        [[-5, 7, -100], [3], [4, 4, 4]],
        [[0, 10, 20], [30, 41, 50], [60, 70, 80], [90]],
        [[2**58, 2**58 + 7], [0], [-(2**58)], [1]],
    ],
)
def test_odd_orders(frames: list[list[int]]) -> None:
    there_and_back(frames)


ordinary = st.integers(-1000, 1000)
#: Up to dates in nanoseconds, and far from where 64 bits end.
anything = ordinary | st.integers(-(2**58), 2**58)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(anything, min_size=1, max_size=6), min_size=1, max_size=5))
@example([[0, 1, 2], [3, 4], [2**58], [-(2**58), 0]])
def test_any_times_come_back(frames: list[list[int]]) -> None:
    there_and_back(frames)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=60), st.integers(1, 9))
def test_increasing_times_come_back(steps: list[int], size: int) -> None:
    times = np.cumsum(steps).tolist()
    there_and_back([times[start : start + size] for start in range(0, len(times), size)])


@pytest.mark.parametrize(
    "frames",
    [[[LAST - 2, LAST], [5, 7]], [[0, 2**61], [0, 0, 0]], [[2**62, -(2**62)], [0]], [[-LAST, 0, LAST], [0, 1]]],
)
def test_after_the_last_time_there_is_an_earlier_one(frames: list[list[int]]) -> None:
    there_and_back(frames)


def test_the_widest_step() -> None:
    there_and_back([[-LAST, LAST]])


def test_the_smallest_time() -> None:
    there_and_back([[-LAST - 1, -LAST]])


def test_nothing_is_known_at_first() -> None:
    with pytest.raises(FrameError, match="without times"):
        SampleTimes().decode(None, 3)
    with pytest.raises(FrameError, match="before any time"):
        SampleTimes().decode(b"\x01\x00", 3)


def test_restart_forgets() -> None:
    times = SampleTimes()
    first = times.encode([10, 20])
    assert times.encode([30]) is None
    times.restart()
    assert times.encode([10, 20]) == first
    times.restart()
    with pytest.raises(FrameError):
        times.decode(None, 1)


@pytest.mark.parametrize(
    "section",
    [
        b"",
        b"\x03",
        b"\xff",
        b"\x00",
        b"\x00\x05",
        b"\x02" + bytes(23),
        b"\x00" + b"\xff" * 9 + b"\x01" + b"\xff" * 9 + b"\x01",
    ],
)
def test_sections_that_nobody_writes(section: bytes) -> None:
    with pytest.raises(FrameError):
        SampleTimes().decode(section, 3)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=40), st.integers(1, 20), st.booleans())
def test_hostile_sections(section: bytes, count: int, begun: bool) -> None:
    times = SampleTimes()
    if begun:
        times.encode([0, 10, 20])
    try:
        decoded = times.decode(section, count)
    except FrameError:
        return
    assert len(decoded) == count
    assert all(abs(time) <= 2**63 for time in decoded)
    np.array(decoded, dtype=np.int64)
