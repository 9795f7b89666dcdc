"""The online methods of Table I behind one small interface: start, code, decode, learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from orthostream._typing import FloatArray
from orthostream.baselines import ForgettingPCA, OnlineAODL
from orthostream.dictionary.initialise import from_data, random_orthogonal
from orthostream.experiments.methods import (
    AODL,
    AODL_PASSES,
    CONSTANT,
    FORGETTING,
    L4,
    PROPOSED,
    SFW,
    SFW_OWN,
    SFW_POLAR,
)
from orthostream.optimize import (
    ConstantSchedule,
    LpContrast,
    MokhtariSchedule,
    PaperSchedule,
    PolarStep,
    SpectralBall,
    State,
    StochasticFrankWolfe,
    polar,
)

#: Every online method: the paper's own, its baselines, and what it does not compare with.
ONLINE = (PROPOSED, SFW, SFW_POLAR, SFW_OWN, L4, AODL, CONSTANT, FORGETTING)

#: Iterations of the batch version of each method on the readings before the stream.
_BATCH_ITERATIONS = 20


class Contender(ABC):
    """A method that codes with the dictionary it has, and learns from a mini-batch when told to."""

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


def contender(method: str, seed: int, penalty: float = 1.0) -> Contender:
    """Return a method by its name; the penalty is that of Online AODL."""
    if method in (AODL, AODL_PASSES):
        learner = OnlineAODL(penalty=penalty, fit_iterations=_BATCH_ITERATIONS, random_state=seed)
        return _Estimator(learner, _BATCH_ITERATIONS if method == AODL_PASSES else 0)
    if method == FORGETTING:
        return _Estimator(ForgettingPCA(), 0)
    return _FrankWolfe(method, seed)


class _FrankWolfe(Contender):
    state: State

    def __init__(self, method: str, seed: int) -> None:
        self._seed = seed
        self._polar = method == SFW_POLAR
        self._own_start = method == SFW_OWN
        plain = method in (SFW, SFW_POLAR, SFW_OWN)
        schedule = MokhtariSchedule() if plain else ConstantSchedule() if method == CONSTANT else PaperSchedule()
        contrast = LpContrast(4 if method == L4 else 3)
        self._solver = StochasticFrankWolfe(SpectralBall(), contrast, schedule, None if plain else PolarStep())

    def start(self, rows: FloatArray) -> None:
        first = random_orthogonal(rows.shape[1], rows.shape[1], np.random.RandomState(self._seed))
        if self._own_start:
            state = self._solver.init(first)
            for _ in range(_BATCH_ITERATIONS):
                state = self._solver.step(state, rows)
            self.state = self._solver.init(state.x)
        else:
            self.state = self._solver.init(from_data(first, rows, self._solver.objective))

    @property
    def _dictionary(self) -> FloatArray:
        return polar(self.state.x)[0] if self._polar else self.state.x

    def code(self, rows: FloatArray) -> FloatArray:
        codes: FloatArray = rows @ self._dictionary
        return codes

    def decode(self, codes: FloatArray) -> FloatArray:
        rows: FloatArray = codes @ self._dictionary.T
        return rows

    def learn(self, rows: FloatArray) -> None:
        self.state = self._solver.step(self.state, rows)


class _Estimator(Contender):
    """A baseline with scikit-learn's interface, started by `fit` or by passes of `partial_fit`."""

    def __init__(self, learner: Any, passes: int) -> None:
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
