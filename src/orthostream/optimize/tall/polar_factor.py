"""The polar factor of a tall matrix, as a product that is never multiplied out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.tall.sparse_rows import as_sparse_rows
from orthostream.optimize.tall.tall_matrix import TallMatrix

#: Eigenvalues of the Gram matrix are raised by this part of the largest: directions that the stream has not filled yet
#: hold only rounding.
_FLOOR = 1e-6


class PolarFactor:
    """D = G (G'G)^(-1/2) for a `TallMatrix` G, kept as G and the K x K matrix on its right.

    Samples are multiplied by G and then by that matrix, so that coefficients cost nothing that grows with the number of
    rows. It is a point of the spectral ball: `StochasticFrankWolfe` starts from one, and `SpectralBall` answers with
    one where the gradient is a `TallMatrix`. NumPy turns it into an ordinary array where it is used as one.

    Parameters
    ----------
    matrix : TallMatrix
    sign : float, default 1.0
        -1 for minus the polar factor.

    Examples
    --------
    >>> from scipy import sparse
    >>> factor = PolarFactor(TallMatrix(np.array([[3.0, 0.0], [0.0, 0.5], [0.0, 0.0]])))
    >>> (sparse.eye_array(3) @ factor).round(3)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """

    ndim = 2
    __array_ufunc__ = None  # so that NumPy leaves batch @ factor to __rmatmul__

    def __init__(self, matrix: TallMatrix, sign: float = 1.0) -> None:
        self.matrix = matrix
        values, vectors = np.linalg.eigh(matrix.gram)
        top = float(values[-1])
        roots = (np.maximum(values, 0.0) + _FLOOR * top) ** -0.5 if top > 0.0 else np.zeros_like(values)
        self.right: FloatArray = sign * ((vectors * roots) @ vectors.T)

    @classmethod
    def random(cls, batch: Any, n_columns: int, random_state: np.random.Generator, dtype: Any = np.float32) -> Self:
        """Return the polar factor of random mixtures of some samples, to start from."""
        rows = as_sparse_rows(batch, dtype)
        matrix = TallMatrix.zeros((rows.shape[1], n_columns), dtype)
        return cls(matrix.mixed(1.0, rows, random_state.standard_normal((rows.shape[0], n_columns))))

    @property
    def shape(self) -> tuple[int, int]:
        """(V, K)."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the stored rows."""
        return self.matrix.dtype

    def __rmatmul__(self, batch: Any) -> FloatArray:
        """Return the coefficients of samples."""
        if isinstance(batch, np.ndarray):
            return np.asarray(batch @ self.matrix.dense() @ self.right)
        return np.asarray(self.matrix.product(as_sparse_rows(batch, self.dtype)) @ self.right.astype(self.dtype))

    def dense(self, index: Any = slice(None)) -> FloatArray:
        """Return some rows, by default all, in double precision."""
        return self.matrix.dense(index) @ self.right

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.asarray(self.dense(), dtype=dtype)

    def __sub__(self, other: Any) -> FloatArray:
        """Return the difference as an ordinary array."""
        return np.asarray(self.dense() - np.asarray(other))

    def copy(self) -> Self:
        """Return a factor of its own, which later steps leave alone."""
        made = type(self).__new__(type(self))
        made.matrix, made.right = self.matrix.copy(), self.right.copy()
        return made

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the factor as named arrays; only rows that are not zero are kept."""
        matrix = self.matrix
        used = np.flatnonzero(matrix.rows.any(axis=1))
        return {
            "shape": np.array(matrix.shape, dtype=float),
            "used": used.astype(float),
            "rows": matrix.rows[used],
            "scale": np.asarray(matrix.scale),
            "gram": matrix.gram,
            "right": self.right,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return the factor that `to_arrays` turned into arrays, bit for bit."""
        stored = arrays["rows"]
        rows, columns = (int(length) for length in arrays["shape"])
        used = arrays["used"].astype(np.intp)
        square = (columns, columns)
        wrong = stored.shape != (len(used), columns) or stored.dtype.kind != "f" or rows < columns
        wrong = wrong or arrays["gram"].shape != square or arrays["right"].shape != square
        if wrong or (len(used) and not 0 <= int(used.min()) <= int(used.max()) < rows):
            raise ValueError("these arrays are no polar factor: their shapes do not fit.")
        full = np.zeros((rows, columns), dtype=stored.dtype)
        full[used] = stored
        made = cls.__new__(cls)
        made.matrix = TallMatrix(full, float(arrays["scale"]), np.asarray(arrays["gram"], dtype=float))
        made.right = np.asarray(arrays["right"], dtype=float)
        return made


def as_polar_factor(point: object) -> PolarFactor | None:
    """Return a point that is a polar factor, None for an ordinary array."""
    return point if isinstance(point, PolarFactor) else None
