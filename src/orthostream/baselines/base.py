"""Base classes of the baselines: atoms are rows, codes are sparse, samples are linear in codes."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.linear_model import orthogonal_mp_gram
from sklearn.utils.validation import check_is_fitted, validate_data

from orthostream._checks import optional_integer
from orthostream._typing import FloatArray
from orthostream.dictionary.sparse_coding import keep_largest


class LinearBaseline(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A dictionary that decodes by ``codes @ components_ + mean_``; subclasses learn it and find codes.

    ``mean_`` is None if samples are not centred.
    """

    components_: FloatArray
    mean_: FloatArray | None = None
    n_nonzero: int | None
    n_features_in_: int

    @abstractmethod
    def _codes(self, rows: FloatArray, count: int | None) -> FloatArray:
        """Return the codes of validated rows, with at most ``count`` nonzero entries in each."""

    def transform(self, X: Any) -> FloatArray:
        """Return the codes of the samples, each with at most ``n_nonzero`` nonzero entries."""
        check_is_fitted(self, "components_")
        rows = self._validated(X, reset=False)
        count = optional_integer("n_nonzero", self.n_nonzero)
        return self._codes(rows if self.mean_ is None else rows - self.mean_, count)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the samples that codes stand for."""
        check_is_fitted(self, "components_")
        samples: FloatArray = checked_codes(X, len(self.components_)) @ self.components_
        return samples if self.mean_ is None else samples + self.mean_

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _validated(self, X: Any, *, reset: bool) -> FloatArray:
        if not reset and self._is_plain(X):
            plain: FloatArray = X
            return plain
        rows: FloatArray = validate_data(self, X, reset=reset, dtype=np.float64, order="C")
        return rows

    def _is_plain(self, X: Any) -> bool:
        """Fast path: tell whether scikit-learn's validation would return the rows unchanged, in a tenth of its time."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.flags.c_contiguous
            and len(X) > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )


class OrthonormalBaseline(LinearBaseline):
    """A baseline with orthonormal atoms: the best code keeps the largest coefficients."""

    def _codes(self, rows: FloatArray, count: int | None) -> FloatArray:
        codes: FloatArray = rows @ self.components_.T
        return codes if count is None else keep_largest(codes, count)


class PursuitBaseline(LinearBaseline):
    """A baseline with atoms of unit length that are not orthogonal: codes by orthogonal matching pursuit."""

    def _codes(self, rows: FloatArray, count: int | None) -> FloatArray:
        return pursue(rows, self.components_, count)


def checked_codes(codes: Any, n_components: int) -> FloatArray:
    """Return codes, which may be a sparse matrix, as an array of shape (n_samples, n_components).

    >>> checked_codes([[1, 0]], 2)
    array([[1., 0.]])
    """
    dense: FloatArray = np.asarray(codes.toarray() if hasattr(codes, "toarray") else codes, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[1] != n_components:
        raise ValueError(f"codes must have shape (n_samples, {n_components}), got {dense.shape}.")
    return dense


def pursue(rows: FloatArray, atoms: FloatArray, count: int | None) -> FloatArray:
    """Return codes by scikit-learn's orthogonal matching pursuit; without a ``count``, those of least norm.

    >>> pursue(np.array([[3.0, 4.0]]), np.array([[1.0, 0.0], [0.6, 0.8]]), 1)
    array([[0., 5.]])
    """
    if count is None:
        dense: FloatArray = rows @ np.linalg.pinv(atoms)
        return dense
    with warnings.catch_warnings():
        # A pursuit ends early if the residual is zero or no atom correlates with it. Its code is right in both cases.
        warnings.filterwarnings("ignore", "Orthogonal matching pursuit ended prematurely", RuntimeWarning)
        codes = orthogonal_mp_gram(
            atoms @ atoms.T, atoms @ rows.T, n_nonzero_coefs=min(count, *atoms.shape), copy_Xy=False
        )
    return np.asarray(codes, dtype=float).reshape(len(atoms), len(rows)).T


def unit_rows(rows: FloatArray) -> FloatArray:
    """Return the rows scaled to unit length; zero rows stay zero.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    # Divide by the largest entry first, so that squares neither overflow nor underflow.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(largest > 0.0, largest, 1.0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    return scaled / np.where(norms > 0.0, norms, 1.0)


def second_moment(rows: FloatArray) -> FloatArray:
    """Return the sum of y y' over the rows; `principal_axes` raises if it overflowed.

    >>> second_moment(np.array([[1.0, 2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        moment: FloatArray = rows.T @ rows
    return moment


def principal_axes(moment: FloatArray, count: int) -> FloatArray:
    """Return the leading eigenvectors of a symmetric matrix as rows, the largest entry of each positive.

    >>> principal_axes(np.array([[2.0, 0.0], [0.0, 3.0]]), 1)
    array([[0., 1.]])
    """
    if not np.isfinite(moment).all():
        raise ValueError("the squares of the samples overflow: divide the samples by a constant first.")
    axes = np.linalg.eigh(moment)[1].T[::-1][:count]
    largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
    return np.where(largest < 0.0, -axes, axes)
