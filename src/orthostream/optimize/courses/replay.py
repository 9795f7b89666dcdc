"""The course for compression: replay the last samples, old ones with less weight."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.courses.base import Course, Decision, Memory, Report
from orthostream.optimize.objectives.base import Batch, Objective
from orthostream.optimize.objectives.rank_weighted_energy import RankWeightedEnergy
from orthostream.optimize.polar_decomposition import polar


class Replay(Course):
    r"""Rank-weighted energy of the last samples, of which important atoms forget the old ones faster.

    The gradient is that of `RankWeightedEnergy` over the last samples, but the mean over them is one for each atom:
    atom j counts a sample that is followed by :math:`a` others

    .. math:: (1 + a)^{-(forgetting + spread \, \bar w_j / w_0)},

    where :math:`\bar w_j` is the plain mean of the weights that its coefficients have by rank, and :math:`w_0` that of
    the largest coefficient. Atoms that are often large thus follow the stream; those that are seldom large, of which a
    few samples tell little, remember. Each gradient replaces the last one, and its oracle's vertex the last point.

    Ranks mean little before the atoms fit the stream. So the start is the principal components of all that has come,
    the first of them first, until as many samples are held as there are features; the next round ranks.

    A mini-batch costs, with two rounds and N atoms of N features, about 40 products of N x N matrices, two polar
    factors and two rankings of 10 N samples: many times what principal components that forget cost, as docs/learner.md
    measures. The memory is one of 10 N^2 numbers.

    Parameters
    ----------
    objective : RankWeightedEnergy, optional
        What is minimised, and the yardstick.
    rows_per_feature : int, default 10
        How many samples are held for each feature.
    forgetting : float, default 0.5
        The exponent of an atom that is never large; 0 forgets nothing that is held.
    spread : float, default 0.35
        By how much the exponent of an atom that always is the largest is higher.
    rounds : int, default 2
        How many steps each mini-batch is good for.

    Notes
    -----
    A sample of weight zero, or of zeros alone, is as good as absent, and a mini-batch of such samples moves nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import PolarStep, SpectralBall, StochasticFrankWolfe
    >>> rng = np.random.default_rng(0)
    >>> atoms = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])  # equal energy: any basis is principal
    >>> solver = StochasticFrankWolfe(SpectralBall(), Replay(rows_per_feature=50), post_step=PolarStep())
    >>> state = solver.init(np.eye(3))
    >>> for _ in range(100):
    ...     state = solver.step(state, rng.standard_normal((6, 3)) * (rng.random((6, 3)) < 0.3) @ atoms)
    >>> np.abs(atoms @ state.x).max(axis=1).round(1)
    array([1., 1., 1.])
    """

    core_ndim: ClassVar[int | None] = 2

    def __init__(
        self,
        objective: RankWeightedEnergy | None = None,
        *,
        rows_per_feature: int = 10,
        forgetting: float = 0.5,
        spread: float = 0.35,
        rounds: int = 2,
    ) -> None:
        self.objective = RankWeightedEnergy() if objective is None else objective
        self.rows_per_feature, self.rounds = int(rows_per_feature), int(rounds)
        self.forgetting, self.spread = float(forgetting), float(spread)
        for name, count in (("rows_per_feature", rows_per_feature), ("rounds", rounds)):
            if count < 1 or count != int(count):
                raise ValueError(f"{name} must be a whole number from 1 on, got {count!r}.")
        for name, number in (("forgetting", self.forgetting), ("spread", self.spread)):
            if not 0.0 <= number < np.inf:
                raise ValueError(f"{name} must be finite and not negative, got {number!r}.")

    @property
    def yardstick(self) -> Objective:
        return self.objective

    def begin(self, x: FloatArray) -> Memory:
        """Return room for the samples; what is not filled weighs nothing."""
        *stack, features, _ = x.shape
        room = self.rows_per_feature * features
        return {
            "rows": np.zeros((*stack, room, features), x.dtype),
            "weights": np.zeros((*stack, room), x.dtype),
            "ranking": np.zeros(stack, x.dtype),
            "exponent": np.zeros(stack, x.dtype),
        }

    def decide(self, memory: Memory, x: FloatArray, batch: Batch, weights: FloatArray | None, again: bool) -> Decision:
        fresh, fresh_weights = _told(memory["rows"], batch, weights)
        kept = memory if again else memory | _appended(memory, fresh, fresh_weights)
        held = np.count_nonzero(kept["weights"], axis=-1)
        first = kept["weights"].shape[-1] - max(int(held.max()), 1)
        rows, row_weights = kept["rows"][..., first:, :], kept["weights"][..., first:]
        ranking = kept["ranking"] > 0.0
        gradient, exponent = np.zeros_like(x), np.zeros_like(kept["exponent"])
        if ranking.any():
            gradient, exponent = self._ranked(x, rows, row_weights)
        if not ranking.all():
            gradient = np.where(ranking[..., None, None], gradient, _principal(x, rows, row_weights))
            exponent = np.where(ranking, exponent, np.zeros_like(exponent))
        kept = kept | {"ranking": (ranking | (held >= x.shape[-2])).astype(x.dtype), "exponent": exponent}
        rho = np.asarray((fresh_weights > 0.0).any(axis=-1), dtype=x.dtype)
        return Decision(gradient, rho, 1.0, kept)

    def rescaled(self, memory: Memory, factor: float) -> Memory:
        return memory | {"rows": memory["rows"] * memory["rows"].dtype.type(factor)}

    def energy(self, memory: Memory) -> FloatArray:
        weights = memory["weights"][..., None]
        total = np.maximum(weights.sum(axis=(-2, -1)), np.finfo(weights.dtype).tiny)
        return np.asarray((np.square(memory["rows"]) * weights).sum(axis=(-2, -1)) / (total * memory["rows"].shape[-1]))

    def report(self, memory: Memory, samples: int) -> Report:
        """Return how many of the last samples have half of the weight for an atom of mean importance."""
        weights = memory["weights"].astype(float)
        weights *= np.exp(-_log_ages(weights) * memory["exponent"][..., None])
        newest_first = np.cumsum(weights[..., ::-1], axis=-1)
        total = newest_first[..., -1:]
        half_life = np.where(total[..., 0] > 0.0, 1.0 + (newest_first < 0.5 * total).sum(axis=-1), 0.0)
        return Report(np.zeros_like(half_life), half_life, np.zeros_like(half_life))

    def _ranked(self, x: FloatArray, rows: FloatArray, row_weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient of the ranked energy, and the mean of the atoms' exponents."""
        shrink, largest = self.objective.shrink, float(self.objective.rank_weights(x.shape[-1])[0])
        z = rows @ x
        pull = self.objective.own_weights(z)
        mean = row_weights[..., None, :] @ pull / _divisor(row_weights.sum(axis=-1))[..., None, None]
        exponents = self.forgetting + self.spread / largest * mean
        shares = -_log_ages(row_weights)[:, None] * exponents
        np.exp(shares, out=shares)
        shares *= row_weights[..., None]
        pull *= 1.0 - shrink
        pull += shrink * mean
        pull *= z
        pull *= shares
        gradient: FloatArray = rows.mT @ pull
        gradient /= -_divisor(shares.sum(axis=-2, keepdims=True))
        if x.dtype != np.float64:
            gradient = _evened(gradient, x)
        return gradient, np.asarray(exponents.mean(axis=(-2, -1)))


