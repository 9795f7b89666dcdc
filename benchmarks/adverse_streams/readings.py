"""What sensors do to readings: offsets, gaps, outliers, saturation, rounding."""

from __future__ import annotations

import numpy as np

from .stream import BATCH, SPARSITY, Stream, cut, plain_rows

#: Of a reading of the plain stream.
DEVIATION = SPARSITY**0.5


def offset(rng: np.random.Generator, steps: int, deviations: float) -> Stream:
    """Add a constant to each sensor; ``deviations`` is its root mean square in deviations of a reading."""
    truth, rows = plain_rows(rng, steps)
    return cut(truth, rows + deviations * DEVIATION * rng.standard_normal(rows.shape[1]))


def drifting_offset(rng: np.random.Generator, steps: int, deviations: float = 0.5) -> Stream:
    """Add an offset to each sensor that swings twice along the stream."""
    truth, rows = plain_rows(rng, steps)
    angles = np.linspace(0.0, 4.0 * np.pi, len(rows))[:, np.newaxis] + rng.uniform(0.0, 2.0 * np.pi, rows.shape[1])
    return cut(truth, rows + deviations * DEVIATION * 2.0**0.5 * np.sin(angles))


def missing(rng: np.random.Generator, steps: int, part: float) -> Stream:
    """Leave out readings at random; each row keeps at least one."""
    truth, rows = plain_rows(rng, steps)
    gaps = rng.random(rows.shape) < part
    gaps[np.arange(len(rows)), rng.integers(rows.shape[1], size=len(rows))] = False
    rows[gaps] = np.nan
    return cut(truth, rows)


def missing_sensors(rng: np.random.Generator, steps: int, sensors: int = 3, samples: int = 200) -> Stream:
    """Leave out some sensors for so many samples, then others."""
    truth, rows = plain_rows(rng, steps)
    for first in range(0, len(rows), samples):
        rows[first : first + samples, rng.choice(rows.shape[1], sensors, replace=False)] = np.nan
    return cut(truth, rows)


def outliers(rng: np.random.Generator, steps: int, part: float = 1e-3, factor: float = 1000.0) -> Stream:
    """Make a few readings far too large."""
    truth, rows = plain_rows(rng, steps)
    rows[rng.random(rows.shape) < part] *= factor
    return cut(truth, rows)


def glitches(rng: np.random.Generator, steps: int, part: float = 1e-3, factor: float = 100.0) -> Stream:
    """Replace a few rows by normal ones that are far too large."""
    truth, rows = plain_rows(rng, steps)
    which = rng.random(len(rows)) < part
    rows[which] = factor * rng.standard_normal((which.sum(), rows.shape[1]))
    return cut(truth, rows)


def one_huge_row(rng: np.random.Generator, steps: int, size: float = 1e100) -> Stream:
    """Make one row in the middle of the stream huge."""
    truth, rows = plain_rows(rng, steps)
    rows[steps // 2 * BATCH] = size * rng.standard_normal(rows.shape[1])
    return cut(truth, rows)


def stuck_sensor(rng: np.random.Generator, steps: int, value: float = 100.0, part: float = 0.01) -> Stream:
    """Let one sensor read the same large value now and then."""
    truth, rows = plain_rows(rng, steps)
    rows[rng.random(len(rows)) < part, rng.integers(rows.shape[1])] = value
    return cut(truth, rows)


def saturated(rng: np.random.Generator, steps: int, deviations: float = 2.0) -> Stream:
    """Cut off readings beyond so many deviations."""
    truth, rows = plain_rows(rng, steps)
    return cut(truth, rows.clip(-deviations * DEVIATION, deviations * DEVIATION))


def quantised(rng: np.random.Generator, steps: int, step: float = 0.1) -> Stream:
    """Round readings to multiples of a step."""
    truth, rows = plain_rows(rng, steps)
    return cut(truth, np.round(rows / step) * step)


def single_precision(rng: np.random.Generator, steps: int) -> Stream:
    """Return rows as float32."""
    truth, rows = plain_rows(rng, steps)
    return cut(truth, rows.astype(np.float32))
