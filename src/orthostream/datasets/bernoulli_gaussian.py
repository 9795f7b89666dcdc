"""The synthetic streams of section V-B: an orthogonal dictionary and Bernoulli-Gaussian codes."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch, check_random_state

from orthostream._checks import at_least, fraction, one_of
from orthostream._typing import FloatArray
from orthostream.datasets.drifting_dictionary import DriftingDictionary


def make_bernoulli_gaussian(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    sparsity: float = 0.3,
    noise: float = 0.0,
    codes: str = "gaussian",
    drift: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw samples y = D x with a random orthogonal D; entries of x are nonzero with probability ``sparsity``.

    Parameters
    ----------
    n_samples, n_features : int
    sparsity : float, default 0.3
        The probability that an entry of a code is nonzero.
    noise : float, default 0
        The standard deviation of white Gaussian noise that is added to the samples.
    codes : {"gaussian", "laplace"}
        The distribution of the nonzero entries; both have variance 1.
    drift : float, default 0
        The angle in radians by which every atom turns from each sample to the next, in random planes: y_i = R^i D x_i.
        With an odd number of features one direction is fixed.
    random_state : int, RandomState or None
        Codes and the first dictionary depend on the seed, but not on noise or drift.

    Returns
    -------
    Bunch
        ``samples`` (n_samples, n_features), ``codes`` (the same shape), ``components``, the atoms of the first sample
        as rows, and ``components_at``, a `DriftingDictionary`: called with i, counted from 0, it returns the atoms of
        sample i. Without noise, ``samples[i] = codes[i] @ components_at(i)``.

    Examples
    --------
    >>> import numpy as np
    >>> data = make_bernoulli_gaussian(5, 3, random_state=0)
    >>> np.allclose(data.codes @ data.components, data.samples)
    True
    >>> data = make_bernoulli_gaussian(5, 4, drift=0.1, random_state=0)
    >>> np.allclose(data.codes[3] @ data.components_at(3), data.samples[3])
    True
    >>> (data.components_at(3) * data.components).sum(axis=1).round(6) == np.cos(0.3).round(6)
    array([ True,  True,  True,  True])
    """
    fraction("sparsity", sparsity)
    at_least("noise", noise)
    one_of("codes", codes, ("gaussian", "laplace"))
    if not np.isfinite(drift):
        raise ValueError(f"drift must be a finite angle in radians, got {drift!r}.")
    rng = check_random_state(random_state)
    components = _random_orthogonal(n_features, rng)
    drawn = rng.standard_normal((n_samples, n_features)) * (rng.uniform(size=(n_samples, n_features)) < sparsity)
    if codes == "laplace":
        # A normal variable with an exponential variance is Laplacian.
        drawn *= np.sqrt(rng.exponential(size=drawn.shape))
    samples: FloatArray = drawn @ components
    n_planes = n_features // 2 if drift else 0
    axes = _random_orthogonal(n_features, rng) if n_planes else components
    dictionary = DriftingDictionary(components, axes[:n_planes], axes[n_planes : 2 * n_planes], drift)
    if n_planes:
        samples = dictionary.turn(samples, np.arange(n_samples, dtype=float))
    if noise:
        samples = samples + noise * rng.standard_normal(samples.shape)
    return Bunch(samples=samples, codes=drawn, components=components, components_at=dictionary)


def _random_orthogonal(n_features: int, rng: np.random.RandomState) -> FloatArray:
    q, r = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    orthogonal: FloatArray = (q * np.sign(np.diagonal(r))).T
    return orthogonal
