"""Nonnegative codes of documents with the least absolute error, by the alternating direction method of multipliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.novelty.block import SparseMatrix

_AT_ONCE = 16


class L1Codes(NamedTuple):
    """The codes of some documents, and what each costs."""

    codes: FloatArray
    costs: FloatArray


def l1_codes(
    atoms: FloatArray, rows: SparseMatrix, penalty: float, multiplier_step: float, n_iterations: int
) -> L1Codes:
    """Return codes x that nearly minimise ``||y - x D||_1 + penalty ||x||_1`` over x >= 0 for each row y.

    As atoms and codes are not negative, the error at terms that a document does not have is linear in x: it is the sum
    of x times the mass of each atom outside of the document. So the method runs on the document's own terms, and is
    exact.

    Parameters
    ----------
    atoms : array of shape (n_atoms, n_terms)
        The rows of D, not negative.
    rows : CSR array of shape (n_documents, n_terms)
        Not negative.
    penalty, multiplier_step : float
        The latter is the beta of the augmented Lagrangian; it changes the speed, not the limit.
    n_iterations : int

    Examples
    --------
    >>> from scipy import sparse
    >>> found = l1_codes(np.array([[0.5, 0.5, 0.0]]), sparse.csr_array([[0.4, 0.4, 0.2]]), 0.1, 10.0, 500)
    >>> found.codes.round(3), found.costs.round(3)
    (array([[0.8]]), array([0.28]))
    """
    touched, places = np.unique(rows.indices, return_inverse=True)
    # One more row of zeros, for the padding of short documents.
    by_term = np.vstack([atoms[:, touched].T, np.zeros((1, len(atoms)))])
    masses, lengths = atoms.sum(axis=1), np.diff(rows.indptr)
    codes, costs = np.zeros((rows.shape[0], len(atoms))), np.zeros(rows.shape[0])
    by_length = np.argsort(lengths, kind="stable")
    for start in range(0, len(by_length), _AT_ONCE):
        group = by_length[start : start + _AT_ONCE]
        inside = np.arange(lengths[group].max()) < lengths[group, None]
        entries = (rows.indptr[group, None] + np.arange(inside.shape[1]))[inside]
        terms, targets = np.full(inside.shape, len(touched)), np.zeros(inside.shape)
        terms[inside], targets[inside] = places[entries], rows.data[entries]
        own = by_term[terms]
        prices = penalty + masses - own.sum(axis=1)
        codes[group] = _alternate(own, targets, prices, multiplier_step, n_iterations)
        errors = np.abs(targets - _times(own, codes[group])).sum(axis=1)
        costs[group] = errors + (codes[group] * prices).sum(axis=1)
    return L1Codes(codes, costs)


def _alternate(
    own: FloatArray, targets: FloatArray, prices: FloatArray, multiplier_step: float, n_iterations: int
) -> FloatArray:
    """Minimise ``||targets - own codes||_1 + prices . codes`` for a stack of documents."""
    threshold = 1.0 / multiplier_step
    # An upper bound of the squared spectral norm.
    curvature = np.minimum(
        np.square(own).sum(axis=(1, 2)), own.sum(axis=1).max(axis=1) * own.sum(axis=2).max(axis=1, initial=0.0)
    )
    step = 1.0 / np.maximum(curvature, np.finfo(float).tiny)[:, None]
    codes, fits, multipliers = np.zeros_like(prices), np.zeros_like(targets), np.zeros_like(targets)
    for _ in range(n_iterations):
        wanted = targets - fits + multipliers
        errors = wanted - np.clip(wanted, -threshold, threshold)
        slopes = np.matmul((errors - wanted)[:, None, :], own)[:, 0] + threshold * prices
        codes = np.maximum(0.0, codes - step * slopes)
        fits = _times(own, codes)
        multipliers += targets - fits - errors
    return codes


def _times(own: FloatArray, codes: FloatArray) -> FloatArray:
    product: FloatArray = np.matmul(own, codes[:, :, None])[:, :, 0]
    return product
