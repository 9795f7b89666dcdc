"""The estimate for compression: the last samples are used again at each step, old ones with less weight."""

from __future__ import annotations

import numpy as np

from orthostream import _checks
from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.array_block import ArrayBlock, Layout
from orthostream.optimize.estimates.base import GradientEstimate, Report
from orthostream.optimize.estimates.principal import principal_gradient
from orthostream.optimize.objectives.base import Batch
from orthostream.optimize.objectives.rank_weighted_energy import RankWeightedEnergy
from orthostream.optimize.polar_decomposition import polar


class Replay(GradientEstimate):
    r"""The gradient of the rank-weighted energy of the last samples; important atoms forget old samples faster.

    The gradient is that of `RankWeightedEnergy` over the last samples, but each atom has its own weighted mean over
    them. For atom j the weight of a sample that is followed by :math:`a` others is

    .. math:: (1 + a)^{-(forgetting + spread \, \bar w_j / w_0)},

    where :math:`\bar w_j` is the mean of the rank weights of its coefficients, and :math:`w_0` is the weight of the
    first rank. Atoms with often large coefficients thus follow the stream. Atoms with seldom large coefficients, about
    which a few samples tell little, remember longer. Each gradient replaces the last one, and each vertex the last
    point.

    Ranks mean little before the atoms fit the stream. Until there are as many samples as features, the dictionary is
    therefore that of the principal components, in descending order.

    With two rounds and N atoms of N features a mini-batch costs about 40 products of N x N matrices, two polar factors
    and two rankings of 10 N samples. That is many times the cost of principal components with forgetting, as
    docs/learner.md shows. The memory holds about 10 N^2 numbers.

    Parameters
    ----------
    objective : RankWeightedEnergy, optional
        What is minimised; value and gap are computed with it.
    rows_per_feature : int, default 10
        The number of samples in memory, per feature.
    forgetting : float, default 0.5
        The exponent of an atom whose coefficients are never large; 0 gives all samples in memory equal weight.
    spread : float, default 0.35
        What is added to the exponent of an atom whose coefficient is always the largest.
    rounds : int, default 2
        The number of steps for each mini-batch.

    Notes
    -----
    A sample of weight zero, or of zeros only, is ignored. A mini-batch of such samples changes nothing.

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

    def __init__(
        self,
        objective: RankWeightedEnergy | None = None,
        *,
        rows_per_feature: int = 10,
        forgetting: float = 0.5,
        spread: float = 0.35,
        rounds: int = 2,
    ) -> None:
        self.objective: RankWeightedEnergy = RankWeightedEnergy() if objective is None else objective
        self.rows_per_feature = _checks.integer("rows_per_feature", rows_per_feature)
        self.rounds = _checks.integer("rounds", rounds)
        self.forgetting = _checks.at_least("forgetting", forgetting)
        self.spread = _checks.at_least("spread", spread)

    def layout(self, shape: tuple[int, ...]) -> Layout:
        """Return the layout of the memory; ``ranking`` is 1 once there are enough samples to use ranks."""
        features = shape[0]
        room = self.rows_per_feature * features
        return Layout(gradient=shape, rows=(room, features), weights=(room,), ranking=(), exponent=(), guess=())

    def update(
        self, memory: ArrayBlock, x: FloatArray, batch: Batch, weights: FloatArray | None
    ) -> tuple[FloatArray, float, ArrayBlock]:
        fresh, fresh_weights = _told(memory["rows"], batch, weights)
        live = np.asarray((fresh_weights > 0.0).any(axis=-1))
        if not live.any():
            return memory["gradient"], 0.0, memory
        rows, row_weights = _appended(memory["rows"], memory["weights"], fresh, fresh_weights)
        held = np.count_nonzero(row_weights, axis=-1)
        last = slice(row_weights.shape[-1] - max(int(held.max()), 1), None)
        ranking, gradient, exponent = np.asarray(memory["ranking"] > 0.0), memory["gradient"], memory["exponent"]
        guess: FloatArray | float = memory["guess"] if memory["guess"].ndim else float(memory["guess"])
        for again in range(self.rounds):
            if again:
                x, guess = polar(gradient, near=x, low=guess, sign=-1.0)
            turned, exponent = self._turned(x, rows[..., last, :], row_weights[..., last], ranking)
            gradient = turned if live.all() else np.where(live[..., None, None], turned, gradient)
            ranking = np.asarray(ranking | (held >= x.shape[-2]))
        now = {"gradient": gradient, "rows": rows, "weights": row_weights, "ranking": ranking, "exponent": exponent}
        now["guess"] = np.asarray(guess)
        return gradient, 1.0, memory.layout.block(x.shape[:-2], now)

    def _turned(
        self, x: FloatArray, rows: FloatArray, row_weights: FloatArray, ranking: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradient at a point over all samples in memory, and the mean exponent of the atoms."""
        gradient: FloatArray = np.zeros_like(x)
        exponent: FloatArray = np.zeros(x.shape[:-2])
        if ranking.any():
            gradient, exponent = self._ranked(x, rows, row_weights)
        if not ranking.all():
            gradient = np.where(ranking[..., None, None], gradient, _principal(x, rows, row_weights))
            exponent = np.where(ranking, exponent, 0.0)
        return gradient, exponent

    def rescaled(self, memory: ArrayBlock, factor: float) -> ArrayBlock:
        scaled = {"gradient": memory["gradient"] * factor**self.power, "rows": memory["rows"] * factor}
        return memory.layout.block(memory.array.shape[:-1], dict(memory) | scaled)

    def energy(self, memory: ArrayBlock) -> FloatArray:
        weights = memory["weights"][..., None]
        total = _divisor(weights.sum(axis=(-2, -1)))
        return np.asarray((np.square(memory["rows"]) * weights).sum(axis=(-2, -1)) / (total * memory["rows"].shape[-1]))

    def energies(self, memory: ArrayBlock, x: FloatArray) -> FloatArray:
        """Return the mean squared coefficient of each atom over the samples in memory."""
        weights = memory["weights"]
        squares = np.square(memory["rows"] @ x)
        return np.asarray((weights[..., None, :] @ squares)[..., 0, :] / _divisor(weights.sum(axis=-1))[..., None])

    def report(self, memory: ArrayBlock, samples: int) -> Report:
        """Return the number of last samples that have half of the weight, for an atom of mean exponent."""
        weights = memory["weights"] * np.exp(-_log_ages(memory["weights"]) * memory["exponent"][..., None])
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
        return gradient, np.asarray(exponents.mean(axis=(-2, -1)))


