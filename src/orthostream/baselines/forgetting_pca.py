"""Principal components of recent samples: a strong rival that the paper does not compare with."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from orthostream._checks import between, optional_integer
from orthostream._typing import FloatArray
from orthostream.baselines.base import OrthonormalBaseline, principal_axes, second_moment


class ForgettingPCA(OrthonormalBaseline):
    """The eigenvectors of an exponentially weighted second moment, updated with each mini-batch.

    With ``forgetting`` f the moment after a mini-batch Y is ``f * moment + Y'Y``: a sample seen n mini-batches ago has
    the weight f^n.

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, at most the number of features, which is the default.
    forgetting : float, default 0.95
        The weight of the past at each mini-batch, from 0 (forget all) to 1 (forget nothing).
    centre : bool, default False
        Subtract the mean, weighted in the same way.
    n_nonzero : int, optional
        `transform` keeps this many of the largest coefficients of each sample. All, by default.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
    mean_ : array of shape (n_features,), or None
    moment_ : array of shape (n_features, n_features)
        The weighted sum of y y'.
    n_steps_ : int
        Mini-batches seen.

    Notes
    -----
    A mini-batch costs an eigendecomposition, of the order of n_features cubed.

    Examples
    --------
    >>> import numpy as np
    >>> learner = ForgettingPCA(1, forgetting=0.5)
    >>> learner.partial_fit(np.array([[0.0, 2.0]])).components_
    array([[0., 1.]])
    >>> for _ in range(4):
    ...     learner = learner.partial_fit(np.array([[1.0, 0.0]]))
    >>> learner.components_
    array([[1., 0.]])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        forgetting: float = 0.95,
        centre: bool = False,
        n_nonzero: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.forgetting = forgetting
        self.centre = centre
        self.n_nonzero = n_nonzero

    moment_: FloatArray
    total_: FloatArray
    weight_: float
    n_steps_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from scratch, all samples as one mini-batch."""
        return self._step(X, reset=True)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the next mini-batch of a stream."""
        return self._step(X, reset=not hasattr(self, "moment_"))

    def _step(self, X: Any, *, reset: bool) -> Self:
        rows = self._validated(X, reset=reset)
        optional_integer("n_nonzero", self.n_nonzero)
        features = self.n_features_in_
        count = optional_integer("n_components", self.n_components, most=features, what="n_features") or features
        keep = between("forgetting", self.forgetting, 0.0, 1.0)
        moment, total, weight, steps = second_moment(rows), rows.sum(axis=0), float(len(rows)), 1
        if not reset:
            moment += keep * self.moment_
            total += keep * self.total_
            weight += keep * self.weight_
            steps += self.n_steps_
        mean = total / weight if self.centre else None
        self.components_ = principal_axes(moment if mean is None else moment - np.outer(total, mean), count)
        self.moment_, self.total_, self.weight_, self.n_steps_, self.mean_ = moment, total, weight, steps, mean
        return self
