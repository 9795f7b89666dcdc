"""Sparse principal components from a stream: the default, and Algorithm 1 over the Euclidean ball as in section V-D."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.dictionary.centred_estimator import CentredEstimator
from orthostream.dictionary.named import fixed_schedule
from orthostream.optimize import (
    Callback,
    L2Ball,
    Schedule,
    SparseEigenvectors,
    SparsePCAObjective,
    StochasticFrankWolfe,
)

METHODS = ("eigenvectors", "paper")

#: The parameters that only one of the methods has; None stands for its default.
_EIGENVECTORS, _PAPER = ("variance_loss", "half_life"), ("penalty", "mu", "schedule", "init")


class StreamingSparsePCA(CentredEstimator):
    """Find sparse principal components in a stream of samples, one mini-batch at a time.

    By default a component is the leading eigenvector of the second moment of all samples, restricted to the features
    on which it is more than noise. Its other entries are exactly zero. Further components follow in the same way from
    what is left, orthogonal to the ones before. The components depend on the samples alone, not on how the stream was
    cut. Up to 1,000 features the memory is a matrix of the second moment; beyond, it is a sketch that grows in
    proportion to the number of features (`orthostream.optimize.SparseEigenvectors`).

    Method "paper" is that of section V-D: a component z minimises the expectation of ``-(z'y)^2 + penalty * H_mu(z)``
    over the unit ball, with Huber's smoothed l1 norm H. Further components are learnt at the same time, each from the
    samples minus their projections onto the components before it. Its entries get small, but not exactly zero.

    Parameters
    ----------
    n_components : int, default 1
    method : {"eigenvectors", "paper"}, default "eigenvectors"
    variance_loss : float, optional
        The part of its variance that each component may lose for more zeros. With 0, only what cannot be told from
        noise is zero. None allows 0.001, but no entry of more than five standard errors is lost, so that components get
        as close to the eigenvectors as the samples allow. `set_params` changes it at any time, for all samples seen.
    half_life : float, optional
        The number of samples after which the weight of a sample is halved, to follow a stream that changes. By default
        nothing is forgotten.
    penalty : float, default 1.0
        Method "paper": the weight of the smoothed l1 norm relative to the variance along the component, in squared
        units of the samples.
    mu : float, default 0.2
        Method "paper": the absolute value at which Huber's norm changes from quadratic to linear.
    schedule : {"paper", "sfw", "constant"} or Schedule, default "paper"
        Method "paper".
    init : "random" or array of shape (n_components, n_features), default "random"
        Method "paper".
    batch_size : int, optional
        None takes the rows of each `partial_fit` as one mini-batch. A number cuts the stream into mini-batches of that
        many rows.
    center : None, "running" or array of shape (n_features,), default None
        What is subtracted from samples before they are learnt from or projected: nothing, a running mean of the stream,
        or a known mean. The running mean forgets after 1,000 samples per feature, and outliers do not spoil it; with
        it, components depend a little on how the stream was cut. Sparse rows cannot be centred.
    random_state : int, RandomState or None
        Method "paper" draws its start with it.
    callbacks : sequence of functions, optional
        Each is called after every step with a `Progress`. With the default method its point is brought up to date when
        a tenth of the samples is new; ``components_`` is always up to date.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Unit vectors, one in each row; orthogonal, except with method "paper".
    mean_ : array of shape (n_features,) or None
        What is subtracted from samples; None if that is nothing.
    state_ : State

    Notes
    -----
    Samples must be complete, and centred unless ``center`` says how: else the mean is the first component. What is
    noise is judged as for independent normal samples, or fewer of them if the lengths of samples vary more; a sample
    weight of 2 counts as two samples. With method "paper", if the penalty exceeds the variance that a component
    explains, all its entries go to zero and its direction is lost.

    Examples
    --------
    >>> from orthostream import StreamingSparsePCA
    >>> from orthostream.datasets import make_sparse_component
    >>> data = make_sparse_component(5_000, 20, n_nonzero=4, random_state=0)
    >>> learner = StreamingSparsePCA()
    >>> for start in range(0, 5_000, 10):
    ...     learner = learner.partial_fit(data.samples[start : start + 10])
    >>> learner.components_[0].nonzero()[0]
    array([0, 1, 2, 3])
    >>> bool(abs(learner.components_[0] @ data.component) > 0.99999)
    True
    """

    #: Learners were saved without these parameters before they existed.
    _added_later: ClassVar[Mapping[str, Any]] = {"method": "paper"}

    def __init__(
        self,
        n_components: int = 1,
        *,
        method: str = "eigenvectors",
        variance_loss: float | None = None,
        half_life: float | None = None,
        penalty: float | None = None,
        mu: float | None = None,
        schedule: str | Schedule | None = None,
        init: str | ArrayLike | None = None,
        batch_size: int | None = None,
        center: str | ArrayLike | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.variance_loss = variance_loss
        self.half_life = half_life
        self.penalty = penalty
        self.mu = mu
        self.schedule = schedule
        self.init = init
        self.batch_size = batch_size
        self.center = center
        self.random_state = random_state
        self.callbacks = callbacks

    @property
    def components_(self) -> FloatArray:
        """The components, one in each row."""
        self._check_started("components_")
        return self._components().astype(self._dtype)

    @property
    def _n_features_out(self) -> int:
        return len(self.state_.x)

    def _components(self) -> FloatArray:
        """Return the components of all samples so far."""
        estimate, x = self.solver_.estimate, self.state_.x
        if isinstance(estimate, SparseEigenvectors):
            x = estimate.components(self.state_.memory, x)
        return _unit_rows(x)

    def _make_solver(self) -> StochasticFrankWolfe:
        _checks.one_of("method", self.method, METHODS)
        for name in _EIGENVECTORS if self.method == "paper" else _PAPER:
            if getattr(self, name) is not None:
                other = METHODS[self.method == METHODS[0]]
                raise ValueError(f"{name} is a parameter of method={other!r}: choose that method or leave {name} out.")
        if self.method == "eigenvectors":
            return StochasticFrankWolfe(L2Ball(), SparseEigenvectors(self.variance_loss, self.half_life))
        schedule = fixed_schedule("paper" if self.schedule is None else self.schedule)
        penalty, mu = (1.0 if self.penalty is None else self.penalty), (0.2 if self.mu is None else self.mu)
        # The penalty is in the user's units, but the solver may see scaled samples.
        scale = min(getattr(self, "scale_", 1.0), 1e150)
        objective = SparsePCAObjective(penalty * scale * scale, mu)
        return StochasticFrankWolfe(L2Ball(), objective, schedule)

    def _start(self, batch: Any, solver: StochasticFrankWolfe) -> FloatArray:
        count, features = self.n_components, self.n_features_in_
        count = _checks.integer("n_components", count, most=features, what="n_features")
        if self.method == "eigenvectors":
            return np.eye(count, features)
        init = "random" if self.init is None else self.init
        if not isinstance(init, str):
            given = np.array(init, dtype=float)
            if given.shape != (count, features) or not np.isfinite(given).all():
                raise ValueError(f"init must be finite and of shape {(count, features)}, got shape {given.shape}.")
            if not given.any(axis=1).all():
                raise ValueError("init must not have a row of zeros, which has no direction.")
            return _unit_rows(given)
        _checks.one_of("init", init, ("random",), also="an array")
        return _unit_rows(check_random_state(self.random_state).standard_normal((count, features)))

    def _memory_of_the_mean(self) -> int:
        return self.n_features_in_

    def _fit_plan(self, samples: int) -> tuple[int, int]:
        """Return all samples and one step for eigenvectors, which need no more, and would count repeats as evidence."""
        return (samples, 1) if self.method == "eigenvectors" else super()._fit_plan(samples)

    def _completed(self, batch: Any) -> Any:
        """Return the mini-batch for each component of method "paper": minus its projections on those before."""
        if self.method == "eigenvectors":
            return batch
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
        rows = self._validated(X)
        scores: FloatArray = (rows if self._centre is None else self._centre.subtracted(rows)) @ self._components().T
        return scores.astype(self._dtype, copy=False)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return the samples that belong to projections."""
        check_is_fitted(self, "state_")
        codes = np.asarray(X)
        if codes.ndim != 2 or codes.shape[1] != len(self.state_.x):
            raise ValueError(f"codes must have shape (n_samples, {len(self.state_.x)}), got {codes.shape}.")
        samples: FloatArray = codes @ self._components()
        if self._centre is not None:
            samples = samples + self._centre.mean
        return samples.astype(self._dtype, copy=False)


def _unit_rows(rows: FloatArray) -> FloatArray:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(norms > 0.0, norms, 1.0)
