"""Sparse, orthonormal components of a second moment, one after the other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import BoolArray, FloatArray
from orthostream.optimize.estimates.sparse_eigenvectors.moment import Moment, span
from orthostream.optimize.estimates.sparse_eigenvectors.support import Indices, most_certain_first, standard_errors

#: How often the support is looked for again, with the component that the last one gave.
_ROUNDS = 4

#: The part of a component's energy that may be given up to be orthogonal to stray entries of those before it.
_ENTANGLED = 0.01

#: Variances below this part of a feature's own are rounding.
_ROUNDING = 1e-12


class Tolerance(NamedTuple):
    """What may be given up for more zeros, beyond entries that are noise."""

    loss: float = 0.001
    """The part of a component's variance that may be lost."""
    certain: float = 5.0
    """Entries of more standard errors than this stay."""


def sparse_components(
    moment: Moment, samples: float, count: int, tolerance: Tolerance
) -> tuple[FloatArray, FloatArray]:
    """Return orthonormal components in rows, and their variances.

    Each component has the largest variance among those that are orthogonal to the ones before and zero outside of a
    support. The support leaves out what is noise, for that many samples, and then as many of the smallest entries as
    the tolerance allows.

    >>> from orthostream.optimize.estimates.sparse_eigenvectors.whole_moment import WholeMoment
    >>> moment = WholeMoment(np.array([[4.0, 1.0, 0.01], [1.0, 4.0, 0.02], [0.01, 0.02, 1.0]]))
    >>> sparse_components(moment, 100.0, 2, Tolerance())[1].round(3)
    array([5., 3.])
    """
    found = np.zeros((0, len(moment.diagonal)))
    variances = []
    left = np.array(moment.diagonal)
    for _ in range(count):
        variance, component = _component(moment, samples, left, found)
        if tolerance.loss > 0.0 and variance > 0.0:
            errors = _errors(moment, samples, left, variance, component)
            certain = np.abs(component) / tolerance.certain > errors
            enough = (1.0 - tolerance.loss) * variance
            variance, component = _pruned(moment, found, (variance, component), enough, certain)
        pull = _pulled(moment, component, found)
        left = left - component * (2.0 * pull - variance * component)
        found = np.concatenate((found, component[None]))
        variances.append(variance)
    return found, np.array(variances)


def _component(moment: Moment, samples: float, left: FloatArray, found: FloatArray) -> tuple[float, FloatArray]:
    """Return variance and next component without noise; ``left`` is what those found leave of the variances."""
    support = np.arange(len(left))
    variance, component = moment.leading(support, found)
    alive = left > _ROUNDING * moment.diagonal
    least = _ROUNDING * float(moment.diagonal.sum())
    for _ in range(_ROUNDS):
        if variance <= least:
            break
        outside = np.ones(len(left), dtype=bool)
        outside[support] = False
        entries = np.where(outside, _pulled(moment, component, found) / variance, component) * alive
        order, size = most_certain_first(entries, _errors(moment, samples, left, variance, entries, outside))
        last, support = support, _free_enough(entries, _wide_enough(order, size, found), found)
        if np.array_equal(support, last):
            break
        variance, component = moment.leading(support, found)
    return variance, component


def _pruned(
    moment: Moment, found: FloatArray, best: tuple[float, FloatArray], enough: float, certain: BoolArray
) -> tuple[float, FloatArray]:
    """Return variance and component on as few of its largest entries as give enough variance, with all certain ones."""
    component = best[1]
    order = np.argsort(-np.abs(component), kind="stable")
    kept = np.flatnonzero(certain[order])
    low, high = 1 + (int(kept[-1]) if len(kept) else 0), int(np.count_nonzero(component))
    while low < high:
        middle = (low + high) // 2
        trial = moment.leading(_wide_enough(order, middle, found), found)
        if trial[0] >= enough:
            best, high = trial, middle
        else:
            low = middle + 1
    return best


def _errors(
    moment: Moment,
    samples: float,
    left: FloatArray,
    variance: float,
    entries: FloatArray,
    outside: BoolArray | None = None,
) -> FloatArray:
    """Return the standard errors of a component's entries, some of which may lie outside of its support."""
    rest = np.maximum(left - variance * entries**2, _ROUNDING * moment.diagonal)
    return standard_errors(variance, rest, samples, outside)


def _wide_enough(order: Indices, size: int, found: FloatArray) -> Indices:
    """Return the first features of an order, sorted: so many, or more if no vector on them is orthogonal to the found.

    >>> _wide_enough(np.array([2, 0, 1]), 1, np.array([[0.6, 0.0, 0.8]]))
    array([0, 2])
    """
    while np.count_nonzero(found[:, order[:size]].any(axis=1)) >= size:
        size += 1
    return np.sort(order[:size])


def _free_enough(entries: FloatArray, support: Indices, found: FloatArray) -> Indices:
    """Return a support on which these entries are nearly orthogonal to the found components.

    A found component may have stray entries on the support, small but parallel to the component that is sought. To be
    orthogonal to them it needs the other features of the found one too.

    >>> found = np.array([[0.9998, 0.014, 0.014]])
    >>> _free_enough(np.array([-0.02, 0.7, 0.7]), np.array([1, 2]), found)
    array([0, 1, 2])
    """
    while len(support) < len(entries):
        part = entries[support]
        basis = span(found[:, support].T)
        if np.sum((basis.T @ part) ** 2) <= _ENTANGLED * (part @ part):
            break
        overlapping = found[found[:, support].any(axis=1)]
        wider = np.union1d(support, np.flatnonzero(overlapping.any(axis=0)))
        support = wider if len(wider) > len(support) else np.arange(len(entries))
    return support


def _pulled(moment: Moment, component: FloatArray, found: FloatArray) -> FloatArray:
    """Return the moment times a component, without the directions of the components before it."""
    product = moment.times(component)
    return product - found.T @ (found @ product)
