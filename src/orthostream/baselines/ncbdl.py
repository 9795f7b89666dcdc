"""Baseline 5: a nonparametric Bayesian dictionary, the NCBDL of Akhtar and Mian with one class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from orthostream._checks import integer, one_of, optional_integer, positive
from orthostream._typing import FloatArray
from orthostream.baselines.base import PursuitBaseline, unit_rows
from orthostream.baselines.beta_bernoulli_gibbs import Draw, sweep
from orthostream.baselines.training_callbacks import TrainingCallback, asked_to_stop, check_callbacks, training_curves


class BetaBernoulliDictionaryLearning(PursuitBaseline):
    """Infer a dictionary, and which samples use which atoms, by Gibbs sampling of a Beta-Bernoulli model.

    The model, also known as beta process factor analysis, is in `orthostream.baselines.beta_bernoulli_gibbs`. The
    dictionary is made of the atoms that some sample uses in the last sweep, scaled to unit length. Samples are coded
    by orthogonal matching pursuit.

    Parameters
    ----------
    n_components : int, default 80
        The largest number of atoms.
    a0, b0 : float, optional
        The parameters of the Beta prior; by default an eighth of the number of samples, as in the paper. A small a0
        and a large b0 favour few atoms per sample.
    n_sweeps : int, default 100
        The number of Gibbs sweeps.
    init : {"svd", "data", "random"}, default "svd"
        The first atoms: singular vectors (and draws from the prior if there are too few), samples, or draws from the
        prior. The chain leaves its start slowly, so the choice matters: singular vectors suit samples of almost low
        rank, such as temperatures of a city; samples suit data with sparse codes.
    n_nonzero : int, optional
        How many atoms the code of each sample may use. All, by default.
    random_state : int, RandomState or None
    callbacks : sequence of functions, optional
        Each is called after every sweep with its number, from 1, and a dict with its values in `trace_`. `fit` stops if
        one returns True.

    Attributes
    ----------
    components_ : array of shape (at most n_components, n_features)
        Atoms of unit length as rows.
    trace_ : dict of arrays of shape (sweeps,)
        The training curve: "noise_precision"; "active_atoms", the mean number of atoms that a sample uses; and "rmse",
        the root mean square of the residual.
    probabilities_ : array, the probability that a sample uses each atom

    Notes
    -----
    The sampler sees samples scaled to a root mean square of 1, so that its almost flat Gamma priors are flat in any
    unit. The trace is in the samples' units.

    References
    ----------
    N. Akhtar, A. Mian, "Nonparametric coupled Bayesian dictionary and classifier learning for hyperspectral
    classification", IEEE TNNLS 29 (2018). M. Zhou et al., "Nonparametric Bayesian dictionary learning for analysis of
    noisy and incomplete images", IEEE TIP 21 (2012).

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.datasets import make_bernoulli_gaussian
    >>> data = make_bernoulli_gaussian(n_samples=500, n_features=6, random_state=0)
    >>> noisy = data.samples + 0.05 * np.random.default_rng(0).standard_normal(data.samples.shape)
    >>> learner = BetaBernoulliDictionaryLearning(10, n_sweeps=50, init="random", random_state=0).fit(noisy)
    >>> round(float(learner.trace_["noise_precision"][-1] ** -0.5), 2)
    0.05
    """

    def __init__(
        self,
        n_components: int = 80,
        *,
        a0: float | None = None,
        b0: float | None = None,
        n_sweeps: int = 100,
        init: str = "svd",
        n_nonzero: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        callbacks: Sequence[TrainingCallback] | None = None,
    ) -> None:
        self.n_components = n_components
        self.a0 = a0
        self.b0 = b0
        self.n_sweeps = n_sweeps
        self.init = init
        self.n_nonzero = n_nonzero
        self.random_state = random_state
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all samples at once."""
        rows = self._validated(X, reset=True)
        optional_integer("n_nonzero", self.n_nonzero)
        sweeps = integer("n_sweeps", self.n_sweeps)
        default = len(rows) / 8.0
        a0 = default if self.a0 is None else positive("a0", self.a0)
        b0 = default if self.b0 is None else positive("b0", self.b0)
        check_callbacks(self.callbacks)
        largest = float(np.abs(rows).max())
        # Divide by the largest entry first, so that no square overflows.
        unit = largest * float(np.mean((rows / (largest or 1.0)) ** 2)) ** 0.5 or 1.0
        samples = rows / unit
        rng = check_random_state(self.random_state)
        draw = self._first_draw(samples, rng)
        trace = []
        for number in range(1, sweeps + 1):
            draw = sweep(draw, samples, a0, b0, rng)
            trace.append(_measures(draw, samples, unit))
            if asked_to_stop(self.callbacks, number, trace[-1]):
                break
        self.trace_ = training_curves(trace)
        used = np.count_nonzero(draw.codes, axis=1) > 0
        # Samples that are all zero use no atom, but a dictionary needs at least one.
        used[draw.probabilities.argmax()] = True
        self.components_ = unit_rows(draw.atoms[used])
        self.probabilities_ = draw.probabilities[used]
        return self

    def _first_draw(self, samples: FloatArray, rng: np.random.RandomState) -> Draw:
        rows, features = samples.shape
        count = integer("n_components", self.n_components)
        one_of("init", self.init, ("svd", "data", "random"))
        atoms: FloatArray = rng.standard_normal((count, features)) / features**0.5
        if self.init == "svd":
            axes = np.linalg.svd(samples, full_matrices=False)[2][:count]
            atoms[: len(axes)] = axes
        elif self.init == "data":
            chosen = unit_rows(samples[rng.permutation(rows)[:count]])
            atoms[: len(chosen)] = chosen
        # Start with rarely used atoms and a third of each sample as noise.
        return Draw(atoms, np.zeros((count, rows)), np.full(count, min(0.5, 1.0 / count)), 1.0, 10.0)


def _measures(draw: Draw, samples: FloatArray, unit: float) -> dict[str, float]:
    left = samples - draw.codes.T @ draw.atoms
    return {
        "noise_precision": draw.noise_precision / unit / unit,
        "active_atoms": np.count_nonzero(draw.codes) / len(samples),
        "rmse": float(np.mean(left * left)) ** 0.5 * unit,
    }
