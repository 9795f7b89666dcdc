"""What tests of all parts share."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.datasets import make_bernoulli_gaussian


@pytest.fixture(scope="session", autouse=True)
def _children_can_be_interrupted() -> Iterator[None]:
    """Let SIGINT reach child processes even if this one ignores it, as a job in the background of a script does.

    A child inherits an ignored signal as ignored, but one with a handler as not handled. So a handler that does nothing
    keeps this process as it was, and its children get Python's own handler.
    """
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: None)
    yield
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.fixture
def airly_folder() -> Path:
    """The folder of the Airly data set, or a skip."""
    folder = Path(os.environ.get("ORTHOSTREAM_DATA", "")) / "airly"
    if not os.environ.get("ORTHOSTREAM_DATA") or not folder.is_dir():
        pytest.skip("ORTHOSTREAM_DATA does not name a folder with the Airly data set")
    return folder


@pytest.fixture
def stream() -> np.ndarray:
    """2,000 samples of 8 features."""
    samples: np.ndarray = make_bernoulli_gaussian(2000, 8, random_state=3).samples
    return samples


@pytest.fixture
def fed():
    """A function that feeds a learner a stream in mini-batches and returns it."""

    def feed(learner: OrthogonalDictionaryLearning, rows, size: int = 10):
        for start in range(0, rows.shape[0], size):
            learner.partial_fit(rows[start : start + size])
        return learner

    return feed
