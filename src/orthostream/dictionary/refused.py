"""A learner that refuses its first rows, or a parameter, stays what it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def as_before_if_refused(estimator: Any) -> Iterator[None]:
    """Undo what a block did to an estimator if it fails before a step is taken.

    What a callback interrupts later is kept, and so are rows that wait for a mini-batch.
    """
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        now = estimator.__dict__
        state = now.get("state_")
        took_a_step = state is not None and state is not before.get("state_") and state.t > 0
        waits = now.get("pending_") is not None and now.get("pending_") is not before.get("pending_")
        if not took_a_step and not waits:
            now.clear()
            now.update(before)
        raise
