"""Section V-D: sparse principal components from a stream, by Algorithm 1 over the Euclidean ball."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.dictionary.named import fixed_schedule
from orthostream.dictionary.stream_estimator import StreamEstimator
from orthostream.optimize import Callback, L2Ball, Schedule, SparsePCAObjective, StochasticFrankWolfe


class StreamingSparsePCA(StreamEstimator):
    """Find sparse principal components in a stream of samples, one mini-batch at a time.

    A component z minimises the expectation of ``-(z'y)^2 + penalty * H_mu(z)`` over the unit ball, with Huber's
    smoothed l1 norm H. Further components are learnt at the same time, each from the samples minus their projections
    onto the components before it.

    Parameters
    ----------
    n_components : int, default 1
    penalty : float, default 1.0
        The weight of the smoothed l1 norm relative to the variance along the component, in squared units of the
        samples.
    mu : float, default 0.2
        The absolute value at which Huber's norm changes from quadratic to linear.
    schedule : {"paper", "sfw", "constant"} or Schedule, default "paper"
    init : "random" or array of shape (n_components, n_features), default "random"
    batch_size : int, optional
        None takes the rows of each `partial_fit` as one mini-batch. A number cuts the stream into mini-batches of that
        many rows.
    random_state : int, RandomState or None
    callbacks : sequence of functions, optional

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Unit vectors, one in each row.
    state_ : State

    Notes
    -----
    Samples must be centred and complete: subtract a known mean first. Entries that explain little variance become
    small, but not exactly zero. If the penalty exceeds the variance that a component explains, all its entries go to
    zero and its direction is lost.

    Examples
    --------
    >>> from orthostream import StreamingSparsePCA
    >>> from orthostream.datasets import make_sparse_component
    >>> data = make_sparse_component(5_000, 20, n_nonzero=4, random_state=0)
    >>> learner = StreamingSparsePCA(random_state=0)
    >>> for start in range(0, 5_000, 10):
    ...     learner = learner.partial_fit(data.samples[start : start + 10])
    >>> bool(abs(learner.components_[0] @ data.component) > 0.999)
    True
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        penalty: float = 1.0,
        mu: float = 0.2,
        schedule: str | Schedule = "paper",
        init: str | ArrayLike = "random",
        batch_size: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.mu = mu
        self.schedule = schedule
        self.init = init
        self.batch_size = batch_size
        self.random_state = random_state
        self.callbacks = callbacks

    @property
    def components_(self) -> FloatArray:
        """The components, one in each row."""
        self._check_started("components_")
        return _unit_rows(self.state_.x).astype(self._dtype, copy=False)

    @property
    def _n_features_out(self) -> int:
        return len(self.state_.x)

    def _make_solver(self) -> StochasticFrankWolfe:
        schedule = fixed_schedule(self.schedule)
        # The penalty is in the user's units, but the solver may see scaled samples.
        scale = min(getattr(self, "scale_", 1.0), 1e150)
        objective = SparsePCAObjective(self.penalty * scale * scale, self.mu)
        return StochasticFrankWolfe(L2Ball(), objective, schedule)

    def _start(self, batch: Any, solver: StochasticFrankWolfe) -> FloatArray:
        count, features = self.n_components, self.n_features_in_
        count = _checks.integer("n_components", count, most=features, what="n_features")
        if not isinstance(self.init, str):
            given = np.array(self.init, dtype=float)
            if given.shape != (count, features) or not np.isfinite(given).all():
                raise ValueError(f"init must be finite and of shape {(count, features)}, got shape {given.shape}.")
            if not given.any(axis=1).all():
                raise ValueError("init must not have a row of zeros, which has no direction.")
            return _unit_rows(given)
        _checks.one_of("init", self.init, ("random",), also="an array")
        return _unit_rows(check_random_state(self.random_state).standard_normal((count, features)))

    def _completed(self, batch: Any) -> Any:
        """Return the mini-batch for each component: minus its projections onto the components before."""
        rows = batch.toarray() if hasattr(batch, "toarray") else batch
        components = _unit_rows(self.state_.x)
        deflated = np.empty((len(components), *rows.shape))
        for rest, component in zip(deflated, components, strict=True):
            rest[...] = rows
            rows = rows - np.outer(rows @ component, component)
        return deflated

    def transform(self, X: Any) -> FloatArray:
        """Return the projections of samples onto the components."""
        check_is_fitted(self, "state_")
        scores: FloatArray = self._validated(X) @ _unit_rows(self.state_.x).T
        return scores.astype(self._dtype, copy=False)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the samples that belong to projections."""
        check_is_fitted(self, "state_")
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(self.state_.x):
            raise ValueError(f"codes must have shape (n_samples, {len(self.state_.x)}), got {codes.shape}.")
        samples: FloatArray = codes @ _unit_rows(self.state_.x)
        return samples.astype(self._dtype, copy=False)


def _unit_rows(rows: FloatArray) -> FloatArray:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(norms > 0.0, norms, 1.0)
