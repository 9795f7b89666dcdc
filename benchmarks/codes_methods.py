"""The methods of `orthostream bench codes`: ours, and what people use instead."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.fft import dct
from sklearn.decomposition import IncrementalPCA, MiniBatchDictionaryLearning
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import orthogonal_mp_gram

from orthostream import OrthogonalDictionaryLearning
from orthostream._typing import FloatArray

from .causal_codes import Coder, Orthonormal, energy_left

DEFAULT, COMPRESSION, CENTRED, PAPER = "default", "compression", "compression, centred", "paper"
BEST, FORGETTING = "forgetting PCA, best factor", "forgetting PCA, 0.95"
INCREMENTAL, PURSUIT, COSINES = "IncrementalPCA", "MiniBatchDictionaryLearning, OMP", "DCT"
OURS = (DEFAULT, COMPRESSION, CENTRED)


class Method(NamedTuple):
    """How a coder is made, given a seed, the first rows and whether rows are 8 x 8 pictures."""

    name: str
    make: Callable[[int, FloatArray, bool], Coder]
    is_random: bool = False
    """Whether its start is drawn at random."""
    from_buffer: bool = False
    """Whether it takes the first rows all at once instead of in mini-batches."""


class Buffered(Orthonormal):
    """An estimator that needs as many rows at once as it has components: it waits for them."""

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self._waiting: list[FloatArray] = []

    def learn(self, rows: FloatArray) -> None:
        self._waiting.append(rows)
        together = np.concatenate(self._waiting)
        if len(together) >= self.learner.n_components:
            self._waiting = []
            self.learner.partial_fit(together)


class Pursuit:
    """scikit-learn's dictionary, which is not orthogonal, with codes by orthogonal matching pursuit.

    Its penalty is in units of the data: rows are scaled so that readings of the first ones have a mean square of 1.
    """

    def __init__(self, seed: int, first: FloatArray) -> None:
        self._unit = float(np.sqrt(np.square(first).mean()))
        self._learner = MiniBatchDictionaryLearning(
            n_components=first.shape[1], alpha=1.0, fit_algorithm="cd", random_state=seed
        )

    def learn(self, rows: FloatArray) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self._learner.partial_fit(rows / self._unit)

    def left(self, rows: FloatArray, counts: Sequence[int]) -> FloatArray:
        atoms = self._learner.components_
        gram, seen = atoms @ atoms.T, rows @ atoms.T
        left = np.zeros(len(counts))
        for row, inner in zip(rows, seen, strict=True):
            path = _path(gram, inner, max(counts))
            for i, count in enumerate(counts):
                code = path[:, min(count, path.shape[1] - 1)]
                left[i] += np.square(row - code @ atoms).sum()
        return left


def _path(gram: FloatArray, inner: FloatArray, count: int) -> FloatArray:
    """Return the codes with 0, 1, 2, ... coefficients as columns; fewer if the pursuit ends as nothing is left."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Orthogonal matching pursuit ended prematurely", RuntimeWarning)
        path = orthogonal_mp_gram(gram, inner, n_nonzero_coefs=count, return_path=True)
    return np.hstack([np.zeros((len(gram), 1)), np.asarray(path).reshape(len(gram), -1)])


class Cosines:
    """The discrete cosine transform, in two dimensions for pictures."""

    def __init__(self, size: int, is_picture: bool) -> None:
        side = round(size**0.5) if is_picture else size
        one = dct(np.eye(side), axis=0, norm="ortho")
        self._atoms = np.kron(one, one) if is_picture else one

    def left(self, rows: FloatArray, counts: Sequence[int]) -> FloatArray:
        return energy_left(rows @ self._atoms.T, counts)

    def learn(self, rows: FloatArray) -> None:
        """Learn nothing."""


def _ours(preset: str, **parameters: Any) -> Callable[[int, FloatArray, bool], Coder]:
    return lambda seed, *_: Orthonormal(OrthogonalDictionaryLearning.preset(preset, random_state=seed, **parameters))


#: In the order of the tables; forgetting PCA comes after the paper's algorithm.
METHODS = (
    Method(DEFAULT, lambda seed, *_: Orthonormal(OrthogonalDictionaryLearning(random_state=seed)), is_random=True),
    Method(COMPRESSION, _ours("compression")),
    Method(CENTRED, _ours("compression", center="running")),
    Method(PAPER, _ours("paper"), is_random=True),
    Method(INCREMENTAL, lambda _, first, __: Buffered(IncrementalPCA(first.shape[1])), from_buffer=True),
    Method(PURSUIT, lambda seed, first, _: Pursuit(seed, first), is_random=True, from_buffer=True),
    Method(COSINES, lambda _, first, is_picture: Cosines(first.shape[1], is_picture)),
)
