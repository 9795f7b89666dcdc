"""A running mean of a stream that outliers do not spoil."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from orthostream._typing import FloatArray
from orthostream.dictionary.centre import Centre

#: A sample counts as if it were no farther from the mean than so many times the usual distance.
FARTHEST = 10.0
#: The largest number of samples in the mean square of distances, so that a stream that has moved is followed.
SPREAD_MEMORY = 1000.0
#: The first samples are judged together: so many are kept, and fewer than the second number are not judged.
FIRST_SAMPLES, FEWEST = 20, 5
#: The share of the first samples that may be outliers: the farthest ones, which do not count for the usual distance.
#: That of the others is a rough guide, so that a first sample may be so many times as far.
SUSPECT, FARTHEST_FIRST = 0.2, 100.0


class Spread(NamedTuple):
    """How far samples usually are from the mean."""

    distance: float = 0.0
    """Root of the mean square of a reading minus the mean; 0 if nothing is known."""
    weight: float = 0.0
    """The weight of the samples in it."""


class RunningCentre(Centre):
    """The mean of all samples so far, until their weight reaches ``limit``; then old samples fade.

    A sample whose distance from the mean is more than ten times the usual one counts as if it were at ten times. The
    usual distance is a running root mean square, of limited distances, over 1,000 samples. The first 20 samples are
    kept and judged together, five at least: none is farther than a hundred times the usual distance of all but the
    farthest fifth.

    Parameters
    ----------
    mean : array of shape (n_features,)
    weight : array of shape (n_features,)
        The weight of the samples in the mean of each feature, which differs where readings were missing.
    limit : float
        The largest weight of the past. A new sample has at least a share of 1 / limit in the mean.
    spread : Spread, optional
        Unknown by default: then no sample is limited.
    first : array of shape (n_samples, n_features + 1), optional
        The first samples, and their weights in the last column; None if there were enough of them. By default there are
        none, or None if the mean has a weight.

    Examples
    --------
    >>> start = RunningCentre(np.zeros(2), np.zeros(2), limit=100.0)
    >>> start.after(np.array([[1.0, 2.0], [3.0, np.nan]]), None).mean
    array([2., 2.])
    >>> rows = np.tile([[1.0], [3.0]], (20, 1))
    >>> start = RunningCentre(np.zeros(1), np.zeros(1), limit=100.0).after(rows, None)
    >>> start.after(np.array([[1e100]]), None).mean.round(2)
    array([2.24])
    """

    def __init__(
        self,
        mean: FloatArray,
        weight: FloatArray,
        limit: float,
        spread: Spread = Spread(),  # noqa: B008, it is immutable
        first: FloatArray | None = None,
    ) -> None:
        self.mean = mean
        self.weight = weight
        self.limit = limit
        self.spread = spread
        self.first = np.empty((0, len(mean) + 1)) if first is None and not weight.any() else first

    def after(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        if weights is not None and not weights.any():
            return self
        if self.first is not None:
            return self._after_first(rows, weights)
        away, squares = self._away(rows, rows.shape[1])
        if not math.isfinite(np.add.reduce(squares)) or not self.weight.all():
            return self._after_gaps(rows, weights)
        away, squares = self._limited(away, squares)
        total = float(len(rows)) if weights is None else float(weights.sum())
        sums = np.add.reduce(away, axis=0) if weights is None else weights @ away
        weight = np.minimum(self.weight + total, max(self.limit, total))
        return self._next(self.mean + sums / weight, weight, squares, weights)

    def _after_gaps(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Do the same for rows with NaN or infinity, squares that overflow, and features that were never read."""
        _refuse_infinity(rows)
        read = ~np.isnan(rows)
        known = read & (self.weight > 0.0)
        away, squares = self._away(np.where(known, rows, self.mean), np.maximum(known.sum(axis=1), 1))
        away, squares = self._limited(away, squares)
        # A first reading of a feature has nothing to be far from.
        away = np.where(read & ~known, rows - self.mean, away)
        new = read * (np.ones(len(rows)) if weights is None else weights)[:, None]
        seen = new.sum(axis=0)
        weight = np.minimum(self.weight + seen, np.maximum(self.limit, seen))
        mean = self.mean + (away * (new / _divisor(weight))).sum(axis=0)
        return self._next(mean, weight, squares, weights)

    def _away(self, rows: FloatArray, counts: Any) -> tuple[FloatArray, FloatArray]:
        """Return differences from the mean, and their mean squares in units of the usual one, if that is known."""
        with np.errstate(over="ignore", invalid="ignore"):
            away: FloatArray = rows - self.mean
            relative = away / self.spread.distance if self.spread.distance > 0.0 else away
            return away, np.asarray(np.vecdot(relative, relative) / counts)

    def _limited(self, away: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same differences and mean squares within the limit."""
        if self.spread.distance == 0.0 or squares.max() <= FARTHEST**2:
            return away, squares
        factors = np.minimum(1.0, FARTHEST / np.sqrt(np.maximum(squares, 1.0)))
        limited = np.where(np.isfinite(away), away, 0.0) * factors[:, None]
        return limited, np.minimum(squares, FARTHEST**2)

    def _next(self, mean: FloatArray, weight: FloatArray, squares: FloatArray, weights: FloatArray | None) -> Self:
        """Return the centre with a new mean, and the spread after samples of these mean squares."""
        distance, before = self.spread
        total = float(len(squares)) if weights is None else float(weights.sum())
        share = total / min(before + total, max(SPREAD_MEMORY, total))
        fresh = float(np.add.reduce(squares) if weights is None else weights @ squares) / total
        if distance > 0.0:
            distance *= math.sqrt(1.0 - share + share * fresh)
        elif math.isfinite(fresh):
            distance = math.sqrt(share * fresh)
        spread = Spread(distance, min(before + total, max(SPREAD_MEMORY, total)))
        return type(self)(mean, weight, self.limit, spread)

    def _after_first(self, rows: FloatArray, weights: FloatArray | None) -> Self:
        """Judge all samples so far together."""
        _refuse_infinity(rows)
        assert self.first is not None
        new = np.column_stack([rows, np.ones(len(rows)) if weights is None else weights])
        kept = np.concatenate([self.first, new[new[:, -1] > 0.0]])
        mean, weight, spread = _judged(kept[:, :-1], kept[:, -1], self.mean)
        total = weight.max()
        enough = len(kept) >= FIRST_SAMPLES and total > 0.0
        return type(self)(mean, weight, self.limit, spread, None if enough else kept)

    def to_arrays(self) -> dict[str, FloatArray]:
        arrays = {"mean": self.mean, "weight": self.weight, "spread": np.array(self.spread)}
        return arrays if self.first is None else arrays | {"first": self.first}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], limit: float) -> RunningCentre:
        """Return the centre that was saved; earlier versions knew no spread and kept no first samples."""
        mean, weight = (np.asarray(arrays[name], dtype=float) for name in ("mean", "weight"))
        spread = Spread(*np.asarray(arrays["spread"], dtype=float).tolist()) if "spread" in arrays else Spread()
        first = np.asarray(arrays["first"], dtype=float) if "first" in arrays else None
        if mean.ndim != 1 or weight.shape != mean.shape or (first is not None and first.shape[1:] != (len(mean) + 1,)):
            raise ValueError("the parts of a saved mean do not fit together.")
        return cls(mean, weight, limit, spread, first)


def _judged(rows: FloatArray, weights: FloatArray, unread: FloatArray) -> tuple[FloatArray, FloatArray, Spread]:
    """Return the mean of first samples, the weight of each feature in it, and how far samples are from it."""
    read = ~np.isnan(rows)
    shares = read * weights[:, None]
    seen = shares.sum(axis=0)
    shares /= _divisor(seen)  # they add up to 1, so that no sum exceeds the largest reading
    mean = np.where(seen > 0.0, (np.where(read, rows, 0.0) * shares).sum(axis=0), unread)
    if len(rows) < FEWEST:
        return mean, seen, Spread()
    middle = _medians(rows, mean)
    away = np.where(read, 0.5 * rows - 0.5 * middle, 0.0)  # halves, which cannot overflow
    counts = np.maximum(read.sum(axis=1), 1)
    distances = _root_mean_squares(away, counts)
    usual = np.sort(distances)[: len(rows) - math.ceil(SUSPECT * len(rows))]
    base = float(_root_mean_squares(usual[None, :], len(usual))[0])
    with np.errstate(over="ignore"):
        ratios = distances / base if base > 0.0 else np.ones_like(distances)
    if ratios.max() > FARTHEST_FIRST:
        away *= (FARTHEST_FIRST / np.maximum(ratios, FARTHEST_FIRST))[:, None]
        mean = np.where(seen > 0.0, middle + 2.0 * (away * shares).sum(axis=0), unread)
        away *= (FARTHEST / np.clip(ratios, FARTHEST, FARTHEST_FIRST))[:, None]  # they are outliers: no guide either
    from_mean = _root_mean_squares(away + np.where(read, 0.5 * middle - 0.5 * mean, 0.0), counts)
    total = float(weights.sum())
    distance = 2.0 * float(_root_mean_squares(from_mean[None, :] * np.sqrt(weights / total), 1)[0])
    return mean, seen, Spread(distance if math.isfinite(distance) else 0.0, total)


def _root_mean_squares(rows: FloatArray, counts: Any) -> FloatArray:
    """Return the root of the sum of squares of each row over a number, without overflow or underflow.

    >>> _root_mean_squares(np.array([[3e200, 4e200], [0.0, 0.0]]), 1)
    array([5.e+200, 0.e+000])
    """
    largest = np.abs(rows).max(axis=1)
    scaled = rows / _divisor(largest)[:, None]
    return np.asarray(largest * np.sqrt(np.vecdot(scaled, scaled) / counts))


def _medians(rows: FloatArray, unread: FloatArray) -> FloatArray:
    """Return the median of each feature, or the given number where there is no reading.

    >>> _medians(np.array([[1.0, np.nan], [5.0, np.nan], [3.0, np.nan]]), np.array([0.0, 7.0]))
    array([3., 7.])
    """
    columns = [column[~np.isnan(column)] for column in rows.T]
    return np.array([np.sort(c)[len(c) // 2] if len(c) else other for c, other in zip(columns, unread, strict=True)])


def _refuse_infinity(rows: FloatArray) -> None:
    if np.isinf(rows).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float64').")


def _divisor(weight: FloatArray) -> FloatArray:
    return np.where(weight > 0.0, weight, 1.0)
