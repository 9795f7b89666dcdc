"""Levels for a block of samples: the sender's choices, which the receiver only sees the outcome of."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, FloatArray, IntArray
from orthostream.compression.codecs.transform.block import Past
from orthostream.compression.codecs.transform.cosines import cosines
from orthostream.compression.codecs.transform.level_coder import LARGEST_LEVEL
from orthostream.compression.codecs.transform.prediction import HABITS, predicted

#: How large a coefficient must be, in steps, to be sent at all where few are and where all are, and by how much less
#: than half a step the others are rounded up: zeros are cheap where there are many. A zone for each coefficient after
#: what a level would cost in its place gained nothing: what is left out now is missed by prediction and basis later.
_WIDE_ZONE, _NARROW_ZONE = 0.9, 0.5
_WIDE_BIAS, _NARROW_BIAS = 0.2, 0.05
#: How often gaps are filled anew with what the levels say of them.
_FILLINGS = 6


def best_habits(
    rows: FloatArray, seen: BoolArray, past: Past, components: FloatArray, step: float, costs: FloatArray
) -> tuple[int, int]:
    """Return which habits leave the fewest bits to send, of the leading atom and of the others."""
    scores = []
    for habit in HABITS:
        expected = predicted(past.history, past.mean, len(rows), past.period, habit)
        residual = np.where(seen, rows - expected, 0.0)
        coefficients = cosines(len(rows)) @ residual @ components.T / step
        bits = np.log2(1.0 + coefficients * coefficients)
        scores.append((bits[:, 0].sum(), bits[:, 1:].sum()))
    # In a tie the first habit, hold, wins.
    leading, others = np.argmin(np.array(scores) + costs.T, axis=0)
    return int(leading), int(others)


def best_levels(
    rows: FloatArray, seen: BoolArray, expected: FloatArray, components: FloatArray, step: float
) -> IntArray:
    """Return levels (atoms, frequencies) for readings, NaN or nonsense where not seen.

    What was not seen costs no error whatever is decoded there, so gaps are filled with what the levels say of them and
    the levels are made anew: each round lowers the error of what was seen.
    """
    cosine = cosines(len(rows))
    residual = np.where(seen, rows - expected, 0.0)
    whole = bool(seen.all())
    # What others did is the first guess, without which a sensor that was never seen would be taken to be at zero.
    filled = np.where(seen, residual, residual.sum(axis=1, keepdims=True) / np.maximum(seen.sum(axis=1), 1)[:, None])
    levels = np.zeros((len(components), len(rows)))
    for _ in range(1 if whole else _FILLINGS):
        coefficients = components @ (cosine @ filled).T / step
        size = np.abs(coefficients)
        busy = float((size > 0.5).mean())
        zone = _WIDE_ZONE + (_NARROW_ZONE - _WIDE_ZONE) * busy
        bias = _WIDE_BIAS + (_NARROW_BIAS - _WIDE_BIAS) * busy
        fresh = np.sign(coefficients) * np.where(size < zone, 0.0, np.maximum(np.floor(size + (0.5 - bias)), 1.0))
        if (fresh == levels).all():
            break
        levels = fresh
        filled = np.where(seen, residual, cosine.T @ (levels.T @ components) * step)
    return np.clip(levels, -float(LARGEST_LEVEL), float(LARGEST_LEVEL)).astype(np.int64)
