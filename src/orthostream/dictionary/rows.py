"""Rows as they arrive: arrays of any layout and precision, lists, data frames, sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from orthostream._typing import FloatArray

#: Kinds of arrays that are converted to double precision without validation: floats and integers.
_NUMBERS = "fiu"
_DOUBLE = np.dtype(np.float64)


def quick_rows(estimator: Any, X: Any) -> FloatArray | None:
    """Fast path: return rows in double precision and C order, or None if they need full validation.

    It takes numbers in an array or a list, and data frames with the columns of the first one. It checks shape and type,
    but not the values.
    """
    known = estimator.__dict__
    if "state_" not in known:
        return None
    named = "feature_names_in_" in known
    if type(X) is np.ndarray:
        array = X
    elif type(X) is list:
        try:
            array = np.asarray(X)
        except ValueError:  # ragged
            return None
    elif named and _same(getattr(X, "columns", None), known.get("_columns")):
        array, named = X.to_numpy(), False
    else:
        return None
    if named or array.ndim != 2 or array.shape[1] != estimator.n_features_in_ or array.dtype.kind not in _NUMBERS:
        return None
    if not len(array):
        return None
    return array if array.dtype is _DOUBLE and array.flags.c_contiguous else np.array(array, dtype=float, order="C")


def _same(columns: Any, known: Any) -> bool:
    """Return whether the columns of a data frame are those of the first one, in the same order."""
    if columns is None or known is None:
        return False
    return columns is known or (hasattr(columns, "equals") and bool(columns.equals(known)))


def validated_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return rows as scikit-learn validates them, in double precision; with ``reset``, store names and precision."""
    rows = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=(np.float64, np.float32),
        accept_sparse="csr",
        order="C",
        ensure_all_finite="allow-nan" if estimator._allows_nan() else True,
    )
    if not isinstance(rows, np.ndarray) and not estimator._allows_sparse():
        raise ValueError("a mean cannot be subtracted from sparse rows: use dense rows, X.toarray(), or center=None.")
    if not isinstance(rows, np.ndarray) and np.isnan(rows.data).any():
        raise ValueError("sparse rows must not hold NaN: use dense rows to mark readings as missing.")
    if reset:
        estimator._dtype = rows.dtype
    return rows.astype(np.float64, copy=False)


def validated_weights(sample_weight: Any, X: Any) -> FloatArray | None:
    """Return sample weights as one number for each row; None if there are none."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=float)
    if weights.shape not in ((), (X.shape[0],)):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"sample_weight must be finite and not negative, the smallest is {weights.min()}.")
    return np.broadcast_to(weights, X.shape[:1])


def joined_rows(
    waiting: Any, waiting_weights: FloatArray | None, X: Any, weights: FloatArray | None
) -> tuple[Any, FloatArray | None]:
    """Return waiting rows followed by new ones, and their weights, if any of them have weights."""
    if weights is not None or waiting_weights is not None:
        first = np.ones(waiting.shape[0]) if waiting_weights is None else waiting_weights
        weights = np.concatenate([first, np.ones(X.shape[0]) if weights is None else weights])
    if isinstance(waiting, np.ndarray):
        return np.concatenate([waiting, X if isinstance(X, np.ndarray) else X.toarray()]), weights
    return sparse.vstack([waiting, sparse.csr_matrix(X)], "csr"), weights
