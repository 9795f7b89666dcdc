"""Algorithm 2: an orthogonal dictionary learnt from a stream, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.dictionary.coding_estimator import CodingEstimator
from orthostream.dictionary.first_look import look_at
from orthostream.dictionary.initialise import from_components, from_data, random_orthogonal
from orthostream.dictionary.missing import fill_with_row_means
from orthostream.dictionary.named import parts_by_name
from orthostream.optimize import (
    Callback,
    GradientEstimate,
    Guarded,
    InSubspace,
    MixedMemories,
    Objective,
    Replay,
    Schedule,
    SpectralBall,
    StochasticFrankWolfe,
    polar,
)


class OrthogonalDictionaryLearning(CodingEstimator):
    """Learn an orthogonal dictionary from a stream of samples, one mini-batch at a time.

    The model of a sample is y = D x, with orthonormal columns D and a sparse code x. By default the learner starts with
    the contrast ``-||D'y||_3^3`` and hands over to a spike-and-slab contrast once it finds that codes are sparse. It
    then recovers the dictionary of exactly sparse codes exactly, and that of noisy codes as well as the noise allows.
    It chooses the length of its memory by itself: long while the dictionary stays the same, short while it changes. It
    keeps ten matrices of the dictionary's size and a few numbers, and for its first 40 samples per atom a buffer of 20
    samples per atom, from which it learns several times; nothing grows with the stream. With fewer atoms than features
    it learns inside of the subspace that they span, which it tracks too.

    ============== ============================================ ======================================================
    preset         for                                          what it is
    ============== ============================================ ======================================================
    "exact"        most streams; the default                    contrast "sparse", schedule "adaptive"
    "tracking"     a dictionary that moves all the time         the same, with at most 20 samples per atom of memory
    "compression"  keeping the largest few coefficients         contrast "energy": mixes memories of several lengths;
                                                                starts from principal components
    "paper"        the paper's Algorithm 2, unchanged           contrast "l3", schedule "paper"
    ============== ============================================ ======================================================

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, at most the number of features, which is the default.
    contrast : {"auto", "sparse", "l3", "l4", "energy"}, Objective or GradientEstimate, default "auto"
        What is minimised: a function that is small for sparse codes. "sparse" starts with l3 and changes to spike and
        slab; "energy" weights the energy of the coefficients by their ranks, for compression. "auto" is "sparse", or
        "l3" with a schedule that is not adaptive.
    schedule : {"auto", "adaptive", "tracking", "paper", "sfw", "constant"} or Schedule, default "auto"
        The weights of the steps. "adaptive" lengthens the memory while the dictionary stays the same and shortens it
        when it changes; "tracking" also limits its length. ``AdaptiveSchedule(half_life=...)`` sets that limit in
        samples; ``CoolThenConstant(half_life)`` with contrast "sparse" fixes the length. "sfw" is the method of
        Mokhtari et al., without a polar decomposition between steps. "auto" is "adaptive" with contrast "auto" or
        "sparse", and "paper" with "l3", "l4" or an Objective.
    init : {"random", "data"} or array of shape (n_components, n_features), default "random"
        The first dictionary: drawn uniformly, fitted to the first mini-batch, or given, with orthonormal rows. Contrast
        "energy" always starts from principal components.
    average : bool, default False
        Report the polar factor of a running mean of the dictionaries instead of the last dictionary. "auto" then means
        the paper's algorithm. If the true dictionary is constant, the mean is two to three times closer to it; after a
        change, forgetting takes about as long as learning did. The factor is computed at each access.
    batch_size : int, optional
        None takes the rows of each `partial_fit` as one mini-batch; a number cuts the stream into mini-batches of that
        many rows, however it arrives.
    n_nonzero, threshold : int and float, optional
        What `transform` keeps: this many of the largest coefficients of each sample, and only those above the
        threshold. By default it keeps all.
    center : None, "running" or array of shape (n_features,), default None
        What is subtracted from samples before they are learnt from or coded: nothing, a running mean of the stream, or
        a known mean. The running mean is the mean of all samples, and forgets after 1,000 samples per atom. A sample
        more than ten times as far from it as usual counts as if it were at ten times. Missing readings are filled in
        after the subtraction. Sparse rows cannot be centred.
    max_iter : int, optional
        The largest number of passes of `fit` over the data; by default, passes are made until 1,000 steps are taken.
    tol : float, optional
        `fit` stops when a whole pass, from the second on, moves the dictionary by less than this, as a relative
        Frobenius norm up to the signs of atoms. By default it does not stop early.
    shuffle : bool, default False
        Whether each pass of `fit` takes the rows in a new random order.
    random_state : int, RandomState or None
        Used to draw the first dictionary and to shuffle.
    callbacks : sequence of functions, optional
        Each is called after every step with a `Progress` (t, state, gap, objective, report); `fit` stops when one
        returns True. The report has the half-life of the memory and the number of abrupt changes of the stream.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        The dictionary, with orthonormal atoms as rows: by descending energy, the largest entry of each positive. Both
        can change as learning goes on: take codes and atoms at the same moment.
    raw_components_ : array of shape (n_components, n_features)
        The same atoms in the order and with the signs in which they are learnt, to follow each of them over time.
    state_ : State
        Everything that the next step needs.
    n_steps_ : int
        Steps taken.
    mean_ : array of shape (n_features,) or None
        What is subtracted from samples; None if that is nothing.
    n_iter_ : int
        Passes that `fit` made over the data; a callback may have cut the last one short.
    status_ : Status
        Why `fit` ended: STOPPED by a callback, CONVERGED by ``tol``, or else STREAM_ENDED.

    Notes
    -----
    Without ``center``, samples are assumed to be centred: an atom is wasted on a constant offset. If all rows are zero
    or the same, `fit` gives an `UninformativeRowsWarning`; if their mean holds more than half of their energy, an
    `UncentredRowsWarning`. The logger ``orthostream.dictionary.first_look`` is told if the first rows of a stream are
    like that. NaN marks a missing reading: see `orthostream.dictionary.missing`. Results for float32 samples are
    float32. Input arrays are never written to.

    Examples
    --------
    >>> from orthostream import OrthogonalDictionaryLearning
    >>> from orthostream.datasets import make_bernoulli_gaussian
    >>> from orthostream.metrics import recovery_error
    >>> data = make_bernoulli_gaussian(n_samples=10_000, n_features=10, sparsity=0.3, random_state=0)
    >>> learner = OrthogonalDictionaryLearning(random_state=0)
    >>> for start in range(0, 10_000, 10):
    ...     learner = learner.partial_fit(data.samples[start : start + 10])
    >>> bool(recovery_error(learner.components_, data.components) < 1e-12)
    True
    """

    _PRESETS: ClassVar[dict[str, dict[str, Any]]] = {
        "exact": {"contrast": "sparse", "schedule": "adaptive"},
        "tracking": {"contrast": "sparse", "schedule": "tracking"},
        "compression": {"contrast": "energy"},
        "paper": {"contrast": "l3", "schedule": "paper", "init": "random", "average": False},
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        contrast: str | Objective | GradientEstimate = "auto",
        schedule: str | Schedule = "auto",
        init: str | ArrayLike = "random",
        average: bool = False,
        batch_size: int | None = None,
        n_nonzero: int | None = None,
        threshold: float | None = None,
        center: str | ArrayLike | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[Callback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.contrast = contrast
        self.schedule = schedule
        self.init = init
        self.average = average
        self.batch_size = batch_size
        self.n_nonzero = n_nonzero
        self.threshold = threshold
        self.center = center
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.callbacks = callbacks

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> Self:
        """Return a learner set up for a purpose: "exact", "tracking", "compression" or "paper" (see the class).

        >>> OrthogonalDictionaryLearning.preset("tracking", n_components=3)
        OrthogonalDictionaryLearning(contrast='sparse', n_components=3,
                                     schedule='tracking')
        """
        if not isinstance(name, str) or name not in cls._PRESETS:
            raise ValueError(f"preset must be one of {sorted(cls._PRESETS)}, got {name!r}.")
        return cls(**(cls._PRESETS[name] | parameters))

    @property
    def components_(self) -> FloatArray:
        """The atoms, one in each row, by descending energy; the largest entry of each is positive.

        They are sorted when they are read. Order and signs can change from step to step, so take codes and atoms at the
        same moment.
        """
        self._check_started("components_")
        return self._in_order().T.astype(self._dtype)

    @property
    def raw_components_(self) -> FloatArray:
        """The same atoms in the order and with the signs in which they are learnt, to follow each of them over time."""
        self._check_started("raw_components_")
        return self._dictionary().T.astype(self._dtype)

    @property
    def _n_features_out(self) -> int:
        return int(self.state_.x.shape[1])

    def _dictionary(self) -> FloatArray:
        """Return the dictionary as columns."""
        state = self.state_
        if state.average is not None:
            return polar(state.average, near=state.x)[0]
        point = self.solver_.answer(state)
        return point if self.solver_.post_step.core_ndim is not None else polar(point)[0]

    def _make_solver(self) -> StochasticFrankWolfe:
        objective, schedule, post_step = parts_by_name(self.contrast, self.schedule, self.average)
        if type(objective) is Guarded and objective is not self.contrast:
            if self._passing:
                objective = Guarded(objective.course, skip_repeats=False)
            if self._has_fewer_atoms():
                objective = InSubspace(objective)
        return StochasticFrankWolfe(SpectralBall(), objective, schedule, post_step, average=self.average)

    def _has_fewer_atoms(self) -> bool:
        """Return whether there are fewer atoms than features; False before the number of features is known."""
        return hasattr(self, "n_features_in_") and self._n_atoms() < self.n_features_in_

    def _look_at(self, rows: Any, *, is_stream: bool) -> None:
        if self._is_strict():
            look_at(rows, is_stream=is_stream, centred=self.center is not None, stacklevel=3)

    def _start(self, batch: Any, solver: StochasticFrankWolfe) -> FloatArray:
        features, count = self.n_features_in_, self._n_atoms()
        self._check_coding(count)
        given = not (isinstance(self.init, str) and self.init == "random")
        if given and isinstance(solver.estimate, MixedMemories | Replay):
            raise ValueError('contrast "energy" starts from principal components: leave out init.')
        if not isinstance(self.init, str):
            return from_components(self.init, count, features)
        _checks.one_of("init", self.init, ("random", "data"), also="an array")
        start = random_orthogonal(features, count, check_random_state(self.random_state))
        return start if self.init == "random" else from_data(start, fill_with_row_means(batch), solver.objective)

    def _allows_nan(self) -> bool:
        return True

    def _completed(self, batch: Any) -> Any:
        if not isinstance(batch, np.ndarray):
            return batch
        batch, self._gaps = self._gaps.completed(batch, self.solver_.estimate, self.state_)
        return batch