def _told(rows: FloatArray, batch: Batch, weights: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """Return a mini-batch and its weights, broadcast to the stack of ``rows``; samples of zeros get weight 0."""
    batch = np.asarray(batch.toarray() if hasattr(batch, "toarray") else batch, dtype=float)
    batch = np.broadcast_to(batch, (*rows.shape[:-2], *batch.shape[-2:]))
    counts = 1.0 * batch.any(axis=-1)
    return batch, counts if weights is None else counts * weights


def _appended(
    rows: FloatArray, weights: FloatArray, fresh: FloatArray, fresh_weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the last samples with a positive weight, the newest at the end, and their weights."""
    room, count = weights.shape[-1], fresh_weights.shape[-1]
    everything = np.concatenate((weights, fresh_weights), axis=-1)
    if (fresh_weights > 0.0).all():
        kept = np.concatenate((rows[..., count:, :], fresh[..., -room:, :]), axis=-2)
        return kept, everything[..., -room:]
    order = np.argsort(everything > 0.0, axis=-1, kind="stable")[..., -room:]
    kept = np.take_along_axis(np.concatenate((rows, fresh), axis=-2), order[..., None], axis=-2)
    return kept, np.take_along_axis(everything, order, axis=-1)


def _log_ages(weights: FloatArray) -> FloatArray:
    """Return the logarithms of the samples' ages: 1 for the last, and so on to the first.

    >>> np.exp(_log_ages(np.ones(3))).round(12)
    array([3., 2., 1.])
    """
    return np.log(np.arange(weights.shape[-1], 0, -1, dtype=weights.dtype))


def _principal(x: FloatArray, rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a gradient whose vertex is the leading principal components, for any number of samples."""
    weighted = rows * (weights / _divisor(weights.sum(axis=-1, keepdims=True)))[..., None]
    return principal_gradient(weighted.mT @ rows, x.shape[-1])


def _divisor(total: FloatArray) -> FloatArray:
    """Return sums to divide by, with 0 replaced by 1."""
    return np.where(total > 0.0, total, np.ones_like(total))
