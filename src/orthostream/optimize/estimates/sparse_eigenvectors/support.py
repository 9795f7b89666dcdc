"""Which entries of an eigenvector are more than noise."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from orthostream._typing import BoolArray, FloatArray

Indices: TypeAlias = npt.NDArray[np.intp]

#: The variances of true entries beside that of the noise: 0, then from the smallest on, each twice the one before.
_SMALLEST, _RATIO = 0.25, 2.0

#: Steps of expectation maximisation for the shares of these variances.
_STEPS = 50

#: The largest ratio of an entry to its standard error; larger ones are cut to it.
_SUREST = 1e6


def standard_errors(variance: float, rest: FloatArray, samples: float, outside: BoolArray | None = None) -> FloatArray:
    """Return the standard errors of a component's entries, for independent normal samples.

    ``variance`` is the component's, ``rest`` the variance of each feature that it does not explain. The entries of an
    eigenvector are solved for together, which amplifies noise. Those marked as ``outside`` are covariances of features
    with an eigenvector that is zero there.
    """
    gap = variance - rest
    if outside is not None:
        gap = np.where(outside, variance, gap)
    errors: FloatArray = np.sqrt(variance * rest / samples) / np.maximum(gap, 1e-12 * variance)
    return errors


def kept_shares(ratios: FloatArray) -> FloatArray:
    """Return the share of each entry that its posterior mean keeps, from the ratios of entries to standard errors.

    True entries are normal with a mixture of variances, one of them zero. The shares of the mixture maximise the
    likelihood of all the entries, so that where many are large, smaller ones are believed too.

    >>> kept_shares(np.array([30.0, 25.0, 1.0, -0.5, 0.3, 0.8, -1.2, 0.1])).round(1)
    array([1., 1., 0., 0., 0., 0., 0., 0.])
    """
    squares = ratios**2
    count = 1 + int(np.ceil(np.log(max(float(squares.max()) / _SMALLEST, _RATIO)) / np.log(_RATIO)))
    totals = 1.0 + np.concatenate(([0.0], _SMALLEST * _RATIO ** np.arange(count)))
    logarithms = -0.5 * (np.log(totals) + squares[:, None] / totals)
    likelihoods = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    shares = np.full(count + 1, 0.5 / count)
    shares[0] = 0.5
    for _ in range(_STEPS):
        shares = shares * (likelihoods.T @ (1.0 / (likelihoods @ shares))) / len(squares)
    kept: FloatArray = (likelihoods @ (shares * (1.0 - 1.0 / totals))) / (likelihoods @ shares)
    return kept


def most_certain_first(entries: FloatArray, errors: FloatArray) -> tuple[Indices, int]:
    """Return the order of entries from the most certain on, and how many of them are best kept.

    What is kept has the largest expected cosine with the true component. Entries of standard error zero are certain.
    An entry of zero is never kept, unless there is no other.

    >>> most_certain_first(np.array([0.02, -0.7, 0.03, 0.7, -0.01, 0.01]), np.full(6, 0.02))
    (array([1, 3, 2, 0, 4, 5]), 2)
    """
    sizes = np.abs(entries)
    ratios = sizes / np.maximum(np.maximum(errors, sizes / _SUREST), 1e-300)
    order = np.argsort(-ratios, kind="stable")
    alive = order[: max(np.count_nonzero(ratios), 1)]
    energies = entries[alive] ** 2
    expected = np.cumsum(energies * kept_shares(ratios[alive]))
    return order, 1 + int(np.argmax(expected**2 / np.maximum(np.cumsum(energies), 1e-300)))
