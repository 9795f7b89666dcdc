"""The first dictionary of a learner."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from orthostream._typing import FloatArray
from orthostream.optimize import Objective, polar

#: Fixed-point iterations of a start from data; as many as in the paper's experiment.
_ITERATIONS = 20


def random_orthogonal(rows: int, columns: int, rng: np.random.RandomState) -> FloatArray:
    """Return an N x K matrix with orthonormal columns, drawn uniformly.

    >>> d = random_orthogonal(4, 2, np.random.RandomState(0))
    >>> np.allclose(d.T @ d, np.eye(2))
    True
    """
    return polar(rng.standard_normal((rows, columns)))[0]


def from_data(start: FloatArray, batch: FloatArray, objective: Objective) -> FloatArray:
    """Return the dictionary after some iterations D <- polar(-gradient), all on the first mini-batch."""
    x = start
    for _ in range(_ITERATIONS):
        x, _ = polar(objective.gradient(x, batch), near=x, sign=-1.0)
    return x


def from_components(components: ArrayLike, n_components: int, n_features: int) -> FloatArray:
    """Return a copy of the given atoms as columns, made orthonormal up to rounding."""
    given = np.array(components, dtype=float)
    if given.shape != (n_components, n_features):
        raise ValueError(f"init must have shape {(n_components, n_features)}, got {given.shape}.")
    if not np.isfinite(given).all():
        raise ValueError("init must be finite.")
    x = np.ascontiguousarray(given.T)
    deviation = float(np.abs(x.T @ x - np.eye(n_components)).max())
    if deviation > 1e-3:
        raise ValueError(f"the rows of init must be orthonormal; they deviate by {deviation:.2g}.")
    return x if deviation < 1e-13 else polar(x)[0]
