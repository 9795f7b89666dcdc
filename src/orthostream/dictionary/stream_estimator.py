"""The base of the learners: a solver and its state, with scikit-learn's interface and a stream as input."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.dictionary.centre import Centre
from orthostream.dictionary.gap_record import GapRecord
from orthostream.dictionary.passes import mini_batches, relative_motion, shuffling
from orthostream.dictionary.refused import as_before_if_refused
from orthostream.dictionary.rows import quick_rows, validated_rows, validated_weights
from orthostream.dictionary.saved_estimator import SavedEstimator
from orthostream.dictionary.units import largest_square, unit_for
from orthostream.dictionary.waiting_rows import WaitingRows
from orthostream.dictionary.youth import Youth, has_youth
from orthostream.optimize import Progress, State, Status, StochasticFrankWolfe
from orthostream.optimize.callbacks import notify
from orthostream.optimize.threads import SINGLE_THREADED, one_blas_thread

#: The smallest number of steps of `fit` without ``max_iter``: it passes over the data again until it is reached.
_FIT_STEPS = 1000

#: Samples in a mini-batch of `fit`, unless ``batch_size`` says otherwise.
_FIT_BATCH = 64


class StreamEstimator(SavedEstimator, WaitingRows, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A solver fed by `partial_fit`; subclasses define the solver and its first point.

    The solver works in double precision. Results have the precision of the first rows, kept in ``_dtype``.
    """

    solver_: StochasticFrankWolfe
    state_: State
    scale_: float
    n_features_in_: int
    n_components: int | None
    random_state: Any
    callbacks: Any
    max_iter: int | None = None
    tol: float | None = None
    shuffle: bool = False
    _youth: Youth | None = None  # None once the learner has grown up, and for those that have no youth
    _had_gaps: bool = False  # whether the last rows were changed by `_completed`: the compiled step refuses such rows
    _passing: bool = False  # whether `fit` passes over a data set
    _gaps: GapRecord = GapRecord()
    _centre: Centre | None = None
    _known_size: Any = ()  # the parameter ``n_components`` when it was last found to be that of the state

    @abstractmethod
    def _make_solver(self) -> StochasticFrankWolfe:
        """Return the solver that the parameters describe."""

    @abstractmethod
    def _start(self, batch: Any, solver: StochasticFrankWolfe) -> FloatArray:
        """Return the first point, given the first mini-batch."""

    def _fit_plan(self, samples: int) -> tuple[int, int]:
        """Return the size of mini-batches for `fit` if ``batch_size`` is None, and the smallest number of its steps."""
        return _FIT_BATCH, _FIT_STEPS

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from scratch, with the data set as a stream.

        Mini-batches have ``batch_size`` rows, or 64 if that is None. Passes over the data are repeated until at least
        1,000 steps are taken or a callback stops the run; ``max_iter`` and ``tol``, where a learner has them, say
        otherwise. `StreamingSparsePCA` needs one pass, and takes all rows at once if ``batch_size`` is None.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
        """
        with as_before_if_refused(self):
            X = validated_rows(self, X, reset=True)
            weights = validated_weights(sample_weight, X)
            self._reset()
            self._look_at(X, is_stream=False)
            self._passing = True
            try:
                with self._one_thread():
                    self.status_ = self._pass_over(X, weights)
            finally:
                self._passing = False
                if hasattr(self, "solver_"):
                    self.solver_ = self._make_solver()
        return self

    def _pass_over(self, X: Any, weights: FloatArray | None) -> Status:
        """Pass over the data until it is time to stop; return why."""
        most = _checks.optional_integer("max_iter", self.max_iter)
        tol = None if self.tol is None else _checks.at_least("tol", self.tol)
        planned, steps = self._fit_plan(X.shape[0])
        size = self._batch_size() or planned
        rng = shuffling(self.shuffle, self.random_state)
        self.n_iter_ = 0
        before = None
        while True:
            self.n_iter_ += 1
            for rows, some_weights in mini_batches(X, weights, size, rng):
                if self._learn(rows, some_weights, rehearse=False):
                    return Status.STOPPED
            if not hasattr(self, "state_"):
                raise ValueError("every sample has weight zero: there is nothing to learn from.")
            if tol is not None:
                after = np.array(self._dictionary())
                if before is not None and relative_motion(before, after) < tol:
                    return Status.CONVERGED
                before = after
            if self.state_.t >= steps if most is None else self.n_iter_ >= most:
                return Status.STREAM_ENDED

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from the next rows of a stream.

        With ``batch_size=None`` the rows are one mini-batch: one step of the algorithm. With a number the stream is
        cut into mini-batches of exactly that many rows, so that the result does not depend on the size of the
        pieces; up to ``batch_size - 1`` rows wait in ``pending_`` for the next call.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            Contrasts depend only on the ratios of weights; an adaptive memory counts a weight of 2 as two samples.
        """
        rows = quick_rows(self, X)
        if rows is None and not self._has_begun():
            with as_before_if_refused(self):
                rows = validated_rows(self, X, reset=True)
                self._columns = getattr(X, "columns", None)
                self._look_at(rows, is_stream=True)
                return self._take_in(rows, validated_weights(sample_weight, rows))
        if rows is None:
            rows = validated_rows(self, X, reset=False)
            self._columns = getattr(X, "columns", None)
        if self.n_components is not self._known_size and hasattr(self, "state_"):
            self._check_size()
        return self._take_in(rows, validated_weights(sample_weight, rows))

    def _take_in(self, rows: Any, weights: FloatArray | None) -> Self:
        """Learn from validated rows."""
        if self.batch_size is None and self.n_features_in_ <= SINGLE_THREADED:
            self._learn(rows, weights)
            return self
        with self._one_thread():
            for some, some_weights in self._cut(rows, weights):
                self._learn(some, some_weights)
        return self

    @property
    def n_steps_(self) -> int:
        """The number of steps taken."""
        self._check_started("n_steps_")
        return self.state_.t

    def _check_size(self) -> None:
        """Refuse another number of components than was begun with."""
        count = self.n_features_in_ if self.n_components is None else self.n_components
        if count != self._n_features_out:
            raise ValueError(
                f"n_components is now {self.n_components}, but {self._n_features_out} components were learnt: their "
                "number is fixed while learning goes on. Set it back, or learn from scratch with fit."
            )
        self._known_size = self.n_components

    def _has_begun(self) -> bool:
        """Return whether learning has started, or rows are waiting for a first mini-batch."""
        return hasattr(self, "state_") or getattr(self, "pending_", None) is not None

    def _check_started(self, name: str) -> None:
        if hasattr(self, "state_"):
            return
        waiting = getattr(self, "pending_", None)
        if waiting is not None:
            raise AttributeError(
                f"{name} is available after the first {self.batch_size} rows: {waiting.shape[0]} are waiting."
            )
        raise AttributeError(f"{name} is available after the first mini-batch: call fit or partial_fit.")

    def _reset(self, *, keep_waiting: bool = False) -> None:
        """Forget what was learnt, and the waiting rows too unless ``keep_waiting``."""
        waiting = () if keep_waiting else ("pending_", "pending_weight_")
        for name in ("solver_", "state_", "scale_", "_centre", "_known_size", *waiting):
            if name in self.__dict__:
                delattr(self, name)
        self._youth, self._gaps = None, GapRecord()

    def _learn(self, rows: Any, weights: FloatArray | None, *, rehearse: bool = True) -> bool:
        """Take a step on a mini-batch, unless all its weights are zero; return whether a callback stops the run."""
        if weights is not None and not weights.any():
            return False
        begun = hasattr(self, "state_")
        before = centre = self._centre if begun else self._make_centre()
        if centre is not None:
            if not isinstance(rows, np.ndarray):  # they waited since before there was a centre
                rows = rows.toarray()
            centre = centre.after(rows, weights)
            rows = centre.subtracted(rows)
        if not begun:
            self._begin(rows, young=rehearse)
            self._centre = before
        state, given = None, rows
        if self.scale_ == 1.0 and not self._had_gaps:
            state = self.solver_.compiled_step(self.state_, rows, weights)
        if state is None:
            refused = None if self._had_gaps else rows
            completed = self._completed(rows)
            self._had_gaps = completed is not rows
            rows = completed if self._is_plain(completed) else self._scaled(self._limited(completed))
            step = self.solver_.plain_step if rows is refused else self.solver_.step
            state = step(self.state_, rows, weights)
        self.state_ = state
        if self._youth is not None:
            self._rehearse(given, rows, weights)
        if centre is not None:
            self._centre = centre
        if not self.callbacks:
            return False
        return notify(self.callbacks, Progress(self.solver_, self.state_, rows, weights))

    def _rehearse(self, given: Any, rows: Any, weights: FloatArray | None) -> None:
        """Take further steps on samples that were seen before, while the learner is young.

        Rows that were completed are not kept: a wrong dictionary would confirm itself. Weights end the youth.
        """
        youth = self._youth
        if youth is None or weights is not None:
            self._youth = None
            return
        if isinstance(rows, np.ndarray):
            rows = rows[~np.isnan(given).any(axis=1)] if self._had_gaps else rows
        else:
            rows = rows.toarray()
        self.state_ = youth.rehearse(self.solver_, self.state_, rows)
        if youth.is_over:
            self._youth = None

    def _begin(self, batch: Any, *, young: bool) -> None:
        """Make the solver and the first state; if that fails, keep the waiting rows."""
        if callable(self.callbacks):
            raise TypeError("callbacks must be a sequence of functions: write [function].")
        self.scale_ = 1.0
        try:
            self.solver_ = self._make_solver()
            self.state_ = self.solver_.init(self._start(self._scaled(batch), self.solver_))
            if young and has_youth(self.solver_, self.state_):
                self._youth = Youth(*self.state_.x.shape)
        except BaseException:
            self._reset(keep_waiting=True)
            raise

    def _is_plain(self, rows: Any) -> bool:
        """Return whether rows need neither scaling nor completion.

        The sum of squares shows NaN, infinities, zeros and extreme values, and BLAS computes it without warnings.
        """
        if self.scale_ != 1.0 or type(rows) is not np.ndarray:
            return False
        most = largest_square(self.solver_.estimate.degree)
        return bool(1.0 / most < np.vdot(rows, rows) < most)

    def _limited(self, batch: Any) -> Any:
        """Return a mini-batch whose longest samples do not set the scale for all others."""
        return self.solver_.estimate.limited(self.state_.memory, batch, self.scale_)

    def _completed(self, batch: Any) -> Any:
        """Return a mini-batch without missing values."""
        return batch

    def _make_centre(self) -> Centre | None:
        """Return the mean that is subtracted from samples, before the next step; None for no mean."""
        return None

    def _restore_centre(self, center: Any, arrays: dict[str, Any]) -> None:
        """Restore the mean from a saved file, given the parameter ``center`` when it was saved."""

    def _look_at(self, rows: Any, *, is_stream: bool) -> None:
        """Warn of first rows that a learner can hardly learn from."""

    def _dictionary(self) -> FloatArray:
        """Return what the learner has found."""
        return self.state_.x

    def _scaled(self, batch: Any) -> Any:
        """Return the mini-batch scaled so that no power of it overflows or underflows; refuse infinity."""
        values = batch if isinstance(batch, np.ndarray) else batch.data
        largest = float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
        if largest == np.inf:
            raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
        learnt = hasattr(self, "state_")
        unit = unit_for(largest, self.scale_, self.solver_.estimate.degree, learnt)
        if unit != self.scale_:
            if learnt:  # gradients and other memories grow with powers of the data
                memory = self.solver_.estimate.rescaled(self.state_.memory, unit / self.scale_)
                self.state_ = self.state_._replace(memory=memory)
                if self._youth is not None:
                    self._youth.rows *= unit / self.scale_
            self.scale_ = unit
            self.solver_ = self._make_solver()
        return batch if self.scale_ == 1.0 else batch * self.scale_

    def _one_thread(self) -> Any:
        return one_blas_thread() if self.n_features_in_ > SINGLE_THREADED else nullcontext()

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; a fitted learner continues with the new contrast, schedule and averaging.

        The number of components is that of the next `fit`: `partial_fit` refuses another one than it began with.
        """
        super().set_params(**parameters)
        if parameters and hasattr(self, "state_"):
            before, self.solver_ = self.solver_, self._make_solver()
            self.state_ = self.solver_.adopted(self.state_, before)
            self._youth = self._youth if has_youth(self.solver_, self.state_) else None
            self._centre = self._make_centre()
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Leave the columns of a data frame out of pickles: only the fast path uses them."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_columns", None)
        return state

    # -- validation ----------------------------------------------------------------------------------------------

    def _allows_nan(self) -> bool:
        return False

    def _allows_sparse(self) -> bool:
        return True

    def _validated(self, X: Any) -> Any:
        """Return rows to be transformed."""
        return validated_rows(self, X, reset=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._allows_sparse()
        tags.input_tags.allow_nan = self._allows_nan()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
