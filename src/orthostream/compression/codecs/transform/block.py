"""A few samples in all the forms that they take on their way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.codecs.transform.adapted_basis import AdaptedBasis
from orthostream.compression.codecs.transform.cosines import cosines
from orthostream.compression.codecs.transform.prediction import HABITS, predicted

#: What is left of the mean after a sample.
_MEAN_KEPT = 0.99


class Block(NamedTuple):
    """What is sent of samples: habits of the leading atom and of the others, planes of bits, values, levels."""

    habits: tuple[int, int]
    missing: IntArray
    outliers: IntArray
    values: FloatArray
    levels: IntArray


class Past(NamedTuple):
    """What both sides remember of the samples so far: the latest, and their slow mean."""

    history: FloatArray
    mean: FloatArray
    period: int

    def predicted(self, habits: tuple[int, int], n_rows: int, leading: FloatArray) -> FloatArray:
        """Return what comes next if the leading atom has one habit and everything else another."""
        first, rest = (predicted(self.history, self.mean, n_rows, self.period, HABITS[habit]) for habit in habits)
        if habits[0] == habits[1]:
            return rest
        along = np.add.accumulate((first - rest) * leading, axis=1)[:, -1]
        samples: FloatArray = rest + along[:, None] * leading
        return samples

    def then(self, rows: FloatArray) -> Past:
        """Return the past after some more samples."""
        mean = self.mean
        for row in rows:
            mean = mean + (1.0 - _MEAN_KEPT) * (row - mean)
        history = np.concatenate([self.history, rows])[-len(self.history) :]
        return self._replace(history=history, mean=mean)


def first_past(n_sensors: int, period: int) -> Past:
    """Return a past of which nothing is known."""
    return Past(np.zeros((period + 1, n_sensors)), np.zeros(n_sensors), period)


def past_of_one(row: FloatArray, period: int) -> Past:
    """Return a past in which one sample has always been the same."""
    return Past(np.tile(row, (period + 1, 1)), np.array(row), period)


def completed(block: Block, expected: FloatArray, basis: AdaptedBasis, step: float) -> FloatArray:
    """Return the samples of a block, with what is expected of missing readings in their places.

    Only coefficients that are not zero are taken back, one frequency and one atom after another: an order that no
    library may change.
    """
    n_rows = len(expected)
    samples = np.array(expected)
    active = np.flatnonzero((block.levels != 0).any(axis=1))
    if not len(active):
        return samples
    amounts = block.levels[active] * step
    courses = np.zeros((len(active), n_rows))
    for amount, cosine in zip(amounts.T, cosines(n_rows), strict=True):
        courses += amount[:, None] * cosine
    for course, atom in zip(courses, basis.components[active], strict=True):
        samples += course[:, None] * atom
    return samples
