"""The relative error of estimated readings in each time slot."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthostream._checks import integer
from orthostream._typing import FloatArray
from orthostream.metrics.relative_rmse import known_and_errors, ratio_of_norms


def slot_rmse(readings: ArrayLike, estimates: ArrayLike, slot_size: int) -> FloatArray:
    """Return the relative RMSE of each time slot of ``slot_size`` consecutive rows; the last slot may be shorter.

    The squares of these are the losses that the paper compares by `diebold_mariano`.

    Parameters
    ----------
    readings, estimates : arrays of shape (n_rows, …)
        As for `relative_rmse`.
    slot_size : int
        The paper's mini-batch has 6 rows.

    Returns
    -------
    array of shape (n_slots,)
        NaN for a slot without readings.

    Examples
    --------
    >>> slot_rmse([[3.0, 4.0], [0.0, 5.0], [8.0, 6.0]], [[3.0, 4.0], [0.0, 5.0], [8.0, 7.0]], slot_size=2)
    array([0. , 0.1])
    """
    size = integer("slot_size", slot_size)
    known, errors = known_and_errors(readings, estimates)
    if known.ndim < 1 or known.size == 0:
        raise ValueError(f"readings of shape {known.shape} hold no row to cut into slots.")
    return ratio_of_norms(_slots(errors, size), _slots(known, size))


def _slots(rows: FloatArray, slot_size: int) -> FloatArray:
    """Return one slot per row, the last one padded with NaN."""
    flat = rows.reshape(len(rows), -1)
    n_slots = -(-len(flat) // slot_size)
    padded = np.full((n_slots * slot_size, flat.shape[1]), np.nan)
    padded[: len(flat)] = flat
    return padded.reshape(n_slots, -1)
