"""The running mean of gradients of sparse samples, on points whose size does not matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from orthostream import _checks
from orthostream._typing import FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate
from orthostream.optimize.estimates.given import check_part
from orthostream.optimize.objectives.base import Batch, mean_factors
from orthostream.optimize.objectives.contrast import Contrast
from orthostream.optimize.schedules import MeanThenForget, Schedule
from orthostream.optimize.tall import PolarFactor
from orthostream.optimize.tall.polar_factor import as_polar_factor
from orthostream.optimize.tall.sparse_rows import SparseRows, as_sparse_rows

#: One in so many directions is weak.
_WEAK = 8


class SparseRunningMean(GradientEstimate):
    """`RunningMean` of a contrast for sparse samples of many features and few atoms.

    The gradient is a `TallMatrix` and the point its `PolarFactor`. A step touches the rows of the mini-batch's
    features and the K x K Gram matrix; nothing else, however many features there are. Every step goes all the way to
    the oracle's vertex (gamma = 1): the point is minus the polar factor of the gradient, and the gradient is kept in
    it. A step writes to the memory of the state before it, which can then no longer be used.

    Atoms that are still empty, as at the start of a stream that repeats itself, are filled with random mixtures of the
    samples; and so are the weakest ones, with samples that share next to nothing with the point. Otherwise the steps
    are those of `RunningMean`.

    Parameters
    ----------
    objective : Contrast
    schedule : Schedule, default MeanThenForget(2000)
        Its gamma must be 1.
    least_represented : float, default 0.01
        A sample of which the point represents a smaller share is mixed into the weakest eighth of the directions.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from orthostream.optimize import PolarStep, SparseRows, SpectralBall, StochasticFrankWolfe, TopEnergy
    >>> rng = np.random.default_rng(0)
    >>> solver = StochasticFrankWolfe(SpectralBall(), SparseRunningMean(TopEnergy(1)), post_step=PolarStep())
    >>> rows = sparse.random_array((50, 10_000), density=0.001, random_state=rng)
    >>> state = solver.init(PolarFactor.random(rows, 4, rng))
    >>> state = solver.step(state, rows)
    >>> (SparseRows(rows) @ state.x).shape
    (50, 4)
    """

    def __init__(self, objective: Contrast, schedule: Schedule | None = None, least_represented: float = 0.01) -> None:
        check_part(objective, ("value", "gradient", "score"), "objective", "Contrast")
        self.objective: Contrast = objective
        self.schedule = MeanThenForget(2000.0) if schedule is None else schedule
        self.least_represented = _checks.between("least_represented", least_represented, 0.0, 1.0)
        self.power = self.degree = float(getattr(objective, "degree", 2.0))

    def layout(self, shape: tuple[int, ...]) -> Layout:
        return Layout(steps=())

    def begin(self, x: FloatArray) -> ArrayBlock:
        _factor(x)
        return self.layout(x.shape).zeros(())

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        factor = _factor(x)
        t = int(memory["steps"]) + 1
        rows = as_sparse_rows(batch, factor.dtype)
        rho, gamma = self.schedule.weights(t, rows.shape[0])
        if gamma != 1.0:
            raise ValueError(f"{self.schedule!r} has gamma = {gamma:g}: SparseRunningMean needs a gamma of 1.")
        factors = mean_factors(rows, weights)
        with np.errstate(over="ignore", invalid="ignore"):
            coefficients = rows @ factor
            score = self.objective.score(coefficients)
            score = score + self._filling(t, rows, coefficients, factor)
            score *= factors if isinstance(factors, float) else factors[:, None].astype(score.dtype)
            if t == 1:  # the running mean starts from zero, but the start is no gradient
                score, rho = score * score.dtype.type(rho), 1.0
        if not np.isfinite(score).all():
            raise ValueError(f"the gradient at step {t} is not finite: look for NaN or infinity in the mini-batch.")
        gradient: Any = factor.matrix.mixed(rho, rows, score)
        return gradient, 1.0, memory.layout.block((), {"steps": float(t)})

    def _filling(self, t: int, rows: SparseRows, coefficients: FloatArray, factor: PolarFactor) -> FloatArray | float:
        """Return random weights for atoms that are empty, or weak.

        Where a point is zero, so is its gradient: a point of lower rank would stay one, and samples that share no
        feature with it would never be learnt. Therefore all samples are mixed into empty directions, and samples of
        which the point represents next to nothing into the weakest ones, each with the size of what is left of it.
        """
        energies = rows.energies()
        left = energies - np.square(coefficients, dtype=float).sum(axis=1)
        directions = factor.empty
        if not directions.size:
            left = np.where(left > (1.0 - self.least_represented) * energies, left, 0.0)
            if not left.any():
                return 0.0
            directions = factor.weakest(max(1, factor.shape[1] // _WEAK))
        sizes = np.maximum(left, 0.0) ** (0.5 * (self.degree - 1.0))
        draws = np.random.default_rng(t).standard_normal((len(sizes), directions.shape[1]))
        filling: FloatArray = (sizes[:, None] * draws) @ directions.T / np.sqrt(directions.shape[1])
        return filling.astype(coefficients.dtype)

    def restored(self, arrays: Mapping[str, FloatArray], x: FloatArray) -> ArrayBlock:
        if as_polar_factor(x) is None:
            raise ValueError("these arrays are no state of SparseRunningMean: they hold no polar factor.")
        memory = super().restored(arrays, x)
        steps = float(memory["steps"])
        if not (steps >= 0.0 and steps.is_integer()):
            raise ValueError(f"these arrays are no state of SparseRunningMean: it has taken {steps} steps.")
        return memory

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        return memory  # a polar factor does not depend on the scale of the gradient

    def energy(self, memory: ArrayBlock) -> FloatArray | None:
        return None

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        factor = _factor(x)
        return np.asarray(-(factor.right * factor.matrix.gram).sum(axis=0))


def _factor(x: FloatArray) -> PolarFactor:
    """Return the point, which must be a polar factor."""
    factor = as_polar_factor(x)
    if factor is None:
        raise TypeError("SparseRunningMean needs a PolarFactor to start from, for instance PolarFactor.random(...).")
    return factor
