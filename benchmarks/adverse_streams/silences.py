"""When the signal is there: bursts, silences, stretches of something else, scales that change."""

from __future__ import annotations

import numpy as np

from .stream import BATCH, FAINT, SPARSITY, Stream, cut, in_turns, plain_rows


def bursts(rng: np.random.Generator, steps: int, on: int = 100, off: int = 400, faint: float = FAINT) -> Stream:
    """Interrupt the signal by faint noise: ``on`` samples of one, ``off`` of the other, and so on."""
    return _interrupted(rng, steps, on, off, faint)


def gaussian_stretches(rng: np.random.Generator, steps: int, on: int = 500, off: int = 500) -> Stream:
    """Interrupt the signal by normal samples of the same covariance, which tell nothing."""
    return _interrupted(rng, steps, on, off, SPARSITY**0.5)


def noise_stretches(rng: np.random.Generator, steps: int, on: int = 200, off: int = 200, noise: float = 0.1) -> Stream:
    """Interrupt the signal by noise that is weaker than it."""
    return _interrupted(rng, steps, on, off, noise)


def late_signal(rng: np.random.Generator, steps: int, silent: float = 0.6, faint: float = FAINT) -> Stream:
    """Begin with faint noise, for more than half of the stream."""
    truth, rows = plain_rows(rng, steps)
    first = round(silent * steps) * BATCH
    rows[:first] = faint * rng.standard_normal(rows[:first].shape)
    return cut(truth, rows)


def ramp(rng: np.random.Generator, steps: int, factor: float = 1e6) -> Stream:
    """Let the scale grow by a factor from the first sample to the last, evenly in the logarithm."""
    truth, rows = plain_rows(rng, steps)
    return cut(truth, rows * np.geomspace(1.0, factor, len(rows))[:, np.newaxis])


def jumps(rng: np.random.Generator, steps: int, factor: float = 1e3, samples: int = 2000) -> Stream:
    """Let the scale jump up by a factor, and down again, and so on."""
    truth, rows = plain_rows(rng, steps)
    rows[~in_turns(len(rows), samples, samples)] *= factor
    return cut(truth, rows)


def _interrupted(rng: np.random.Generator, steps: int, on: int, off: int, noise: float) -> Stream:
    truth, rows = plain_rows(rng, steps)
    quiet = ~in_turns(len(rows), on, off)
    rows[quiet] = noise * rng.standard_normal((quiet.sum(), rows.shape[1]))
    return cut(truth, rows)
