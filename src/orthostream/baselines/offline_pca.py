"""Principal components of a whole data set."""

from __future__ import annotations

from typing import Any, Self

from orthostream._checks import optional_integer
from orthostream.baselines.base import OrthonormalBaseline, principal_axes, second_moment


class OfflinePCA(OrthonormalBaseline):
    """The eigenvectors of the second moment of the samples, largest eigenvalue first.

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, at most the number of features, which is the default.
    centre : bool, default False
        Subtract the mean first: the atoms are then eigenvectors of the covariance. The other baselines do not.
    n_nonzero : int, optional
        `transform` keeps this many of the largest coefficients of each sample. All, by default.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
    mean_ : array of shape (n_features,), or None

    Examples
    --------
    >>> import numpy as np
    >>> samples = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    >>> OfflinePCA(n_nonzero=1).fit(samples).transform(np.array([[3.0, 1.0]]))
    array([[3., 0.]])
    """

    def __init__(self, n_components: int | None = None, *, centre: bool = False, n_nonzero: int | None = None) -> None:
        self.n_components = n_components
        self.centre = centre
        self.n_nonzero = n_nonzero

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all samples at once."""
        rows = self._validated(X, reset=True)
        optional_integer("n_nonzero", self.n_nonzero)
        features = self.n_features_in_
        count = optional_integer("n_components", self.n_components, most=features, what="n_features") or features
        self.mean_ = rows.mean(axis=0) if self.centre else None
        if self.mean_ is not None:
            rows = rows - self.mean_
        self.components_ = principal_axes(second_moment(rows), count)
        return self