def _told(rows: FloatArray, batch: Batch, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return a mini-batch and its weights as arrays of the stack that rows is; zeros alone have no weight."""
    batch = np.asarray(batch.toarray() if hasattr(batch, "toarray") else batch, dtype=rows.dtype)
    batch = np.broadcast_to(batch, (*rows.shape[:-2], *batch.shape[-2:]))
    counts = batch.any(axis=-1).astype(rows.dtype)
    return batch, counts if weights is None else counts * weights.astype(rows.dtype, copy=False)


def _appended(memory: Memory, fresh: FloatArray, fresh_weights: FloatArray) -> Memory:
    """Return the last samples that have any weight, the newest at the end."""
    rows, weights = memory["rows"], memory["weights"]
    room, count = weights.shape[-1], fresh_weights.shape[-1]
    everything = np.concatenate((weights, fresh_weights), axis=-1)
    if (fresh_weights > 0.0).all():
        kept = np.concatenate((rows[..., count:, :], fresh[..., -room:, :]), axis=-2)
        return {"rows": kept, "weights": everything[..., -room:].copy()}
    order = np.argsort(everything > 0.0, axis=-1, kind="stable")[..., -room:]
    kept = np.take_along_axis(np.concatenate((rows, fresh), axis=-2), order[..., None], axis=-2)
    return {"rows": kept, "weights": np.take_along_axis(everything, order, axis=-1)}


def _log_ages(weights: FloatArray) -> FloatArray:
    """Return the logarithms of 1, for the last sample, and on to the first of them.

    >>> np.exp(_log_ages(np.ones(3))).round(12)
    array([3., 2., 1.])
    """
    return np.log(np.arange(weights.shape[-1], 0, -1, dtype=weights.dtype))


def _principal(x: FloatArray, rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a gradient whose vertex is the leading principal components, however few the samples."""
    count = x.shape[-1]
    weighted = rows * (weights / _divisor(weights.sum(axis=-1, keepdims=True)))[..., None]
    values, vectors = np.linalg.eigh(weighted.mT.astype(float) @ rows)
    energy = np.maximum(values[..., -count:].mean(axis=-1), 0.0)[..., None, None]
    return np.asarray(-energy * vectors[..., : -count - 1 : -1], dtype=x.dtype)


def _evened(gradient: FloatArray, x: FloatArray) -> FloatArray:
    """Return a gradient with the same vertex, whose singular values all are the mean of what they were.

    Single precision takes the small ones for rounding, and the atoms that are seldom large would not move.
    """
    vertex = polar(gradient.astype(float), near=x.astype(float), sign=-1.0)[0]
    mean = (vertex * gradient).sum(axis=(-2, -1), keepdims=True) / x.shape[-1]
    return np.asarray(mean * vertex, dtype=x.dtype)


def _divisor(total: FloatArray) -> FloatArray:
    """Return sums to divide by, 1 in the place of 0."""
    return np.where(total > 0.0, total, np.ones_like(total))
