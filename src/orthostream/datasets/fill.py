"""Fill missing readings as the paper does."""

from __future__ import annotations

import numpy as np

from orthostream._checks import one_of
from orthostream._typing import FloatArray


def check_fill(fill: str | None) -> None:
    """Raise ValueError if ``fill`` is neither "row mean" nor None."""
    if fill is not None:
        one_of("fill", fill, ("row mean",), also="None")


def filled(data: FloatArray, fill: str | None) -> FloatArray:
    """Return readings with missing ones replaced by the mean of their row; rows without any reading stay missing.

    Examples
    --------
    >>> import numpy as np
    >>> filled(np.array([[3.0, np.nan, 5.0]]), "row mean")
    array([[3., 4., 5.]])
    """
    check_fill(fill)
    if fill is None:
        return data
    gaps = np.isnan(data)
    count = (~gaps).sum(axis=1, keepdims=True)
    means = np.where(gaps, 0.0, data).sum(axis=1, keepdims=True) / np.where(count > 0, count, np.nan)
    return np.where(gaps, means, data)
