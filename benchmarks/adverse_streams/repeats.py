"""Samples that come more than once, so that many rows hold little evidence."""

from __future__ import annotations

import numpy as np

from .stream import BATCH, Stream, cut, plain_rows


def repeated_samples(rng: np.random.Generator, steps: int, times: int = 50) -> Stream:
    """Each sample comes so many times in a row."""
    return _repeated(rng, steps, np.arange(steps * BATCH) // times)


def repeated_batches(rng: np.random.Generator, steps: int, times: int = 10) -> Stream:
    """Each mini-batch comes so many times in a row."""
    batch, row = np.divmod(np.arange(steps * BATCH), BATCH)
    return _repeated(rng, steps, batch // times * BATCH + row)


def cycled(rng: np.random.Generator, steps: int, samples: int = 200) -> Stream:
    """A finite data set, over and over in the same order."""
    return _repeated(rng, steps, np.arange(steps * BATCH) % samples)


def _repeated(rng: np.random.Generator, steps: int, which: np.ndarray[tuple[int], np.dtype[np.int_]]) -> Stream:
    truth, rows = plain_rows(rng, steps)
    return cut(truth, rows[which])
