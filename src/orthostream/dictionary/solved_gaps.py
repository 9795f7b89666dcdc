"""Missing readings of sparse codes: solved for, rather than estimated.

Once the learner has found that codes are sparse, it knows how large the coefficients are that are only noise. The
values in the gaps then follow from the other readings: of all codes that agree with m readings, at most one has fewer
than m/2 nonzero coefficients. The iteration of `missing` finds it if its shrinkage falls, step by step, to the size of
the noise. Rows for which it is not found are not learnt from: their codes are dense and wrong, and all atoms seem to
occur together.
"""

from __future__ import annotations

import numpy as np

from orthostream._compile import can_compile
from orthostream._typing import BoolArray, FloatArray
from orthostream.dictionary.missing_loops import LEAST, RELAXATION, SHRINKAGE
from orthostream.dictionary.solved_gaps_loops import DECAY, ENOUGH, LONGEST, NOISY, NONZERO
from orthostream.optimize.kernel import Kernel, compiled_kernel

_TINY = np.finfo(float).tiny
_KERNEL = Kernel("solve_rows", ("orthostream.dictionary.missing_loops", "orthostream.dictionary.solved_gaps_loops"))


def solve_gaps(rows: FloatArray, gaps: BoolArray, dictionary: FloatArray, noise: float) -> tuple[FloatArray, BoolArray]:
    """Return completed rows with better values in the gaps, and which rows have a code that is sparse enough.

    Parameters
    ----------
    rows : array of shape (n_samples, N), completed
    gaps : array of bool, of the same shape
    dictionary : array of shape (N, K)
        Orthonormal atoms as columns.
    noise : float
        The mean square of a coefficient that is only noise, as a share of the mean square of all.

    Examples
    --------
    >>> import numpy as np
    >>> atoms = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2.0
    >>> rows, gaps = np.array([[4.0, -4.0, 4.0, -3.0]]), np.array([[False, False, False, True]])
    >>> solved, unique = solve_gaps(rows, gaps, atoms, noise=1e-12)
    >>> solved.round(6), unique
    (array([[ 4., -4.,  4., -4.]]), array([ True]))
    """
    safe = LEAST < np.vdot(rows, rows) < 1.0 / LEAST
    if safe and can_compile() and rows.dtype == dictionary.dtype == np.float64:
        arrays = (a if a.flags.carray else np.array(a, order="C") for a in (rows, gaps, dictionary))
        solved, unique = compiled_kernel(_KERNEL)(*arrays, noise)
        return solved, unique
    unit = np.maximum(np.abs(rows).max(axis=-1, keepdims=True), _TINY)
    solved, unique = _solve(rows / unit, gaps, dictionary, NOISY * noise)
    with np.errstate(under="ignore"):
        return np.where(gaps, solved * unit, rows), unique


def _solve(rows: FloatArray, gaps: BoolArray, dictionary: FloatArray, least: float) -> tuple[FloatArray, BoolArray]:
    share, atoms = SHRINKAGE, dictionary.shape[1]
    codes = rows @ dictionary
    going = np.asarray(gaps.any(axis=-1, keepdims=True))
    total = np.vecdot(codes, codes)[:, None]
    for _ in range(LONGEST):
        energy = codes * codes
        total = energy.sum(axis=-1, keepdims=True)
        shrunk = codes * (energy / np.maximum(energy + share / atoms * total, _TINY))
        steps = np.where(gaps & going, RELAXATION * (shrunk @ dictionary.T - rows), 0.0)
        rows = rows + steps
        change = steps @ dictionary
        codes += change
        if share <= least:
            going = going & (np.vecdot(change, change)[:, None] > ENOUGH * least * total)
            if not going.any():
                break
        share = max(DECAY * share, least)
    nonzero = (codes * codes > NONZERO * least / atoms * total).sum(axis=-1)
    missing = gaps.sum(axis=-1)
    return rows, (missing == 0) | (2 * nonzero < rows.shape[-1] - missing)
