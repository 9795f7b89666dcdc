"""Pairs of atoms that always occur together, turned in NumPy, for one problem or a stack of them."""

from __future__ import annotations

from orthostream.optimize.array_block import ArrayBlock
from orthostream.optimize.estimates.hand_over import arrays
from orthostream.optimize.estimates.hand_over.decisions import has_pair, log_odds, turning_weight, wide_mixture
from orthostream.optimize.estimates.hand_over.layout import GATE, TOGETHER
from orthostream.optimize.estimates.hand_over.turning import turn_pairs

#: The numbers of a problem, its mixture, the samples per atom of the mini-batch, and the weight of the new gradient.
Known = tuple[list[float], tuple[float, float, float], float, float]


def turn_where_together(known: list[Known], memory: ArrayBlock, heard: arrays.Heard) -> None:
    """Turn the pairs of all problems that have some, with the force of a wide spike, in place."""
    wide = [log_odds(*wide_mixture(n, *mixture, per_atom)) for n, mixture, per_atom, _ in known]
    gates = arrays.gate(heard, *arrays.spread(wide, memory.array.shape[:-1]))
    force = heard.z.mT @ arrays.score(gates, heard, 0.0, 1.0)
    atoms = force.shape[-1]
    forces, together = force.reshape(-1, atoms, atoms), memory["pairs"][..., TOGETHER, :, :].reshape(-1, atoms, atoms)
    means, gradient = memory["atoms"][..., GATE, :].reshape(-1, atoms), memory["gradient"]
    columns = gradient.reshape(-1, *gradient.shape[-2:])
    for i, (n, _, per_atom, rho) in enumerate(known):
        if has_pair(n):
            turn_pairs(columns[i], means[i], together[i], forces[i], max(rho, turning_weight(per_atom)))
