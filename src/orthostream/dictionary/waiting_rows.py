"""A stream that is cut into mini-batches of one size, however it arrives; rows that are left over wait."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.dictionary.rows import joined_rows


class WaitingRows:
    """The part of `StreamEstimator` that cuts the stream."""

    batch_size: int | None
    pending_: Any
    pending_weight_: FloatArray | None
    _allows_nan: Any

    def _batch_size(self) -> int | None:
        return _checks.optional_integer("batch_size", self.batch_size)

    def _cut(self, X: Any, weights: FloatArray | None) -> Iterator[tuple[Any, FloatArray | None]]:
        """Yield mini-batches of the waiting and the new rows; rows that are left over wait, also after an error."""
        size = self._batch_size()
        waiting = getattr(self, "pending_", None)
        if size is None:
            yield X, weights
            return
        self._check_values(X)
        if waiting is not None:
            X, weights = joined_rows(waiting, self.pending_weight_, X, weights)
        for start in range(0, X.shape[0] - size + 1, size):
            rows, rest = slice(start, start + size), slice(start + size, None)
            self.pending_, self.pending_weight_ = X[rest], None if weights is None else weights[rest]
            yield X[rows], None if weights is None else weights[rows]
        rest = slice(X.shape[0] - X.shape[0] % size, None)
        self.pending_ = X[rest].copy()
        self.pending_weight_ = None if weights is None else weights[rest].copy()

    def _check_values(self, rows: Any) -> None:
        """Raise ValueError for rows with infinity, or with NaN where that is not allowed, before they wait."""
        values = rows if isinstance(rows, np.ndarray) else rows.data
        assert_all_finite(values, allow_nan=self._allows_nan(), input_name="X", estimator_name=type(self).__name__)
