"""The polar factor of a tall matrix, as a product that is never multiplied out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from orthostream._typing import FloatArray
from orthostream.optimize.tall.sparse_rows import as_sparse_rows
from orthostream.optimize.tall.tall_matrix import TallMatrix

#: Eigenvalues of the Gram matrix below this part of the largest are rounding, by the size of an entry in bytes: the
#: stream has not filled those directions yet.
_FLOORS = {4: 1e-6, 8: 1e-12}

#: The most entries of a factor that is read from a file: 16 GB in single precision.
_MOST_ENTRIES = 2**32


class PolarFactor:
    """D = G (G'G)^(-1/2) for a `TallMatrix` G, kept as G and the K x K matrix on its right.

    `SparseRows` are multiplied by G and then by that matrix, so that coefficients cost nothing that grows with the
    number of rows. NumPy and SciPy turn the factor into an ordinary array where it is used as one, for instance in
    ``sparse_matrix @ factor``. It is a point of the spectral ball: `StochasticFrankWolfe` starts from one, and
    `SpectralBall` answers with one where the gradient is a `TallMatrix`.

    Parameters
    ----------
    matrix : TallMatrix
    sign : float, default 1.0
        -1 for minus the polar factor.

    Examples
    --------
    >>> from scipy import sparse
    >>> from orthostream.optimize import SparseRows
    >>> factor = PolarFactor(TallMatrix(np.array([[3.0, 0.0], [0.0, 0.5], [0.0, 0.0]])))
    >>> (SparseRows(sparse.eye_array(3)) @ factor).round(3)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    """

    ndim = 2
    __array_ufunc__ = None  # so that NumPy leaves batch @ factor to __rmatmul__

    def __init__(self, matrix: TallMatrix, sign: float = 1.0) -> None:
        self.matrix = matrix
        values, vectors = np.linalg.eigh(matrix.gram)
        least = _FLOORS[matrix.dtype.itemsize] * float(values[-1])
        roots = np.maximum(values, least) ** -0.5 if least > 0.0 else np.zeros_like(values)
        self.right: FloatArray = sign * ((vectors * roots) @ vectors.T)
        self.empty: FloatArray = vectors[:, values <= least]
        """Orthonormal mixtures of atoms, in columns, that no sample has filled yet."""

    @classmethod
    def random(cls, batch: Any, n_columns: int, random_state: np.random.Generator, dtype: Any = np.float32) -> Self:
        """Return the polar factor of random mixtures of some samples, to start from."""
        rows = as_sparse_rows(batch, dtype)
        matrix = TallMatrix.zeros((rows.shape[1], n_columns), dtype)
        return cls(matrix.mixed(1.0, rows, random_state.standard_normal((rows.shape[0], n_columns))))

    def weakest(self, count: int) -> FloatArray:
        """Return the orthonormal mixtures of atoms, in columns, that hold the least of the samples."""
        _, vectors = np.linalg.eigh(self.matrix.gram)
        return vectors[:, :count]

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
        made.matrix, made.right, made.empty = self.matrix.copy(), self.right.copy(), self.empty.copy()
        return made

    def without(self, index: NDArray[np.intp]) -> Self:
        """Return the polar factor of the matrix with some rows set to zero."""
        sign = -1.0 if np.trace(self.right) < 0.0 else 1.0
        return type(self)(self.matrix.without(index), sign)

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return the factor as named arrays; only rows that are not zero are kept."""
        matrix = self.matrix
        used = matrix.used()
        return {
            "shape": np.array(matrix.shape, dtype=float),
            "used": used.astype(float),
            "rows": matrix.rows[used],
            "scale": np.asarray(matrix.scale),
            "gram": matrix.gram,
            "right": self.right,
            "empty": self.empty,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, FloatArray]) -> Self:
        """Return the factor that `to_arrays` turned into arrays, bit for bit."""
        stored, shape, used, scale, gram, right, empty = _checked(arrays)
        full = np.zeros(shape, dtype=stored.dtype)
        full[used] = stored
        made = cls.__new__(cls)
        made.matrix = TallMatrix(full, scale, gram)
        made.right, made.empty = right, empty
        return made


class _Checked(NamedTuple):
    """The arrays of a factor, of the right types and shapes."""

    rows: FloatArray
    shape: tuple[int, int]
    used: NDArray[np.intp]
    scale: float
    gram: FloatArray
    right: FloatArray
    empty: FloatArray


def _checked(arrays: Mapping[str, FloatArray]) -> _Checked:
    """Return the arrays that `to_arrays` made, or raise ValueError if it did not make them."""
    named = {}
    for name in ("shape", "used", "rows", "scale", "gram", "right", "empty"):
        if name not in arrays:
            raise ValueError(f"these arrays are no polar factor: {name} is missing.")
        named[name] = array = np.asarray(arrays[name])
        if array.dtype.kind != "f" or array.dtype.itemsize not in _FLOORS or not np.isfinite(array).all():
            raise ValueError(f"these arrays are no polar factor: {name} does not hold finite numbers.")
    shape, used = (_whole_numbers(name, named[name]) for name in ("shape", "used"))
    if len(shape) != 2 or not 1 <= shape[1] <= shape[0] or int(shape[0]) * int(shape[1]) > _MOST_ENTRIES:
        raise ValueError(f"these arrays are no polar factor: their shape is {shape.tolist()}.")
    rows, columns = int(shape[0]), int(shape[1])
    if len(used) and (used[-1] >= rows or (np.diff(used) <= 0).any()):
        raise ValueError(f"these arrays are no polar factor: used must ascend from 0 to at most {rows - 1}.")
    square, filled = (columns, columns), named["empty"].shape
    wanted = {"rows": (len(used), columns), "scale": (), "gram": square, "right": square}
    wanted["empty"] = (columns, min(filled[1], columns) if len(filled) == 2 else 0)
    for name, expected in wanted.items():
        if named[name].shape != expected:
            raise ValueError(f"these arrays are no polar factor: {name} has shape {named[name].shape}, not {expected}.")
    scale = float(named["scale"])
    if scale <= 0.0:
        raise ValueError(f"these arrays are no polar factor: their scale is {scale:g}.")
    gram, right, empty = (named[name].astype(float) for name in ("gram", "right", "empty"))
    return _Checked(named["rows"], (rows, columns), used, scale, gram, right, empty)


def _whole_numbers(name: str, values: FloatArray) -> NDArray[np.intp]:
    """Return a vector of numbers from 0 to below 2^53 as integers."""
    if values.ndim != 1 or (values != np.floor(values)).any() or (values < 0.0).any() or (values >= 2.0**53).any():
        raise ValueError(f"these arrays are no polar factor: {name} does not hold whole numbers.")
    return values.astype(np.intp)


def as_polar_factor(point: object) -> PolarFactor | None:
    """Return a point that is a polar factor, None for an ordinary array."""
    return point if isinstance(point, PolarFactor) else None
