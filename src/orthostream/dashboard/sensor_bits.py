"""How many bits each sensor takes: an estimate, since sensors are coded together."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

#: Samples that are looked at.
_LAST = 2000


def sensor_bits(decoded: FloatArray, bits_per_reading: float) -> FloatArray:
    """Return the bits per reading of each sensor, estimated by the entropy of its changes.

    The entropies are scaled so that all readings together take what they really took.

    Examples
    --------
    >>> import numpy as np
    >>> sensor_bits(np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 1.0]]), 1.0).tolist()
    [0.0, 2.0]
    """
    rows = decoded[-_LAST:]
    counts = np.isfinite(rows).sum(axis=0)
    entropies = np.array([_entropy(column) for column in rows.T])
    total = float((entropies * counts).sum())
    if total <= 0.0:
        return np.where(counts > 0, bits_per_reading, np.nan)
    scaled = entropies * (bits_per_reading * counts.sum() / total)
    return np.where(counts > 0, scaled, np.nan)


def _entropy(column: FloatArray) -> float:
    changes = np.diff(column[np.isfinite(column)])
    if not len(changes):
        return 0.0
    _, counts = np.unique(np.round(changes, 6), return_counts=True)
    shares = counts / len(changes)
    return max(0.0, float(-(shares * np.log2(shares)).sum()))
