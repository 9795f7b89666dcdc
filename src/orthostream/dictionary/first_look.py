"""A look at the first rows of a learner, for what it can hardly learn from."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

_LOGGER = logging.getLogger(__name__)

#: Rows of a stream that are needed for a judgement.
_ROWS_OF_A_STREAM = 5

#: The share of the mean in the energy of rows that are clearly not centred.
_NOT_CENTRED = 0.5


class UninformativeRowsWarning(UserWarning):
    """All rows are zero, or all are the same: there is no dictionary in them."""


def look_at(rows: Any, *, is_stream: bool, centred: bool, stacklevel: int) -> None:
    """Warn of rows that are all zero or all the same, and log rows that are not centred.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_samples, n_features), with NaN where a reading is missing
    is_stream : bool
        Whether more rows will follow. Then fewer than five rows are no reason to warn.
    centred : bool
        Whether the learner subtracts a mean itself.
    stacklevel : int
        As for `warnings.warn`, from the caller's point of view.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     look_at(np.zeros((9, 2)), is_stream=True, centred=False, stacklevel=1)
    >>> print(caught[0].message)
    every reading is zero or missing: the dictionary stays where it starts.
    """
    if is_stream and rows.shape[0] < _ROWS_OF_A_STREAM:
        return
    values = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if largest == 0.0:
        message = "every reading is zero or missing: the dictionary stays where it starts."
        warnings.warn(message, UninformativeRowsWarning, stacklevel=stacklevel + 1)
    elif _all_the_same(rows):
        message = "all rows are the same: there is one direction in them, or none after centring."
        warnings.warn(message, UninformativeRowsWarning, stacklevel=stacklevel + 1)
    elif not centred and rows.shape[0] >= _ROWS_OF_A_STREAM:
        share = _share_of_the_mean(rows, largest)
        if share > _NOT_CENTRED:
            advice = 'subtract it, or set center="running"'
            _LOGGER.warning("the mean of the rows holds %.0f %% of their energy: %s.", 100.0 * share, advice)


def _all_the_same(rows: Any) -> bool:
    if isinstance(rows, np.ndarray):
        high, low = np.fmax.reduce(rows, axis=0), np.fmin.reduce(rows, axis=0)
        readings = rows.size - np.count_nonzero(np.isnan(rows))
    else:
        high, low = (side.toarray() for side in (rows.max(axis=0), rows.min(axis=0)))
        readings = rows.shape[0] * rows.shape[1]
    seen = ~np.isnan(high)
    # With hardly any readings of a feature there is nothing to compare.
    return bool(readings >= 2 * np.count_nonzero(seen) and (high == low)[seen].all())


def _share_of_the_mean(rows: Any, largest: float) -> float:
    """Return the energy of the mean over that of the rows, each relative to the readings that there are."""
    scaled = rows / largest  # so that squares neither overflow nor underflow
    if not isinstance(rows, np.ndarray):
        mean = np.asarray(scaled.mean(axis=0)).ravel()
        return float(rows.shape[0] * (mean @ mean) / (scaled.data @ scaled.data))
    count = (~np.isnan(scaled)).sum(axis=0)
    known = np.nan_to_num(scaled)
    sums = known.sum(axis=0)
    return float((sums * sums / np.maximum(count, 1)).sum() / np.vdot(known, known))
