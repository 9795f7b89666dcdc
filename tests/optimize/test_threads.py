"""One BLAS thread inside a block, and what was set before outside of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from orthostream.optimize.threads import one_blas_thread

MANY = 3


def blas_threads() -> list[int]:
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def _many() -> Iterator[None]:
    """Start every test with several threads, however few the machine or the environment offers."""
    with threadpool_limits(MANY, user_api="blas"):
        yield


def several() -> list[int]:
    """Return what the libraries took of the wish for several threads, or skip where they all refused."""
    threads = blas_threads()
    if not threads or max(threads) == 1:
        pytest.skip("no BLAS here can take more than one thread")
    return threads


def test_every_blas_is_limited_and_restored() -> None:
    before = several()
    with one_blas_thread():
        assert blas_threads() == [1] * len(before)
    assert blas_threads() == before


def test_limit_is_lifted_on_an_exception() -> None:
    before = several()
    seen = []

    def fail() -> None:
        seen.extend(blas_threads())
        raise KeyError

    with pytest.raises(KeyError), one_blas_thread():
        fail()
    assert set(seen) == {1}
    assert blas_threads() == before


def test_blocks_may_be_nested() -> None:
    before = several()
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}  # the inner block does not end the outer one
    assert blas_threads() == before


def test_blocks_may_follow_each_other() -> None:
    before = several()
    limit = one_blas_thread()
    for _ in range(3):
        with limit:
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_one_thread_stays_one() -> None:
    several()
    with threadpool_limits(1, user_api="blas"):
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}


def test_what_was_changed_within_is_undone() -> None:
    before = several()
    with one_blas_thread():
        threadpool_limits(2, user_api="blas")
    assert blas_threads() == before
