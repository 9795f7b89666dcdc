"""Pairs of atoms whose gates always open together, which are turned by themselves.

Two such atoms may be a mixture of two true atoms. The spike is narrow by then, and exerts no force on the pair: what
one atom holds of the other is already slab. A wider spike does. Its force must not enter the gradient, where it would
add the noise of sampling to all atoms. So the two columns of the gradient are turned instead, as if the pair had always
been where it is then.

Both paths run these functions: Python on arrays, and Numba compiles them.
"""

from __future__ import annotations

import math
from typing import Any

from orthostream.optimize.estimates.hand_over.constants import ALWAYS


def always_together(gates: Any, together: Any, i: int, j: int) -> bool:
    """Return whether the gates of two atoms are more correlated than ALWAYS."""
    product = max(together[i, i] - gates[i] * gates[i], 1e-12) * max(together[j, j] - gates[j] * gates[j], 1e-12)
    return bool(together[i, j] - gates[i] * gates[j] > ALWAYS * math.sqrt(product))


def turn_pairs(gradient: Any, gates: Any, together: Any, force: Any, weight: float) -> None:
    """Turn the columns of pairs that always occur together, in place, by a part of what the force asks for.

    Parameters
    ----------
    gradient : array of shape (N, K)
    gates, together : arrays of shape (K,) and (K, K)
        The means of the gates, and of the products of two gates.
    force : array of shape (K, K)
        The mean of coefficient times score; a score for each column.
    weight : float
        The part of the angle that the pair is turned by.
    """
    atoms = gates.size
    for i in range(atoms):
        for j in range(i + 1, atoms):
            if always_together(gates, together, i, j):
                angle = weight * math.atan2(force[j, i] - force[i, j], max(force[i, i] + force[j, j], 0.0))
                turn_columns(gradient, i, j, angle)


def turn_columns(matrix: Any, i: int, j: int, angle: float) -> None:
    """Turn two columns of a matrix by an angle, in place."""
    c, s = math.cos(angle), math.sin(angle)
    first, second = matrix[:, i].copy(), matrix[:, j].copy()
    matrix[:, i] = c * first + s * second
    matrix[:, j] = c * second - s * first
