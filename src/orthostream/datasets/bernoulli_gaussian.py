"""The synthetic streams of section V-B: an orthogonal dictionary and Bernoulli-Gaussian codes."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch, check_random_state

from orthostream._typing import FloatArray


def make_bernoulli_gaussian(
    n_samples: int = 1000,
    n_features: int = 10,
    *,
    sparsity: float = 0.3,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw samples y = D x with a uniformly random orthogonal D and codes that are normal with probability sparsity.

    Returns
    -------
    Bunch
        ``samples`` (n_samples, n_features), ``codes`` (the same shape), and ``components``, the atoms as rows:
        ``samples = codes @ components``.

    Examples
    --------
    >>> import numpy as np
    >>> data = make_bernoulli_gaussian(5, 3, random_state=0)
    >>> np.allclose(data.codes @ data.components, data.samples)
    True
    """
    if not 0.0 < sparsity <= 1.0:
        raise ValueError(f"sparsity must lie in (0, 1], got {sparsity!r}.")
    rng = check_random_state(random_state)
    q, r = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    components: FloatArray = (q * np.sign(np.diagonal(r))).T
    codes = rng.standard_normal((n_samples, n_features)) * (rng.uniform(size=(n_samples, n_features)) < sparsity)
    return Bunch(samples=codes @ components, codes=codes, components=components)
