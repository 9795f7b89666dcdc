"""Sparse, orthonormal components of a second moment, one after the other."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.estimates.sparse_eigenvectors.moment import Moment
from orthostream.optimize.estimates.sparse_eigenvectors.support import Indices, most_certain_first, standard_errors

#: How often the support is looked for again, with the component that the last one gave.
_ROUNDS = 4

#: Variances below this part of a feature's own are rounding.
_ROUNDING = 1e-12


def sparse_components(
    moment: Moment, samples: float, count: int, variance_loss: float
) -> tuple[FloatArray, FloatArray]:
    """Return orthonormal components in rows, and their variances.

    Each component has the largest variance among those that are orthogonal to the ones before and zero outside of a
    support. The support leaves out what is noise, for that many samples, and then as many of the smallest entries as
    cost at most the part ``variance_loss`` of the variance.

    >>> from orthostream.optimize.estimates.sparse_eigenvectors.whole_moment import WholeMoment
    >>> moment = WholeMoment(np.array([[4.0, 1.0, 0.01], [1.0, 4.0, 0.02], [0.01, 0.02, 1.0]]))
    >>> sparse_components(moment, samples=100.0, count=2, variance_loss=0.0)[1].round(3)
    array([5., 3.])
    """
    features = len(moment.diagonal)
    found = np.zeros((0, features))
    variances = []
    left = np.array(moment.diagonal)
    for _ in range(count):
        variance, component = _component(moment, samples, left, found)
        if variance_loss > 0.0 and variance > 0.0:
            variance, component = _pruned(moment, found, component, variance, variance_loss)
        pull = _pulled(moment, component, found)
        left = left - component * (2.0 * pull - variance * component)
        found = np.concatenate((found, component[None]))
        variances.append(variance)
    return found, np.array(variances)


def _component(moment: Moment, samples: float, left: FloatArray, found: FloatArray) -> tuple[float, FloatArray]:
    """Return the next component and its variance; ``left`` is what the ones found before leave of the variances."""
    everything = np.arange(len(left))
    variance, component = moment.leading(everything, found)
    alive = left > _ROUNDING * moment.diagonal
    least = _ROUNDING * float(moment.diagonal.sum())
    support = everything
    for _ in range(_ROUNDS):
        if variance <= least:
            break
        inside = np.zeros(len(left), dtype=bool)
        inside[support] = True
        entries = np.where(inside, component, _pulled(moment, component, found) / variance) * alive
        rest = np.maximum(left - variance * entries**2, _ROUNDING * moment.diagonal)
        order, size = most_certain_first(entries, standard_errors(variance, rest, samples, inside))
        last, support = support, _wide_enough(order, size, found)
        if np.array_equal(support, last):
            break
        variance, component = moment.leading(support, found)
    return variance, component


def _pruned(
    moment: Moment, found: FloatArray, component: FloatArray, variance: float, loss: float
) -> tuple[float, FloatArray]:
    """Return the component on as few of its largest entries as keep the part 1 - loss of its variance."""
    order = np.argsort(-np.abs(component), kind="stable")
    best, enough = (variance, component), (1.0 - loss) * variance
    low, high = 1, int(np.count_nonzero(component))
    while low < high:
        middle = (low + high) // 2
        support = _wide_enough(order, middle, found)
        trial = moment.leading(support, found)
        if trial[0] >= enough:
            best, high = trial, middle
        else:
            low = middle + 1
    return best


def _wide_enough(order: Indices, size: int, found: FloatArray) -> Indices:
    """Return the first features of an order, sorted: so many, or more if no vector on them is orthogonal to the found.

    >>> _wide_enough(np.array([2, 0, 1]), 1, np.array([[0.6, 0.0, 0.8]]))
    array([0, 2])
    """
    while np.count_nonzero(found[:, order[:size]].any(axis=1)) >= size:
        size += 1
    return np.sort(order[:size])


def _pulled(moment: Moment, component: FloatArray, found: FloatArray) -> FloatArray:
    """Return the moment times a component, without the directions of the components before it."""
    product = moment.times(component)
    return product - found.T @ (found @ product)
