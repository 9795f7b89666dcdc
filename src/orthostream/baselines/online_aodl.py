"""Baseline 3: online dictionary learning of Mairal, Bach, Ponce and Sapiro."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from orthostream._checks import integer, one_of, optional_integer, positive
from orthostream._typing import FloatArray
from orthostream.baselines.alternating_solvers import AlternatingSolver, solver_by_name
from orthostream.baselines.base import LinearBaseline, unit_rows
from orthostream.dictionary.sparse_coding import keep_largest


class OnlineAODL(LinearBaseline):
    """Minimise ``||y - D x||^2 + penalty * ||x||_1`` over a stream, alternating between codes and unit atoms.

    Parameters
    ----------
    n_components : int, optional
        The number of atoms, the number of features by default; it may be larger.
    penalty : float, default 0.1
        The paper's lambda. SPAMS and scikit-learn halve the squared error; their ``lambda1`` and ``alpha`` are half the
        penalty.
    solver : {"auto", "spams", "scikit-learn"}, default "auto"
        SPAMS comes with the extra ``bench``; "auto" uses it if it is installed, and scikit-learn otherwise.
    init : "random" or array of shape (n_components, n_features), default "random"
        The first atoms: drawn uniformly from the sphere, or given and then scaled to unit length.
    batch_size : int, optional
        None takes the rows of each `partial_fit` as one mini-batch. A number cuts them into mini-batches of that size,
        the last of which may be shorter, in a single call of the solver. That is four to ten times faster if there are
        few atoms. SPAMS assigns the rows of a call to mini-batches in a fixed order of its own, and forgets more slowly
        the more rows a call has: see Notes.
    fit_iterations : int, default 20
        Iterations of `fit` over all rows.
    n_nonzero : int, optional
        `transform` keeps this many of the largest coefficients of the lasso's solution, unchanged. All, by default.
    random_state : int, RandomState or None
        Draws the first atoms, and replacements for atoms that no sample uses.

    Attributes
    ----------
    components_ : array of shape (n_components, n_features)
        Atoms of unit length as rows.
    solver_ : AlternatingSolver
        Its statistics of past codes are all that the next step needs.
    n_steps_ : int
        Mini-batches learnt from since the last `fit`.

    Notes
    -----
    The statistics of past codes are multiplied by 1 - B / m at each mini-batch of B samples. At step t, m is
    t + B (B - 1) + 1 in the article and in scikit-learn. In SPAMS, in a call of R rows that continues a stream at step
    t0, m is the smaller of t0 + 2 R + 1 and t0 + t + B (B - 1) + 1. With a small penalty codes are dense and
    forgetting helps, so only compare results that come from calls of the same length.

    SPAMS 2.6 leaks the two matrices of K x K and N x K numbers that each call returns: 40 kB at K = N = 50. Run streams
    of many small calls in a process of their own, or on scikit-learn.

    References
    ----------
    J. Mairal, F. Bach, J. Ponce, G. Sapiro, "Online dictionary learning for sparse coding", ICML 2009.

    Examples
    --------
    >>> from orthostream.datasets import make_bernoulli_gaussian
    >>> from orthostream.metrics import recovery_error
    >>> data = make_bernoulli_gaussian(n_samples=10_000, n_features=5, random_state=0)
    >>> learner = OnlineAODL(penalty=0.5, solver="scikit-learn", batch_size=100, random_state=0)
    >>> recovery_error(learner.partial_fit(data.samples).components_, data.components) < 0.01
    True
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        penalty: float = 0.1,
        solver: str = "auto",
        init: str | ArrayLike = "random",
        batch_size: int | None = None,
        fit_iterations: int = 20,
        n_nonzero: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.solver = solver
        self.init = init
        self.batch_size = batch_size
        self.fit_iterations = fit_iterations
        self.n_nonzero = n_nonzero
        self.random_state = random_state

    solver_: AlternatingSolver
    n_steps_: int

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from scratch by the batch version of the method, alternating between all codes and all atoms.

        A later `partial_fit` starts from these atoms, with no statistics of past codes.
        """
        rows = self._validated(X, reset=True)
        iterations = integer("fit_iterations", self.fit_iterations)
        self._begin()
        self.components_ = self.solver_.alternate(rows, self.components_, self._weight(), iterations)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the next rows of a stream."""
        begin = not hasattr(self, "solver_")
        rows = self._validated(X, reset=begin)
        if begin:
            self._begin()
        size = optional_integer("batch_size", self.batch_size) or len(rows)
        self.components_ = self.solver_.learn(rows, self.components_, self._weight(), size)
        self.n_steps_ += -(-len(rows) // size)
        return self

    def _begin(self) -> None:
        optional_integer("n_nonzero", self.n_nonzero)
        optional_integer("batch_size", self.batch_size)
        self._weight()
        rng = check_random_state(self.random_state)
        atoms = self._first_atoms(rng)
        self.solver_, self.components_, self.n_steps_ = solver_by_name(self.solver, rng), atoms, 0

    def _first_atoms(self, rng: np.random.RandomState) -> FloatArray:
        count = optional_integer("n_components", self.n_components) or self.n_features_in_
        shape = (count, self.n_features_in_)
        if isinstance(self.init, str):
            one_of("init", self.init, ("random",), also="an array")
            return unit_rows(rng.standard_normal(shape))
        given = np.array(self.init, dtype=float)
        if given.shape != shape or not np.isfinite(given).all():
            raise ValueError(f"init must be finite and of shape {shape}, got shape {given.shape}.")
        if not given.any(axis=1).all():
            raise ValueError("init must not hold a row of zeros: an atom needs a direction.")
        return unit_rows(given)

    def _weight(self) -> float:
        """Return the weight of the l1 norm next to half of the squared error."""
        return 0.5 * positive("penalty", self.penalty)

    def _codes(self, rows: FloatArray, count: int | None) -> FloatArray:
        codes = self.solver_.codes(rows, self.components_, self._weight())
        return codes if count is None else keep_largest(codes, count)
