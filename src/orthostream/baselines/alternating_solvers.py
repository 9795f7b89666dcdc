"""Who does the work of `OnlineAODL`: SPAMS, by the authors of the method, or scikit-learn.

A solver learns atoms by turns: the codes of a mini-batch by the lasso, then the atoms from what it remembers of all
codes. Both forget alike in the long run: with mini-batches of B samples the memory is multiplied by about 1 - B / t at
step t. Atoms are rows, and of length one.
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
    """The three things that `OnlineAODL` asks for; ``weight`` is that of the l1 norm against half of the squares."""

    def __init__(self, rng: np.random.RandomState) -> None:
        self.rng = rng

    @abstractmethod
    def learn(self, rows: FloatArray, atoms: FloatArray, weight: float, batch_size: int) -> FloatArray:
        """Return the atoms after the mini-batches that the rows are cut into, and remember them."""

    @abstractmethod
    def alternate(self, rows: FloatArray, atoms: FloatArray, weight: float, iterations: int) -> FloatArray:
        """Return the atoms after some iterations over all rows, and remember nothing."""

    @abstractmethod
    def codes(self, rows: FloatArray, atoms: FloatArray, weight: float) -> FloatArray:
        """Return the solution of the lasso for each row."""

    def _renewed(self, atoms: FloatArray) -> FloatArray:
        """Return the atoms at length one, and those of no length, which nothing used, drawn anew."""
        atoms = unit_rows(atoms)
        lost = ~atoms.any(axis=1)
        if lost.any():
            atoms[lost] = unit_rows(self.rng.standard_normal((int(lost.sum()), atoms.shape[1])))
        return atoms


class SpamsSolver(AlternatingSolver):
    """`spams.trainDL`, which goes on from its matrices A and B.

    Where SPAMS draws: it permutes the rows of each call, from a seed that it sets itself, so always in the same way;
    it takes rows in place of atoms that coincide, from the same seed; and it draws atoms in place of zeros from a
    generator that is never seeded, which is why it is not given any. One thread adds up in one order.
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
    """`MiniBatchDictionaryLearning`, for where SPAMS is not there: the same algorithm, slower."""

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
    """Return a solver without memory; "auto" is SPAMS where that is installed.

    >>> type(solver_by_name("scikit-learn", np.random.RandomState(0))).__name__
    'ScikitLearnSolver'
    """
    one_of("solver", name, ("auto", "spams", "scikit-learn"))
    there = name != "scikit-learn" and find_spec("spams") is not None
    if name == "spams" and not there:
        raise ImportError('solver="spams" needs SPAMS: pip install "orthostream[bench]", or take "scikit-learn".')
    return SpamsSolver(rng) if there else ScikitLearnSolver(rng)


@contextmanager
def _unfinished_paths() -> Iterator[None]:
    """Let the lasso's path end where atoms almost coincide; what it found until there is the code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
