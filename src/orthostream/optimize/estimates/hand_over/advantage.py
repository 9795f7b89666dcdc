"""Whether codes are sparse: spike and slab beside a Laplacian of each atom's own scale, for samples of unit length.

Samples differ in length more than their codes differ in sparsity. Flat and textured patches of a photograph look like
spike and slab, until each is taken for itself. Both paths run these functions.
"""

from __future__ import annotations

from typing import Any

from orthostream.optimize.estimates.hand_over.constants import ADVANTAGE_MEMORY, MIXTURE_MEMORY, UNIT_LEAST, UNIT_RARE
from orthostream.optimize.estimates.hand_over.decisions import mixture_of
from orthostream.optimize.estimates.hand_over.layout import ADVANTAGE, STEPS, UNIT_OPEN, UNIT_SIGNAL


def unit_mixture(n: Any, atoms: int) -> tuple[float, float, float]:
    """Return sparsity, spike and slab of the coefficients of samples of unit length.

    None of them is extreme, so that online EM gets away from there when the stream changes.
    """
    if n[UNIT_OPEN] == 0.0:
        n[UNIT_OPEN], n[UNIT_SIGNAL] = 0.5, 0.5 / (0.75 * atoms)
    return mixture_of(n[UNIT_OPEN], n[UNIT_SIGNAL], 1.0 / atoms, UNIT_RARE, UNIT_LEAST)


def learn_advantage(n: Any, opened: float, signal: float, gain: float, per_atom: float) -> None:
    """Add a mini-batch; ``gain`` is the log-likelihood of a coefficient, less that of its Laplacian."""
    first = 1.0 / (n[STEPS] + 1.0)
    weight = max(min(1.0, per_atom / MIXTURE_MEMORY), first)
    n[UNIT_OPEN] += weight * (opened - n[UNIT_OPEN])
    n[UNIT_SIGNAL] += weight * (signal - n[UNIT_SIGNAL])
    n[ADVANTAGE] += max(min(1.0, per_atom / ADVANTAGE_MEMORY), first) * (gain - n[ADVANTAGE])
