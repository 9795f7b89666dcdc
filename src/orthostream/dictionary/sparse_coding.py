"""Sparse codes in an orthonormal dictionary: keeping the largest coefficients is optimal, so no search is needed."""

from __future__ import annotations

from typing import Any

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


def energy_shares(rows: Any, dictionary: FloatArray, counts: list[int]) -> FloatArray:
    """Return the share of the energy of all rows that the largest coefficients of each row hold, for each count.

    Without any energy, nothing is left out and every share is 1.

    >>> energy_shares(np.array([[4.0, -3.0]]), np.eye(2), [1, 2])
    array([0.64, 1.  ])
    """
    values = rows if isinstance(rows, np.ndarray) else rows.data
    unit = float(np.abs(values).max(initial=0.0))
    if unit == 0.0:
        return np.ones(len(counts))
    scaled = values / unit  # so that squares neither overflow nor underflow
    codes = (rows / unit) @ dictionary
    by_rank = np.sort(codes * codes, axis=-1)[:, ::-1].sum(axis=0)
    shares: FloatArray = np.cumsum(by_rank)[np.array(counts, dtype=int) - 1] / np.vdot(scaled, scaled)
    return np.minimum(shares, 1.0)


def keep_above(codes: FloatArray, threshold: float) -> FloatArray:
    """Return the codes with all entries of absolute value at most ``threshold`` set to zero.

    >>> keep_above(np.array([[1.0, -3.0, 2.0]]), 1.5)
    array([[ 0., -3.,  2.]])
    """
    return np.where(np.abs(codes) > threshold, codes, np.zeros((), codes.dtype))
