"""The mean that a learner subtracts from samples: given, or a running mean of the stream."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from orthostream import _checks
from orthostream._typing import FloatArray

#: Samples per atom after which a running mean forgets: a new sample never weighs less than one in so many.
MEMORY_PER_ATOM = 1000.0


class Centre(ABC):
    """A mean, which is never changed in place: a step that fails leaves the learner with the mean it had."""

    mean: FloatArray

    @abstractmethod
    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Return the centre after these rows, with NaN where a reading is missing."""

    @abstractmethod
    def to_arrays(self) -> dict[str, FloatArray]:
        """Return what a saved file must hold, beside the parameter ``center``."""

    def subtracted(self, rows: FloatArray) -> FloatArray:
        """Return the rows minus the mean."""
        with np.errstate(over="ignore"):  # the learner refuses infinity in words of its own
            return rows - self.mean


class FixedCentre(Centre):
    """A mean that is known before.

    >>> FixedCentre(np.array([1.0, 2.0])).subtracted(np.array([[1.0, np.nan]]))
    array([[ 0., nan]])
    """

    def __init__(self, mean: FloatArray) -> None:
        self.mean = mean

    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        return self

    def to_arrays(self) -> dict[str, FloatArray]:
        return {}


class RunningCentre(Centre):
    """The mean of all samples so far, until their weight reaches ``limit``; then old samples fade.

    Parameters
    ----------
    mean : array of shape (n_features,)
    weight : array of shape (n_features,)
        The weight of the samples in the mean of each feature, which differs where readings were missing.
    limit : float
        The largest weight of the past. A new sample has at least a share of 1 / limit in the mean.

    Examples
    --------
    >>> start = RunningCentre(np.zeros(2), np.zeros(2), limit=100.0)
    >>> start.after(np.array([[1.0, 2.0], [3.0, np.nan]]), None).mean
    array([2., 2.])
    """

    def __init__(self, mean: FloatArray, weight: FloatArray, limit: float) -> None:
        self.mean = mean
        self.weight = weight
        self.limit = limit

    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        if weights is None:
            total = float(len(rows))
            sums = np.add.reduce(rows, axis=0)
        else:
            total = float(weights.sum())
            if total == 0.0:
                return self
            sums = weights @ rows
        if not math.isfinite(np.add.reduce(sums)):
            return self._after_gaps(rows, weights)
        weight = np.minimum(self.weight + total, max(self.limit, total))
        mean = self.mean + (sums - total * self.mean) / weight
        return type(self)(mean, weight, self.limit)

    def _after_gaps(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Do the same for rows with NaN, infinity, or sums that overflow."""
        if np.isinf(rows).any():
            raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
        read = ~np.isnan(rows)
        new = read * (np.ones(len(rows)) if weights is None else weights)[:, None]
        seen = new.sum(axis=0)
        weight = np.minimum(self.weight + seen, np.maximum(self.limit, seen))
        whole = np.where(weight > 0.0, weight, 1.0)
        # Shares add up to 1, so that no sum exceeds the largest reading.
        mean = self.mean * (1.0 - seen / whole) + (np.where(read, rows, 0.0) * (new / whole)).sum(axis=0)
        return type(self)(mean, weight, self.limit)

    def to_arrays(self) -> dict[str, FloatArray]:
        return {"mean": self.mean, "weight": self.weight}


def make_centre(
    center: str | ArrayLike | None, n_features: int, n_atoms: int, before: Centre | None = None
) -> Centre | None:
    """Return the centre that the parameter ``center`` describes; a running mean continues from the one before.

    >>> make_centre([1.0, 2.0], 2, 2).mean
    array([1., 2.])
    >>> make_centre("median", 2, 2)
    Traceback (most recent call last):
    ValueError: center must be 'running' or an array of shape (n_features,), got 'median'.
    """
    if center is None:
        return None
    if isinstance(center, str):
        _checks.one_of("center", center, ("running",), also="an array of shape (n_features,)")
        if isinstance(before, RunningCentre):
            return before
        start = np.zeros(n_features) if before is None else before.mean
        return RunningCentre(start, np.zeros(n_features), MEMORY_PER_ATOM * n_atoms)
    try:
        given = np.array(center, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"center must be None, 'running' or an array of numbers, got {center!r}.") from error
    if given.shape != (n_features,):
        raise ValueError(f"center must have shape {(n_features,)}, got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("center must be finite.")
    return FixedCentre(given)


def restored_centre(center: str | ArrayLike | None, shape: tuple[int, ...], arrays: dict[str, Any]) -> Centre | None:
    """Return the centre of a learner whose dictionary has this shape, with the arrays of a saved file."""
    n_features, n_atoms = shape
    made = make_centre(center, n_features, n_atoms)
    if not isinstance(made, RunningCentre):
        return made
    mean, weight = (np.asarray(arrays[name], dtype=float) for name in ("mean", "weight"))
    if mean.shape != made.mean.shape or weight.shape != made.weight.shape:
        raise ValueError(f"a mean of shape {mean.shape} does not belong to {n_features} features.")
    return RunningCentre(mean, weight, made.limit)
