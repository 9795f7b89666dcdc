"""The interface through which online methods of Table I are run: start, code, decode, learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.dictionary.initialise import from_data, random_orthogonal
from orthostream.optimize import (
    LpContrast,
    PolarStep,
    Schedule,
    SpectralBall,
    State,
    StochasticFrankWolfe,
    polar,
)

#: Rows of a mini-batch.
SLOT = 6

#: Iterations of the batch version of each method on the readings before the stream.
BATCH_ITERATIONS = 20


class Contender(ABC):
    """A method that codes with its current dictionary and takes one step for each mini-batch."""

    @abstractmethod
    def start(self, rows: FloatArray) -> None:
        """Make the first dictionary by the batch version of the method."""

    @abstractmethod
    def code(self, rows: FloatArray) -> FloatArray:
        """Return all coefficients of the rows."""

    @abstractmethod
    def decode(self, codes: FloatArray) -> FloatArray:
        """Return the rows that codes stand for."""

    @abstractmethod
    def learn(self, rows: FloatArray) -> None:
        """Take one step."""


class SolverContender(Contender):
    """Stochastic Frank-Wolfe over the spectral ball, without the checks of an estimator.

    Parameters
    ----------
    seed : int
        Draws the first dictionary.
    schedule : Schedule
    p : int, default 3
        The power of the contrast.
    orthogonal : bool, default True
        Whether each step ends with a polar factor, as in Algorithm 2.
    polar_codes : bool, default False
        Whether rows are coded with the polar factor of the iterate instead of the iterate.
    own_start : bool, default False
        Whether the first dictionary comes from steps of this solver instead of orthogonal iterations.
    """

    state: State

    def __init__(
        self,
        seed: int,
        schedule: Schedule,
        *,
        p: int = 3,
        orthogonal: bool = True,
        polar_codes: bool = False,
        own_start: bool = False,
    ) -> None:
        self._seed = seed
        self._polar_codes = polar_codes
        self._own_start = own_start
        self._solver = StochasticFrankWolfe(
            SpectralBall(), LpContrast(p), schedule, PolarStep() if orthogonal else None
        )

    def start(self, rows: FloatArray) -> None:
        first = random_orthogonal(rows.shape[1], rows.shape[1], np.random.RandomState(self._seed))
        if self._own_start:
            state = self._solver.init(first)
            for _ in range(BATCH_ITERATIONS):
                state = self._solver.step(state, rows)
            self.state = self._solver.init(state.x)
        else:
            self.state = self._solver.init(from_data(first, rows, self._solver.objective))

    @property
    def _dictionary(self) -> FloatArray:
        return polar(self.state.x)[0] if self._polar_codes else self.state.x

    def code(self, rows: FloatArray) -> FloatArray:
        codes: FloatArray = rows @ self._dictionary
        return codes

    def decode(self, codes: FloatArray) -> FloatArray:
        rows: FloatArray = codes @ self._dictionary.T
        return rows

    def learn(self, rows: FloatArray) -> None:
        self.state = self._solver.step(self.state, rows)


class EstimatorContender(Contender):
    """A baseline with scikit-learn's interface, started by `fit`, or by some passes of `partial_fit`."""

    def __init__(self, learner: Any, passes: int = 0) -> None:
        self._learner = learner
        self._passes = passes

    def start(self, rows: FloatArray) -> None:
        if not self._passes:
            self._learner.fit(rows)
        for _ in range(self._passes):
            self._learner.partial_fit(rows)

    def code(self, rows: FloatArray) -> FloatArray:
        codes: FloatArray = self._learner.transform(rows)
        return codes

    def decode(self, codes: FloatArray) -> FloatArray:
        rows: FloatArray = self._learner.inverse_transform(codes)
        return rows

    def learn(self, rows: FloatArray) -> None:
        self._learner.partial_fit(rows)


class StreamContender(EstimatorContender):
    """A learner that needs no batch version: it follows the readings before the stream like the stream itself."""

    def start(self, rows: FloatArray) -> None:
        for first in range(0, len(rows), SLOT):
            self._learner.partial_fit(rows[first : first + SLOT])
