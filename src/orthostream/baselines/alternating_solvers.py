"""The two solvers of `OnlineAODL`: SPAMS, by the authors of the method, and scikit-learn.

A solver alternates: it finds the codes of a mini-batch by the lasso, then updates the atoms from statistics of all
codes so far. Both solvers forget at the same rate in the long run: with mini-batches of B samples the statistics are
multiplied by about 1 - B / t at step t. Atoms are rows of unit length.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.decomposition import MiniBatchDictionaryLearning, dict_learning, sparse_encode
from sklearn.exceptions import ConvergenceWarning

from orthostream._checks import one_of
from orthostream._typing import FloatArray
from orthostream.baselines.base import unit_rows


class AlternatingSolver(ABC):
    """What `OnlineAODL` needs from a solver; ``weight`` multiplies the l1 norm, next to half of the squared error."""

    def __init__(self, rng: np.random.RandomState) -> None:
        self.rng = rng

    @abstractmethod
    def learn(self, rows: FloatArray, atoms: FloatArray, weight: float, batch_size: int) -> FloatArray:
        """Return the atoms after learning from the rows, one mini-batch at a time, and keep the statistics."""

    @abstractmethod
    def alternate(self, rows: FloatArray, atoms: FloatArray, weight: float, iterations: int) -> FloatArray:
        """Return the atoms after some iterations over all rows; no statistics are kept."""

    @abstractmethod
    def codes(self, rows: FloatArray, atoms: FloatArray, weight: float) -> FloatArray:
        """Return the solution of the lasso for each row."""

    def _renewed(self, atoms: FloatArray) -> FloatArray:
        """Return the atoms scaled to unit length; zero atoms, which no sample used, are drawn again."""
        atoms = unit_rows(atoms)
        lost = ~atoms.any(axis=1)
        if lost.any():
            atoms[lost] = unit_rows(self.rng.standard_normal((int(lost.sum()), atoms.shape[1])))
        return atoms


class SpamsSolver(AlternatingSolver):
    """`spams.trainDL`, continued from its matrices A and B.

    Results are reproducible. SPAMS permutes the rows of each call, and replaces atoms that coincide by rows, from a
    seed that it sets itself. It replaces zero atoms from a generator that is never seeded, so it is never given any.
    One thread always sums in the same order.
    """

    def __init__(self, rng: np.random.RandomState) -> None:
        super().__init__(rng)
        self.memory: dict[str, Any] | None = None

    def learn(self, rows: FloatArray, atoms: FloatArray, weight: float, batch_size: int) -> FloatArray:
        import spams

        whole = len(rows) - len(rows) % batch_size
        for part, size in ((rows[:whole], batch_size), (rows[whole:], len(rows) - whole)):
            if len(part) == 0:
                continue
            columns, self.memory = spams.trainDL(
                part.T,
                return_model=True,
                model=self.memory,
                D=np.asfortranarray(atoms.T),
                lambda1=weight,
                batchsize=size,
                iter=len(part) // size,
                numThreads=1,
                verbose=False,
            )
            atoms = self._renewed(columns.T)
        return atoms

    def alternate(self, rows: FloatArray, atoms: FloatArray, weight: float, iterations: int) -> FloatArray:
        import spams

        columns = spams.trainDL(
            rows.T,
            D=np.asfortranarray(atoms.T),
            lambda1=weight,
            iter=iterations,
            batch=True,
            numThreads=1,
            verbose=False,
        )
        return self._renewed(columns.T)

    def codes(self, rows: FloatArray, atoms: FloatArray, weight: float) -> FloatArray:
        import spams

        found: FloatArray = spams.lasso(rows.T, D=np.asfortranarray(atoms.T), lambda1=weight, numThreads=1).toarray().T
        return found


class ScikitLearnSolver(AlternatingSolver):
    """`MiniBatchDictionaryLearning`, used if SPAMS is not installed: the same algorithm, slower."""

    def __init__(self, rng: np.random.RandomState) -> None:
        super().__init__(rng)
        self.memory: Any = None

    def learn(self, rows: FloatArray, atoms: FloatArray, weight: float, batch_size: int) -> FloatArray:
        if self.memory is None:
            self.memory = MiniBatchDictionaryLearning(len(atoms), dict_init=atoms.copy(), random_state=self.rng)
        self.memory.set_params(alpha=weight)
        with _unfinished_paths():
            for start in range(0, len(rows), batch_size):
                self.memory.partial_fit(rows[start : start + batch_size])
                self.memory.components_ = np.asfortranarray(self._renewed(self.memory.components_))
        return np.array(self.memory.components_, order="C")

    def alternate(self, rows: FloatArray, atoms: FloatArray, weight: float, iterations: int) -> FloatArray:
        with _unfinished_paths():
            found = dict_learning(
                rows,
                len(atoms),
                alpha=weight,
                max_iter=iterations,
                tol=0.0,
                dict_init=atoms,
                code_init=np.zeros((len(rows), len(atoms))),
                random_state=self.rng,
            )[1]
        return self._renewed(found)

    def codes(self, rows: FloatArray, atoms: FloatArray, weight: float) -> FloatArray:
        with _unfinished_paths():
            found: FloatArray = sparse_encode(rows, atoms, algorithm="lasso_lars", alpha=weight)
        return found


def solver_by_name(name: Any, rng: np.random.RandomState) -> AlternatingSolver:
    """Return a new solver; "auto" is SPAMS if it is installed.

    >>> type(solver_by_name("scikit-learn", np.random.RandomState(0))).__name__
    'ScikitLearnSolver'
    """
    one_of("solver", name, ("auto", "spams", "scikit-learn"))
    there = name != "scikit-learn" and find_spec("spams") is not None
    if name == "spams" and not there:
        raise ImportError('solver="spams" needs SPAMS: pip install "orthostream[bench]", or use "scikit-learn".')
    return SpamsSolver(rng) if there else ScikitLearnSolver(rng)


@contextmanager
def _unfinished_paths() -> Iterator[None]:
    """Ignore warnings that the lasso stopped early because atoms almost coincide; its last solution is the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
