"""Fewer atoms than features, and something else that is hard: 5 atoms of 20 features unless said."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray

from .stream import BATCH, Stream, cut, in_turns, orthonormal, sparse_codes

ATOMS, FEATURES, NOISE = 5, 20, 0.05


def _rows(rng: np.random.Generator, steps: int, noise: float | FloatArray = NOISE) -> tuple[FloatArray, FloatArray]:
    """Return a dictionary and noisy samples; each feature may have its own noise."""
    truth = orthonormal(rng, FEATURES, ATOMS)
    rows = sparse_codes(rng, steps * BATCH, ATOMS) @ truth.T
    return truth, rows + noise * rng.standard_normal(rows.shape)


def uneven_noise(rng: np.random.Generator, steps: int, largest: float) -> Stream:
    """Let the noise grow from feature to feature, from nothing to the largest."""
    return cut(*_rows(rng, steps, np.linspace(0.0, largest, FEATURES)))


def normal_direction(rng: np.random.Generator, steps: int, deviation: float) -> Stream:
    """Add a direction outside of the subspace whose coefficient is normal; that of an atom has a deviation of .55."""
    truth, rows = _rows(rng, steps)
    outside = rng.standard_normal(FEATURES)
    outside -= truth @ (truth.T @ outside)
    outside /= np.linalg.norm(outside)
    return cut(truth, rows + deviation * rng.standard_normal((len(rows), 1)) * outside)


def laplacian(rng: np.random.Generator, steps: int) -> Stream:
    """Use Laplacian codes, with noise of a fifth of their deviation."""
    truth = orthonormal(rng, FEATURES, ATOMS)
    rows = rng.laplace(size=(steps * BATCH, ATOMS)) @ truth.T
    return cut(truth, rows + 0.2 * 2.0**0.5 * rng.standard_normal(rows.shape))


def bursts(rng: np.random.Generator, steps: int) -> Stream:
    """Turn the signal on and off, noise included, but for a thousandth of it."""
    truth, rows = _rows(rng, steps)
    return cut(truth, rows * np.where(in_turns(len(rows), 200, 200), 1.0, 1e-3)[:, np.newaxis])


def missing(rng: np.random.Generator, steps: int, part: float) -> Stream:
    """Lose a part of the readings, at random."""
    truth, rows = _rows(rng, steps)
    return cut(truth, np.where(rng.random(rows.shape) < part, np.nan, rows))


def outliers(rng: np.random.Generator, steps: int) -> Stream:
    """Multiply one reading of a thousand by 1,000."""
    truth, rows = _rows(rng, steps)
    return cut(truth, np.where(rng.random(rows.shape) < 0.001, 1000.0 * rows, rows))


def stuck_sensor(rng: np.random.Generator, steps: int) -> Stream:
    """Let the first sensor read 100 in one row of a hundred."""
    truth, rows = _rows(rng, steps)
    rows[rng.random(len(rows)) < 0.01, 0] = 100.0
    return cut(truth, rows)


def repeated(rng: np.random.Generator, steps: int, times: int = 50) -> Stream:
    """Repeat each sample."""
    truth, rows = _rows(rng, -(-steps // times))
    return cut(truth, np.repeat(rows, times, axis=0)[: steps * BATCH])


def abrupt_change(rng: np.random.Generator, steps: int) -> Stream:
    """Change to other atoms in another subspace in the middle."""
    truths = np.stack([orthonormal(rng, FEATURES, ATOMS) for _ in range(2)])
    return _following(rng, truths[2 * np.arange(steps) // steps])


def drift(rng: np.random.Generator, steps: int, angle: float, noise: float = NOISE) -> Stream:
    """Turn the subspace and the atoms in it by an angle with each mini-batch, always in the same planes."""
    axes = orthonormal(rng, FEATURES, FEATURES)
    half = FEATURES // 2
    quarter = np.block([[np.zeros((half, half)), -np.eye(half)], [np.eye(half), np.zeros((half, half))]])
    angles = angle * np.arange(steps)[:, np.newaxis, np.newaxis]
    turned: FloatArray = axes @ (np.cos(angles) * np.eye(FEATURES) + np.sin(angles) * quarter) @ axes.T
    return _following(rng, turned @ orthonormal(rng, FEATURES, ATOMS), noise)


def _following(rng: np.random.Generator, truths: FloatArray, noise: float = NOISE) -> Stream:
    steps = len(truths)
    rows = sparse_codes(rng, steps * BATCH, ATOMS).reshape(steps, BATCH, ATOMS) @ truths.mT
    return Stream(truths, iter(rows + noise * rng.standard_normal(rows.shape)))
