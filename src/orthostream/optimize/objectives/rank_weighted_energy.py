"""The energy of the coefficients, weighted by their ranks: what is kept when the largest coefficients are kept."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.base import Batch, Objective, columns_times, mean_factors, rows_times
from orthostream.optimize.objectives.rank_weights import rank_weights, weights_by_rank


class RankWeightedEnergy(Objective):
    r"""Minus half the mean over the samples y of :math:`\sum_j W_j z_j^2` with :math:`z = D^T y`.

    Coefficients of a sample are ranked by size, from r = 0 for the largest to K - 1. The weight of rank r is
    :math:`w_r = (1 - r/K)^{power} + head/(1 + r)`. As these weights fall with r, the sum is a mixture of the energies
    of the k largest coefficients for k = 1, ..., K: the dictionary suits compression at all rates. The weights of a
    single sample are noisy, so they are shrunk towards the mean of each atom:
    :math:`W_j = (1 - shrink) w_{r(j)} + shrink \, \bar w_j`, where :math:`\bar w_j` is the mean of atom j over the
    mini-batch. For shrink = 1 the best dictionary is that of the principal components.

    Parameters
    ----------
    power : float, default 3.0
        How fast the weights fall; not negative.
    shrink : float, default 0.6
        From 0, where each sample has its own weights, to 1, where all samples have the same.
    head : float, default 1.0
        Additional weight of the first few ranks; not negative.

    Notes
    -----
    Ranks, and with them all W, are constant near any point where no sample has two coefficients of equal size. The
    gradient is exact at such points, which is almost everywhere. At a tie the value is continuous for shrink = 0.
    Otherwise the means of two atoms jump there by one sample's share, which a line search must not mistake for descent.

    The polar factor of minus the gradient is one step of the fixed-point iteration: for fixed W the value is concave in
    D, so that step does not raise it.

    Examples
    --------
    >>> import numpy as np
    >>> energy = RankWeightedEnergy(power=1, shrink=0, head=0)
    >>> energy.value(np.eye(2), np.array([[1.0, -2.0]]))
    array(-2.25)
    >>> energy.gradient(np.eye(2), np.array([[1.0, -2.0]]))
    array([[-0.5,  2. ],
           [ 1. , -4. ]])
    """

    core_ndim: ClassVar[int | None] = 2

    def __init__(self, power: float = 3.0, shrink: float = 0.6, head: float = 1.0) -> None:
        self.power, self.shrink, self.head = float(power), float(shrink), float(head)
        for name, number in (("power", self.power), ("head", self.head)):
            if not 0.0 <= number < np.inf:
                raise ValueError(f"{name} must be finite and not negative, got {number!r}.")
        if not 0.0 <= self.shrink <= 1.0:
            raise ValueError(f"shrink must be from 0 to 1, got {shrink!r}.")

    def value(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        z = rows_times(batch, x)
        factors = mean_factors(batch, weights)
        energy = (self.coefficient_weights(z, factors) * z * z).sum(axis=-1)
        return np.asarray(-0.5 * (energy * factors).sum(axis=-1))

    def gradient(self, x: FloatArray, batch: Batch, weights: FloatArray | None = None) -> FloatArray:
        z = rows_times(batch, x)
        factors = mean_factors(batch, weights)
        pull = self.coefficient_weights(z, factors)
        pull *= z
        pull *= -factors if isinstance(factors, float) else -factors[..., None]
        return columns_times(batch, pull)

    def rank_weights(self, count: int) -> FloatArray:
        """Return the weight of each rank among ``count`` coefficients, the largest first.

        >>> RankWeightedEnergy(power=1, head=0).rank_weights(4)
        array([1.  , 0.75, 0.5 , 0.25])
        """
        return np.asarray(rank_weights(count, self.power, self.head))

    def own_weights(self, z: FloatArray) -> FloatArray:
        """Return the weight of each coefficient by its rank in its sample; of equal ones the first ranks higher.

        >>> RankWeightedEnergy(power=1, head=0).own_weights(np.array([[1.0, -2.0], [3.0, 3.0]]))
        array([[0.5, 1. ],
               [1. , 0.5]])
        """
        return weights_by_rank(np.abs(z), self.rank_weights(z.shape[-1]).astype(z.dtype))

    def coefficient_weights(self, z: FloatArray, factors: FloatArray | float) -> FloatArray:
        """Return W, an array of the shape of the coefficients; ``factors`` is the share of each sample in the mean.

        >>> RankWeightedEnergy(power=1, head=0, shrink=1).coefficient_weights(np.array([[1.0, 2.0], [4.0, 3.0]]), 0.5)
        array([[0.75, 0.75],
               [0.75, 0.75]])
        """
        weights = self.own_weights(z)
        if self.shrink > 0.0:
            share = factors if isinstance(factors, float) else factors[..., None]
            mean = (weights * share).sum(axis=-2, keepdims=True)
            weights *= 1.0 - self.shrink
            weights += self.shrink * mean
        return weights
