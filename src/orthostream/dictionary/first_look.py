"""A look at the first rows of a learner, for what it can hardly learn from."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np

_LOGGER = logging.getLogger(__name__)
_LOGGER.addHandler(logging.NullHandler())  # the library prints nothing unless logging is set up

#: Rows of a stream, and readings of a feature, that are needed for a judgement.
_ROWS_OF_A_STREAM = 5

#: The share of the mean in the energy of rows that are clearly not centred.
_NOT_CENTRED = 0.5


class UninformativeRowsWarning(UserWarning):
    """All rows are zero, or all are the same: there is no dictionary in them."""


class UncentredRowsWarning(UserWarning):
    """The mean of the rows holds most of their energy: an atom is spent on it, and codes are not sparse around it."""


def look_at(rows: Any, *, is_stream: bool, centred: bool, stacklevel: int) -> None:
    """Point out rows that are all zero, all the same, or not centred.

    For a data set that is a warning. For the first rows of a stream it is logged: more will follow, of which a few rows
    say little, and a learner inside a codec must not warn of what its user cannot change.

    Parameters
    ----------
    rows : array or sparse matrix of shape (n_samples, n_features), with NaN where a reading is missing
    is_stream : bool
        Whether more rows will follow. Then fewer than five rows are no reason to say anything.
    centred : bool
        Whether the learner subtracts a mean itself.
    stacklevel : int
        As for `warnings.warn`, from the caller's point of view.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     look_at(np.zeros((9, 2)), is_stream=False, centred=False, stacklevel=1)
    >>> print(caught[0].message)
    every reading is zero or missing: the dictionary stays where it starts.
    """
    if is_stream and rows.shape[0] < _ROWS_OF_A_STREAM:
        return
    values = rows if isinstance(rows, np.ndarray) else rows.data
    largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    if largest == 0.0:
        message = "every reading is zero or missing: the dictionary stays where it starts."
        _report(message, UninformativeRowsWarning, is_stream, stacklevel + 2)
    elif _all_the_same(rows):
        message = "all rows are the same: there is one direction in them, or none after centring."
        _report(message, UninformativeRowsWarning, is_stream, stacklevel + 2)
    elif not centred and rows.shape[0] >= _ROWS_OF_A_STREAM:
        share = _share_of_the_mean(rows, largest)
        if share > _NOT_CENTRED:
            advice = 'set center="running", or center=numpy.zeros(n_features) to keep it'
            message = f"the mean of the rows holds {100.0 * share:.0f} % of their energy: {advice}."
            _report(message, UncentredRowsWarning, is_stream, stacklevel + 2)


def _report(message: str, category: type[Warning], is_stream: bool, stacklevel: int) -> None:
    if is_stream:
        _LOGGER.warning(message)
    else:
        warnings.warn(message, category, stacklevel=stacklevel)


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
    enough = count >= _ROWS_OF_A_STREAM  # the mean of one reading is that reading
    known = np.nan_to_num(scaled[:, enough])
    sums = known.sum(axis=0)
    energy = float(np.vdot(known, known))
    return float((sums * sums / count[enough]).sum()) / energy if energy > 0.0 else 0.0
