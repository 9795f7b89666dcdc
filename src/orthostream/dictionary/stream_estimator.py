"""What the learners share: a solver and its state behind scikit-learn's interface, fed by a stream."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.linalg import blas
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import validate_data

from orthostream._typing import FloatArray
from orthostream.dictionary.carried_state import adopted, rescaled, without_course
from orthostream.dictionary.saved_estimator import SavedEstimator
from orthostream.optimize import Course, Progress, State, Status, StochasticFrankWolfe
from orthostream.optimize.callbacks import notify
from orthostream.optimize.fused import largest_square
from orthostream.optimize.threads import SINGLE_THREADED, one_blas_thread

#: Steps that `fit` takes at least, by passing over the data as often as it must.
_FIT_STEPS = 1000

#: Samples in a mini-batch of `fit`, unless ``batch_size`` says otherwise.
_FIT_BATCH = 64


class StreamEstimator(SavedEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A solver fed by `partial_fit`; subclasses say which solver, and where it starts."""

    solver_: StochasticFrankWolfe
    state_: State
    n_features_in_: int
    batch_size: int | None
    callbacks: Any
    pending_: Any
    pending_weight_: FloatArray | None

    @abstractmethod
    def _make_solver(self) -> StochasticFrankWolfe:
        """Return the solver that the constructor's words describe."""

    @abstractmethod
    def _start(self, batch: Any, solver: StochasticFrankWolfe) -> FloatArray:
        """Return the first point, given the first mini-batch."""

    # -- learning ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from scratch, from a data set that is passed over as a stream.

        Mini-batches have ``batch_size`` rows (64 where that is None); whole passes are repeated until 1,000 steps are
        taken, or a callback stops the run.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        X = self._validated(X, reset=True)
        weights = self._validated_weights(sample_weight, X)
        self._reset()
        size = self._batch_size() or _FIT_BATCH
        self.status_ = Status.STREAM_ENDED
        with self._one_thread():
            while True:
                for start in range(0, X.shape[0], size):
                    rows = slice(start, start + size)
                    row_weights = None if weights is None else weights[rows]
                    used = self._learn(X[rows], row_weights)
                    if used is not None and self._notified(used, row_weights):
                        self.status_ = Status.STOPPED
                        return self
                if not hasattr(self, "state_"):
                    raise ValueError("every sample has weight zero: there is nothing to learn from.")
                if self.state_.t >= _FIT_STEPS:
                    return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream.

        With ``batch_size=None`` the rows are one mini-batch: one step of the algorithm. With a number the stream is
        cut anew into mini-batches of exactly that many rows, so that the result does not depend on how it
        arrives; up to ``batch_size - 1`` rows wait in ``pending_`` for the next call.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            To the contrasts only ratios count; a memory that finds its own length counts a weight of 2 as two samples.
        """
        fused = getattr(self, "_fused", None)
        if fused is not None and sample_weight is None and self.batch_size is None and not self.callbacks:
            # What the slow way would find to do for plain rows is nothing, and the compiled step knows plain rows.
            if self.n_features_in_ <= SINGLE_THREADED:
                state = fused(self.state_, X)
            else:
                with one_blas_thread():
                    state = fused(self.state_, X)
            if state is not None:
                self.state_ = state
                return self
        if sample_weight is None and self._is_plain(X):
            with self._one_thread():
                self.state_ = self.solver_.step(self.state_, X)
            if self.callbacks:
                self._notified(X)
            return self
        X = self._validated(X, reset=not hasattr(self, "state_") and getattr(self, "pending_", None) is None)
        weights = self._validated_weights(sample_weight, X)
        with self._one_thread():
            for rows, row_weights in self._cut(X, weights):
                used = self._learn(rows, row_weights)
                if used is not None:
                    self._notified(used, row_weights)
        return self

    @property
    def n_steps_(self) -> int:
        """The number of steps taken."""
        self._check_started("n_steps_")
        return self.state_.t

    def _check_started(self, name: str) -> None:
        if hasattr(self, "state_"):
            return
        waiting = getattr(self, "pending_", None)
        if waiting is not None:
            raise AttributeError(
                f"{name} is there after the first {self.batch_size} rows: {waiting.shape[0]} are waiting."
            )
        raise AttributeError(f"{name} is there after the first mini-batch: call fit or partial_fit.")

    @property
    def _takes_plain(self) -> bool:
        """Whether rows may go to the solver as they are, if they are plain."""
        return hasattr(self, "state_") and self.scale_ == 1.0 and not hasattr(self, "feature_names_in_")

    def _is_plain(self, X: Any) -> bool:
        """Tell whether rows can go to the solver as they are."""
        if type(X) is not np.ndarray or self.batch_size is not None or not self._takes_plain:
            return False
        if X.dtype != self.state_.x.dtype or X.ndim != 2 or X.shape[1] != self.n_features_in_ or len(X) == 0:
            return False
        if not X.flags.c_contiguous:
            return False
        # NaN, infinities, zeros and extreme values all show in the sum of squares, about which BLAS does not warn.
        flat = X.reshape(-1)
        most = largest_square(_degree(self.solver_), X.dtype)
        return bool(1.0 / most < (blas.ddot if X.dtype == np.float64 else blas.sdot)(flat, flat) < most)

    def _reset(self, *, keep_waiting: bool = False) -> None:
        """Forget what was learnt and, unless told to keep them, the rows that wait."""
        waiting = () if keep_waiting else ("pending_", "pending_weight_")
        for name in ("solver_", "state_", "scale_", "_fused", *waiting):
            if hasattr(self, name):
                delattr(self, name)

    def _learn(self, batch: Any, weights: FloatArray | None) -> Any:
        """Take a step on a validated mini-batch, which may hold missing or extreme values; return it as it was used.

        None is returned, and no step is taken, where nothing in it counts.
        """
        if weights is not None and not weights.any():
            return None
        if not hasattr(self, "state_"):
            self._begin(batch)
        used = self._completed(self._scaled(batch))
        self.state_ = self.solver_.step(self.state_, used, weights)
        return used

    def _begin(self, batch: Any) -> None:
        """Make the solver and the first state; where that fails, rows that wait go on waiting."""
        if callable(self.callbacks):
            raise TypeError("callbacks must be a sequence of functions: write [function].")
        self.scale_ = 1.0
        try:
            self.solver_ = self._make_solver()
            scaled = self._scaled(batch)
            self.state_ = self.solver_.init(self._start(scaled, self.solver_).astype(scaled.dtype))
        except BaseException:
            self._reset(keep_waiting=True)
            raise
        self._fused = self.solver_.fused if self._takes_plain else None

    def _completed(self, batch: Any) -> Any:
        """Return a mini-batch without missing values."""
        return batch

    def _scaled(self, batch: Any) -> Any:
        """Return the mini-batch in units in which no power of it overflows or vanishes.

        The unit is a power of two, so that scaling rounds nothing. It is 1 until a value demands another.
        """
        values = batch if isinstance(batch, np.ndarray) else batch.data
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        size, degree = largest * self.scale_, _degree(self.solver_)
        most = largest_square(degree, batch.dtype) ** 0.5
        learnt = hasattr(self, "state_")
        # Once something is learnt, values may vanish beside it, but not overflow.
        if largest > 0.0 and not 1.0 / most < size < most and (size >= 1.0 or not learnt):
            reach = 1000.0 if batch.dtype == np.float64 else 120.0
            unit = 2.0 ** float(np.clip(-np.floor(np.log2(largest)), -reach, reach))
            if learnt:  # what was learnt keeps its direction; its length is that of a power of the data
                self.state_ = rescaled(self.solver_, self.state_, unit / self.scale_)
            self.scale_ = unit
            self.solver_ = self._make_solver()
            self._fused = None
        return batch if self.scale_ == 1.0 else batch * batch.dtype.type(self.scale_)

    def _notified(self, batch: Any, weights: FloatArray | None = None) -> bool:
        return bool(self.callbacks) and notify(self.callbacks, Progress(self.solver_, self.state_, batch, weights))

    def _cut(self, X: Any, weights: FloatArray | None) -> Iterator[tuple[Any, FloatArray | None]]:
        """Cut what waits and what came into mini-batches; what a failure leaves behind goes on waiting."""
        size = self._batch_size()
        if size is None:
            yield X, weights
            return
        waiting = getattr(self, "pending_", None)
        if waiting is not None:
            before = self.pending_weight_
            if weights is not None or before is not None:
                ones = np.ones(waiting.shape[0] + X.shape[0], X.dtype)
                weights = np.concatenate(
                    [
                        ones[: waiting.shape[0]] if before is None else before,
                        ones[waiting.shape[0] :] if weights is None else weights,
                    ]
                )
            if isinstance(waiting, np.ndarray):
                X = np.concatenate([waiting, X if isinstance(X, np.ndarray) else X.toarray()])
            else:
                X = sparse.vstack([waiting, sparse.csr_matrix(X)], "csr")
        for start in range(0, X.shape[0] - size + 1, size):
            rows, rest = slice(start, start + size), slice(start + size, None)
            self.pending_, self.pending_weight_ = X[rest], None if weights is None else weights[rest]
            yield X[rows], None if weights is None else weights[rows]
        rest = slice(X.shape[0] - X.shape[0] % size, None)
        self.pending_ = X[rest].copy()
        self.pending_weight_ = None if weights is None else weights[rest].copy()

    def _one_thread(self) -> Any:
        return one_blas_thread() if self.n_features_in_ > SINGLE_THREADED else nullcontext()

    def set_params(self, **parameters: Any) -> Self:
        """Set constructor words; a fitted learner goes on with the new contrast, schedule and averaging."""
        super().set_params(**parameters)
        if parameters and hasattr(self, "state_"):
            before, self.solver_ = self.solver_, self._make_solver()
            self._fused = self.solver_.fused if self._takes_plain else None
            if isinstance(before.objective, Course):
                self.state_ = without_course(before.objective, self.solver_, self.state_)
            self.state_ = adopted(self.solver_, self.state_)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave compiled code out of pickles; it is found again where it is there."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_fused", None)
        return state

    # -- validation ----------------------------------------------------------------------------------------------

    def _allows_nan(self) -> bool:
        return False

    def _validated(self, X: Any, *, reset: bool) -> Any:
        dtype: Any = (np.float64, np.float32)
        if not reset:
            dtype = self.state_.x.dtype if hasattr(self, "state_") else self.pending_.dtype
        rows = validate_data(
            self,
            X,
            reset=reset,
            dtype=dtype,
            accept_sparse="csr",
            order="C",
            ensure_all_finite="allow-nan" if self._allows_nan() else True,
        )
        if not isinstance(rows, np.ndarray) and np.isnan(rows.data).any():
            raise ValueError("sparse rows must not hold NaN: what is missing there cannot be told from a zero.")
        return rows

    @staticmethod
    def _validated_weights(sample_weight: Any, X: Any) -> FloatArray | None:
        if sample_weight is None:
            return None
        weights = np.asarray(sample_weight, dtype=X.dtype)
        if weights.shape not in ((), (X.shape[0],)):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(X.shape[0],)}!")
        if not np.isfinite(weights).all() or (weights < 0).any():
            raise ValueError(f"sample_weight must be finite and not negative, its least value is {weights.min()}.")
        return np.broadcast_to(weights, X.shape[:1])

    def _batch_size(self) -> int | None:
        size = self.batch_size
        if size is not None and (isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1):
            raise ValueError(f"batch_size must be a positive integer or None, got {size!r}.")
        return None if size is None else int(size)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._allows_nan()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _degree(solver: StochasticFrankWolfe) -> float:
    """Return the largest power of the data that a step computes."""
    objective = solver.objective
    return objective.degree if isinstance(objective, Course) else float(getattr(objective, "p", 2.0))
