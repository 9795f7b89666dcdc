"""The Frank-Wolfe gap, zero at stationary points and only there (Lemma 2)."""

from __future__ import annotations

import numpy as np

from orthostream._typing import FloatArray
from orthostream.optimize.sets.base import ConvexSet


def frank_wolfe_gap(feasible: ConvexSet, x: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return the largest <-gradient, s - x> over all s in the set, for each point x of a stack.

    Examples
    --------
    >>> import numpy as np
    >>> from orthostream.optimize import L2Ball
    >>> float(frank_wolfe_gap(L2Ball(), np.array([0.0, 1.0]), np.array([3.0, 0.0])))
    3.0
    """
    axes = tuple(range(-feasible.core_ndim, 0))
    gap: FloatArray = np.asarray(np.sum(gradient * (x - feasible.lmo(gradient)), axis=axes))
    return gap
