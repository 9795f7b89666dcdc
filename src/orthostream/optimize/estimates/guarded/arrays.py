"""The array operations of a guarded hand-over in NumPy, for one problem or a stack of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.estimates.guarded.constants import FAINT, SHIFT_ANCHOR, SILENCE, TINY
from orthostream.optimize.estimates.guarded.layout import (
    ANCHOR,
    COURSE,
    FIRST_MOMENT,
    GRADIENT,
    MOMENTS,
    POINT,
    SECOND_MOMENT,
    THIRD_MOMENT,
)
from orthostream.optimize.objectives.base import Batch, columns_times, rows_times


class Admitted(NamedTuple):
    """A mini-batch after the door: each sample times its factor, and with its weight."""

    factors: FloatArray
    weights: FloatArray
    samples: list[float]
    """The sum of the weights, of each problem."""
    counts: list[list[float]]
    """How many samples are longer than the limit, shorter, and silent, of each problem."""


def squared_lengths(batch: Batch) -> FloatArray:
    """Return the squared length of each sample."""
    if isinstance(batch, np.ndarray):
        return np.asarray(np.vecdot(batch, batch))
    return np.asarray(batch.power(2).sum(axis=1)).reshape(-1)


def typical_lengths(squares: FloatArray, weights: FloatArray | None) -> list[float]:
    """Return the mean of the logarithm of the squared lengths that are not zero, of each problem."""
    alive = (squares > 0.0) * (1.0 if weights is None else weights)
    means = np.vecdot(np.log(np.where(squares > 0.0, squares, 1.0)), alive) / np.maximum(alive.sum(axis=-1), TINY)
    typical: list[float] = np.reshape(means, -1).tolist()
    return typical


def admit(squares: FloatArray, weights: FloatArray | None, limits: FloatArray) -> Admitted:
    """Return the factors that cut long samples to the limit, and the weights without silent samples."""
    limit = limits[..., None]
    loud, longer = squares >= SILENCE * limit, squares > limit
    factors = np.sqrt(limit / np.maximum(squares, limit))
    counted = (squares > 0.0) * (1.0 if weights is None else weights)
    admitted = loud * counted
    long, samples, total = (np.reshape(one.sum(axis=-1), -1) for one in (longer * counted, admitted, counted))
    counts: list[list[float]] = np.stack([long, samples - long, total - samples], axis=-1).tolist()
    return Admitted(factors, admitted, samples.tolist(), counts)


def shortened(batch: Batch, factors: FloatArray) -> Batch:
    """Return the rows times their factors."""
    if isinstance(batch, np.ndarray):
        return batch * factors[..., None]
    return batch.multiply(factors[:, None]).tocsr()


def mean_sample(batch: Batch, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the samples and of their squared lengths, for shares that sum to 1."""
    return columns_times(batch, shares[..., None])[..., 0], np.vecdot(squared_lengths(batch), shares)


def leads(
    matrices: FloatArray, cut: Batch, own: Batch, weights: FloatArray, units: FloatArray
) -> list[tuple[float, float, float]]:
    """Return by how much the course's codes are sparser than the anchor's: in l3, the l3 contrast, and in l1."""
    unit = units[..., None, None]
    course, anchor = (np.abs(rows_times(cut, matrices[..., which, :, :])) * unit for which in (COURSE, ANCHOR))
    own_course, own_anchor = course, anchor
    if own is not cut:
        own_course, own_anchor = (
            np.abs(rows_times(own, matrices[..., which, :, :])) * unit for which in (COURSE, ANCHOR)
        )
    ours, theirs = (course**3).sum(axis=-1), (anchor**3).sum(axis=-1)
    less = (own_anchor - own_course).sum(axis=-1) * np.sqrt(np.vecdot(course, course))
    if matrices.shape[-2] != matrices.shape[-1]:
        less *= 0.0
    found = [np.reshape(np.vecdot(one, weights), -1).tolist() for one in (ours - theirs, ours, less)]
    return list(zip(*found, strict=True))


def teach_anchor(
    matrices: FloatArray, moments: FloatArray, cut: Batch, shares: FloatArray, units: FloatArray, rho: FloatArray
) -> None:
    """Add the l3 gradient of a mini-batch to that of the anchor; a multiple of the energy is subtracted from l3."""
    features, atoms = matrices.shape[-2:]
    z = rows_times(cut, matrices[..., POINT, :, :]) * units[..., None, None]
    powers = np.empty((*z.shape[:-2], MOMENTS, *z.shape[-2:]))
    size = np.abs(z, out=powers[..., FIRST_MOMENT, :, :])
    np.multiply(size, size, out=powers[..., SECOND_MOMENT, :, :])
    np.multiply(size, powers[..., SECOND_MOMENT, :, :], out=powers[..., THIRD_MOMENT, :, :])
    moments += rho[..., None, None] * ((shares[..., None, None, :] @ powers)[..., 0, :] - moments)
    shift: FloatArray | float = 0.0
    if features == atoms:
        first, second, third = (moments[..., k, :] for k in (FIRST_MOMENT, SECOND_MOMENT, THIRD_MOMENT))
        strong = second > FAINT * second.mean(axis=-1, keepdims=True)
        pull = np.where(strong, third / np.where(strong, second, 1.0), np.inf).min(axis=-1)
        shift = SHIFT_ANCHOR * np.minimum(2.0 * first.mean(axis=-1), pull)[..., None, None]
    score = size - shift
    score *= z
    score *= (shares * units[..., None])[..., None]
    gradient, weight = matrices[..., GRADIENT, :, :], rho[..., None, None]
    gradient *= 1.0 - weight
    gradient -= weight * columns_times(cut, score)


def choose(which: BoolArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Return matrices of one stack where ``which`` is true, and of another elsewhere."""
    return np.where(which[..., None, None], one, other)
