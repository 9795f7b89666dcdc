"""Samples that come more than once, so that many rows hold little evidence."""

from __future__ import annotations

import numpy as np

from orthostream._typing import IntArray

from .stream import BATCH, Stream, cut, plain_rows


def repeated_samples(rng: np.random.Generator, steps: int, times: int = 50) -> Stream:
    """Repeat each sample so many times before the next one."""
    return _repeated(rng, steps, np.arange(steps * BATCH) // times)


def repeated_batches(rng: np.random.Generator, steps: int, times: int = 10) -> Stream:
    """Repeat each mini-batch so many times before the next one."""
    batch, row = np.divmod(np.arange(steps * BATCH), BATCH)
    return _repeated(rng, steps, batch // times * BATCH + row)


def cycled(rng: np.random.Generator, steps: int, samples: int = 200) -> Stream:
    """Repeat a finite data set, always in the same order."""
    return _repeated(rng, steps, np.arange(steps * BATCH) % samples)


def _repeated(rng: np.random.Generator, steps: int, which: IntArray) -> Stream:
    truth, rows = plain_rows(rng, steps)
    return cut(truth, rows[which])
