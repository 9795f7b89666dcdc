"""Dictionaries that do not stay."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

from .stream import BATCH, SIZE, Stream, orthonormal, sparse_codes


def abrupt_change(rng: np.random.Generator, steps: int) -> Stream:
    """Change to another dictionary in the middle."""
    return _following(rng, np.stack([orthonormal(rng), orthonormal(rng)])[2 * np.arange(steps) // steps])


def regimes(rng: np.random.Generator, steps: int, turns: int = 5) -> Stream:
    """Alternate between two dictionaries; the last turn is the last fifth of the stream."""
    return _following(rng, np.stack([orthonormal(rng), orthonormal(rng)])[turns * np.arange(steps) // steps % 2])


def drift(rng: np.random.Generator, steps: int, angle: float = 0.002) -> Stream:
    """Turn every atom by an angle with each mini-batch, always in the same plane."""
    truth, axes = orthonormal(rng), orthonormal(rng)
    half = SIZE // 2
    quarter = np.block([[np.zeros((half, half)), -np.eye(half)], [np.eye(half), np.zeros((half, half))]])
    angles = angle * np.arange(steps)[:, np.newaxis, np.newaxis]
    turned: FloatArray = axes @ (np.cos(angles) * np.eye(SIZE) + np.sin(angles) * quarter) @ axes.T @ truth
    return _following(rng, turned)


def _following(rng: np.random.Generator, truths: FloatArray) -> Stream:
    codes = sparse_codes(rng, len(truths) * BATCH).reshape(len(truths), BATCH, SIZE)
    return Stream(truths, iter(codes @ truths.mT))
