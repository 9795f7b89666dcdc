"""The contrast for exactly sparse codes: a coefficient is noise or signal."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.objectives.contrast import Contrast


class SpikeAndSlab(Contrast):
    r"""Minus the log-likelihood of coefficients that are small, or with probability ``sparsity`` large.

    A coefficient z has the density :math:`(1-\theta) N(0, s_0) + \theta N(0, s_1)`: a narrow spike and a wide slab. On
    the orthogonal group the energy :math:`\|D^T y\|^2` is constant, so that a multiple of it may be subtracted. With
    :math:`z^2 / 2 s_0` subtracted, and in units of :math:`1/\kappa`, :math:`\kappa = 1/s_0 - 1/s_1`, the loss and its
    derivative are

    .. math:: -\tfrac1\kappa \log(1 + e^{\ell(z)}), \qquad -z \, \pi(z), \qquad
              \ell(z) = \log\tfrac{\theta}{1-\theta} + \tfrac12 \log\tfrac{s_0}{s_1} + \tfrac\kappa2 z^2,

    where the gate :math:`\pi = 1/(1 + e^{-\ell})` is the probability that z belongs to the slab. As the spike shrinks,
    the loss tends to minus half the energy of the coefficients that are not zero.

    Parameters
    ----------
    sparsity : float or array
        The probability of the slab, in (0, 1). An array has one number for each problem of a stack.
    spike, slab : float or array
        The two variances, 0 < spike < slab.

    Examples
    --------
    >>> import numpy as np
    >>> contrast = SpikeAndSlab(sparsity=0.3, spike=1e-4, slab=1.0)
    >>> contrast.gates(np.array([[0.01, 1.0]])).round(3)
    array([[0.007, 1.   ]])
    >>> contrast.gradient(np.eye(2), np.array([[0.01, 1.0]])).round(3) + 0.0
    array([[ 0.  , -0.01],
           [ 0.  , -1.  ]])
    """

    def __init__(self, sparsity: FloatArray | float, spike: FloatArray | float, slab: FloatArray | float) -> None:
        self.sparsity, self.spike, self.slab = (np.asarray(number, dtype=float) for number in (sparsity, spike, slab))
        if not ((self.sparsity > 0.0) & (self.sparsity < 1.0)).all():
            raise ValueError(f"sparsity must lie in (0, 1), got {sparsity!r}.")
        if not ((self.spike > 0.0) & (self.spike < self.slab) & np.isfinite(self.slab)).all():
            raise ValueError(f"spike and slab must be variances, 0 < spike < slab, got {spike!r} and {slab!r}.")

    def loss(self, z: FloatArray) -> FloatArray:
        kappa = (1.0 / self.spike - 1.0 / self.slab)[..., None, None]
        return np.asarray(-np.logaddexp(0.0, self.log_odds(z)) / kappa).astype(z.dtype, copy=False)

    def score(self, z: FloatArray) -> FloatArray:
        return np.asarray(-z * self.gates(z))

    def log_odds(self, z: FloatArray) -> FloatArray:
        """Return the log-odds that each coefficient belongs to the slab."""
        kappa = 1.0 / self.spike - 1.0 / self.slab
        offset = np.log(self.sparsity / (1.0 - self.sparsity)) + 0.5 * np.log(self.spike / self.slab)
        odds = 0.5 * kappa[..., None, None] * np.square(z, dtype=float)
        odds += offset[..., None, None]
        return odds

    def gates(self, z: FloatArray) -> FloatArray:
        """Return the probability that each coefficient belongs to the slab."""
        return gates_of(self.log_odds(z)).astype(z.dtype, copy=False)


def gates_of(odds: FloatArray) -> FloatArray:
    """Return the probabilities that belong to log-odds.

    >>> gates_of(np.array([-1e6, 0.0, 1e6])).round(3)
    array([0. , 0.5, 1. ])
    """
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0))))
