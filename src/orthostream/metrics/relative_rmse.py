"""The paper's RMSE: the error of estimated readings relative to the size of the readings."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthostream._typing import FloatArray


def relative_rmse(readings: ArrayLike, estimates: ArrayLike) -> float:
    """Return the root of the sum of squared errors over the sum of squared readings.

    Parameters
    ----------
    readings : array of any shape
        NaN marks a missing reading, which is left out of both sums.
    estimates : array of the same shape

    Returns
    -------
    float
        0 if all estimates are right, infinity if all readings are zero and estimates are not.

    Examples
    --------
    >>> import numpy as np
    >>> relative_rmse([[3.0, 4.0], [np.nan, 0.0]], [[3.0, 3.0], [9.0, 0.0]])
    0.2
    """
    known, errors = known_and_errors(readings, estimates)
    if np.isnan(known).all():
        raise ValueError("readings holds no reading: it is empty, or all of them are missing.")
    return float(ratio_of_norms(errors.reshape(1, -1), known.reshape(1, -1))[0])


def known_and_errors(readings: ArrayLike, estimates: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return readings and the errors of their estimates, with NaN in both where a reading is missing."""
    true, estimated = np.asarray(readings, dtype=float), np.asarray(estimates, dtype=float)
    if true.shape != estimated.shape:
        raise ValueError(f"readings of shape {true.shape} cannot be compared with estimates of {estimated.shape}.")
    if np.isinf(true).any():
        raise ValueError("readings holds an infinite value; mark missing readings by NaN.")
    if not (np.isfinite(estimated) | np.isnan(true)).all():
        raise ValueError("estimates holds a value that is not finite where there is a reading.")
    return true, estimated - true


def ratio_of_norms(errors: FloatArray, known: FloatArray) -> FloatArray:
    """Return the norm of each row of errors over the norm of its readings; NaN if the whole row is missing."""
    missing = np.isnan(known).all(axis=1)
    error, size = _norms(np.nan_to_num(errors)), _norms(np.nan_to_num(known))
    with np.errstate(divide="ignore", over="ignore"):
        ratio = error / np.where((error > 0.0) | (size > 0.0), size, 1.0)
    return np.where(missing, np.nan, ratio)


def _norms(rows: FloatArray) -> FloatArray:
    # Divide by the largest entry first, so that squares neither overflow nor underflow.
    unit = np.abs(rows).max(axis=1, initial=0.0)
    scaled = rows / np.where(unit > 0.0, unit, 1.0)[:, None]
    norms: FloatArray = unit * np.sqrt((scaled * scaled).sum(axis=1))
    return norms
