"""The discrete cosine transform: a dictionary that does not depend on the data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.fft import dct

from orthostream._checks import optional_integer
from orthostream.baselines.base import OrthonormalBaseline


class DCT(OrthonormalBaseline):
    """The orthonormal cosines of the DCT-II as atoms, from the lowest frequency to the highest.

    Parameters
    ----------
    n_nonzero : int, optional
        `transform` keeps this many of the largest coefficients of each sample. All, by default.

    Attributes
    ----------
    components_ : array of shape (n_features, n_features)

    Notes
    -----
    The order of the features matters: cosines are smooth along it. `fit` only learns the number of features.

    Examples
    --------
    >>> import numpy as np
    >>> samples = np.array([[1.0, 1.0, 1.0, 1.0], [3.0, 1.0, -1.0, -3.0]])
    >>> DCT(n_nonzero=1).fit_transform(samples).round(2)
    array([[2.  , 0.  , 0.  , 0.  ],
           [0.  , 4.46, 0.  , 0.  ]])
    """

    def __init__(self, n_nonzero: int | None = None) -> None:
        self.n_nonzero = n_nonzero

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the number of features."""
        self._validated(X, reset=True)
        optional_integer("n_nonzero", self.n_nonzero)
        self.components_ = dct(np.eye(self.n_features_in_), axis=0, norm="ortho")
        return self
