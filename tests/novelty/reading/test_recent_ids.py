"""Identifiers that come again are noticed, in bounded memory."""

from __future__ import annotations

import tracemalloc

from orthostream.novelty.reading.recent_ids import RecentIds


def test_the_last_ones_are_remembered() -> None:
    recent = RecentIds(100)
    for number in range(1000):
        assert recent.add(str(number))
    assert not any(recent.add(str(number)) for number in range(900, 1000))
    assert recent.add("0")


def test_one_that_keeps_coming_is_never_forgotten() -> None:
    recent = RecentIds(10)
    recent.add("again")
    for number in range(100):
        recent.add(str(number))
        assert not recent.add("again")


def test_memory_is_bounded() -> None:
    recent = RecentIds(1000)
    tracemalloc.start()
    for number in range(50_000):
        recent.add(f"{number} is an identifier" * 10)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 500_000
