"""Sparse codes in an orthonormal dictionary: keeping the largest coefficients is optimal, so no search is needed."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray


def keep_largest(codes: FloatArray, count: int) -> FloatArray:
    """Return the codes with all but the ``count`` largest entries of each row set to zero.

    In an orthonormal dictionary this is the best approximation with that many atoms. Of equal entries the first stays.

    >>> keep_largest(np.array([[1.0, -3.0, 2.0]]), 2)
    array([[ 0., -3.,  2.]])
    """
    if count >= codes.shape[-1]:
        return codes.copy()
    order = np.argsort(-np.abs(codes), axis=-1, kind="stable")[..., :count]
    kept = np.zeros_like(codes)
    np.put_along_axis(kept, order, np.take_along_axis(codes, order, axis=-1), axis=-1)
    return kept


def keep_above(codes: FloatArray, threshold: float) -> FloatArray:
    """Return the codes with all entries of absolute value at most ``threshold`` set to zero.

    >>> keep_above(np.array([[1.0, -3.0, 2.0]]), 1.5)
    array([[ 0., -3.,  2.]])
    """
    return np.where(np.abs(codes) > threshold, codes, np.zeros((), codes.dtype))
