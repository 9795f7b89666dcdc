"""The trade-off between false alarms and misses, over all thresholds of a score."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthostream._typing import FloatArray


def detection_curve(novel: ArrayLike, scores: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return the rates of false alarms and of misses at each threshold: the points of a DET curve.

    Parameters
    ----------
    novel : array of bool, shape (n_documents,)
        Which documents are novel; at least one of each kind.
    scores : array of shape (n_documents,)
        Higher means more novel. Documents with a score of at least the threshold are flagged.

    Returns
    -------
    false_alarm : array
        The share of documents flagged among those that are not novel, from 0 (flag nothing) up to 1 (flag all).
    miss : array of the same shape
        The share of documents not flagged among the novel ones, from 1 down to 0.

    Examples
    --------
    >>> false_alarm, miss = detection_curve([True, False, True, False], [0.9, 0.8, 0.7, 0.1])
    >>> false_alarm, miss
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([1. , 0.5, 0.5, 0. , 0. ]))
    """
    truth, values = np.asarray(novel), np.asarray(scores, dtype=float)
    if truth.ndim != 1 or truth.shape != values.shape:
        raise ValueError(f"novel of shape {truth.shape} and scores of {values.shape} must be vectors of equal length.")
    if truth.dtype != np.bool_:
        raise ValueError(f"novel must hold True and False, got values of type {truth.dtype}.")
    if not np.isfinite(values).all():
        raise ValueError(f"scores must be finite, got {values[~np.isfinite(values)][0]} among them.")
    if truth.all() or not truth.any():
        raise ValueError(f"novel must hold both kinds of documents, got {truth.sum()} novel ones of {len(truth)}.")
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    # Documents of equal score are flagged together.
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(order) - 1)
    hits, flagged = np.cumsum(truth[order])[last], last + 1
    false_alarm = np.append(0.0, (flagged - hits) / np.count_nonzero(~truth))
    miss = np.append(1.0, 1.0 - hits / np.count_nonzero(truth))
    return false_alarm, miss
