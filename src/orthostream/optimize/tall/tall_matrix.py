"""A tall matrix with its Gram matrix, of which a mini-batch changes only the rows that it touches."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray
from orthostream.optimize.tall.sparse_rows import SparseRows

#: Stored rows are multiplied out when the common factor falls below this, long before single precision ends.
_LEAST_SCALE = 1e-9


class TallMatrix:
    """A V x K matrix G = scale * rows with its K x K Gram matrix G'G.

    `mixed` returns (1 - rho) G + rho Y'S for sparse samples Y. It writes to the stored rows, so that its cost does not
    depend on V; the matrix it was called on can then no longer be used, and says so. `copy` makes one that can.

    Parameters
    ----------
    rows : array (V, K), kept as it is and written to later
    scale : float, default 1.0
    gram : array (K, K), optional; computed if it is not given

    Examples
    --------
    >>> from scipy import sparse
    >>> first = TallMatrix(np.zeros((1000, 2)))
    >>> next = first.mixed(0.5, SparseRows(sparse.eye_array(1, 1000)), np.array([[3.0, 4.0]]))
    >>> next.gram
    array([[2.25, 3.  ],
           [3.  , 4.  ]])
    >>> first.mixed(0.5, SparseRows(sparse.eye_array(1, 1000)), np.array([[3.0, 4.0]]))
    Traceback (most recent call last):
    RuntimeError: this matrix was changed by a later step: go on from the newest state, or keep a copy().
    """

    def __init__(self, rows: FloatArray, scale: float = 1.0, gram: FloatArray | None = None) -> None:
        self.rows, self.scale = rows, float(scale)
        if gram is None:
            stored = np.asarray(rows[rows.any(axis=1)], dtype=float) * scale
            gram = stored.T @ stored
        self.gram: FloatArray = gram
        self._newest: list[TallMatrix] = [self]
        self._last: tuple[SparseRows, FloatArray, FloatArray] | None = None

    @classmethod
    def zeros(cls, shape: tuple[int, int], dtype: Any = np.float32) -> Self:
        """Return a matrix of zeros."""
        return cls(np.zeros(shape, dtype=dtype))

    @property
    def shape(self) -> tuple[int, int]:
        """(V, K)."""
        return self.rows.shape[0], self.rows.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored rows."""
        return self.rows.dtype

    def product(self, batch: SparseRows) -> FloatArray:
        """Return Y G for samples Y; the last answer is remembered."""
        return self._products(batch)[0]

    def mixed(self, rho: float, batch: SparseRows, weights: FloatArray) -> Self:
        """Return (1 - rho) G + rho Y'S, for samples Y and an array S of as many rows."""
        products, there = self._products(batch)
        keep = 1.0 - rho
        scale = self.scale * keep if keep > 0.0 else 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            weights = weights.astype(self.dtype, copy=False)
            cross = products.T @ weights
            gram = keep * keep * self.gram + rho * keep * (cross + cross.T) + rho * rho * batch.inner_products(weights)
            added = batch.columns @ weights
            added *= self.dtype.type(rho / scale)
            if keep > 0.0:
                added += there
        # Nothing is written before this, so that the matrix remains usable.
        if not (np.isfinite(gram).all() and np.isfinite(added).all()):
            raise ValueError(f"the samples or their weights are not finite, or too large for {self.dtype}.")
        # After an interrupt in the middle of writing, nothing may go on from here.
        self._newest.clear()
        if keep == 0.0:
            self.rows = np.zeros(self.shape, dtype=self.dtype)
        self.rows[batch.touched] = added
        if scale < _LEAST_SCALE:
            # Only rows that are not zero: others may take no memory yet.
            used = self.rows.any(axis=1)
            self.rows[used] *= self.dtype.type(scale)
            scale = 1.0
        return self._next(scale, gram)

    def without(self, index: NDArray[np.intp]) -> Self:
        """Return the matrix with some rows set to zero."""
        self._check()
        removed = np.asarray(self.rows[index], dtype=float) * self.scale
        self._newest.clear()
        self.rows[index] = 0.0
        return self._next(self.scale, self.gram - removed.T @ removed)

    def copy(self) -> Self:
        """Return a matrix of its own, which later steps of this one leave alone."""
        self._check()
        return type(self)(self.rows.copy(), self.scale, self.gram.copy())

    __copy__ = copy

    def dense(self, index: Any = slice(None)) -> FloatArray:
        """Return some rows, by default all, in double precision."""
        self._check()
        return np.asarray(self.rows[index], dtype=float) * self.scale

    def used(self) -> NDArray[np.intp]:
        """Return which rows are not zero."""
        self._check()
        return np.flatnonzero(self.rows.any(axis=1))

    def stored(self, index: NDArray[np.intp]) -> FloatArray:
        """Return some rows in the type of the stored ones."""
        self._check()
        return np.asarray(self.rows[index] * self.dtype.type(self.scale))

    def _products(self, batch: SparseRows) -> tuple[FloatArray, FloatArray]:
        """Return Y G, and the stored rows that the samples touch."""
        self._check()
        if batch.shape[1] != self.shape[0]:
            raise ValueError(f"the mini-batch has {batch.shape[1]} columns, the matrix {self.shape[0]} rows.")
        if self._last is None or self._last[0] is not batch:
            there = self.rows[batch.touched]
            products = np.asarray(batch.entries @ there) * self.dtype.type(self.scale)
            self._last = (batch, products, there)
        return self._last[1], self._last[2]

    def _next(self, scale: float, gram: FloatArray) -> Self:
        """Return the matrix after a change of the stored rows, which this one can no longer use."""
        made = type(self)(self.rows, scale, gram)
        made._newest = self._newest
        made._newest[:] = [made]
        self._last = None
        return made

    def _check(self) -> None:
        if not self._newest or self._newest[0] is not self:
            raise RuntimeError(
                "this matrix was changed by a later step: go on from the newest state, or keep a copy()."
            )

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: the matrix alone, not what it shares with others."""
        self._check()
        return {"rows": self.rows, "scale": self.scale, "gram": self.gram}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]


def as_tall_matrix(gradient: object) -> TallMatrix | None:
    """Return a gradient that is a tall matrix, None for an ordinary array."""
    return gradient if isinstance(gradient, TallMatrix) else None
