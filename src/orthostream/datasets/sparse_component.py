"""The synthetic streams of section V-D: one sparse leading component in white noise."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch, check_random_state

from orthostream._checks import integer


def make_sparse_component(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    n_nonzero: int = 3,
    variance: float = 100.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw normal samples whose covariance has a sparse leading eigenvector; all other eigenvalues are 1.

    As all other eigenvalues are equal, the covariance is ``1 + (variance - 1) v v'`` for any choice of the other
    eigenvectors, so none of them is drawn.

    Returns
    -------
    Bunch
        ``samples`` (n_samples, n_features) and ``component`` (n_features,), whose first ``n_nonzero`` entries are equal
        and whose others are zero.

    Examples
    --------
    >>> make_sparse_component(5, 4, n_nonzero=1, random_state=0).component
    array([1., 0., 0., 0.])
    """
    integer("n_nonzero", n_nonzero, most=n_features, what="n_features")
    rng = check_random_state(random_state)
    component = np.zeros(n_features)
    component[:n_nonzero] = n_nonzero**-0.5
    white = rng.standard_normal((n_samples, n_features))
    stretched = (variance**0.5 - 1.0) * (white @ component)
    return Bunch(samples=white + np.outer(stretched, component), component=component)
