"""What mixed memories remember of one problem, and where it lies in the block."""

from __future__ import annotations

from typing import Any

from orthostream.optimize.array_block import Layout
from orthostream.optimize.estimates.mixed_memories.constants import GROUPS, MEMORIES


def layout_for(features: int, atoms: int, room: int) -> Layout:
    """Return the names and shapes of the memory, in the order of `parts`."""
    return Layout(
        gradient=(features, atoms),
        rows=(room, features),  # the last samples, the newest at the end
        weights=(room,),  # their weights, 0 where there is no sample yet
        moments=(MEMORIES, features, features),  # weighted sums of y y'
        totals=(MEMORIES,),  # the sums of those weights
        evidence=(GROUPS, MEMORIES, MEMORIES + 1),  # how the memories' predictions overlap, and how they match
        shares=(GROUPS, MEMORIES),
        pull=(features, atoms),  # the running mean of the pull of ranks
        importance=(atoms,),  # the square of the mean rank weight of each atom, 1 for one that is always the largest
        steps=(1,),  # since there were as many samples as features
    )


def parts(block: Any, features: int, atoms: int, room: int) -> Any:
    """Return the arrays of a block as views of it."""
    size, square = features * atoms, features * features
    a = size + room * features
    b = a + room
    c = b + MEMORIES * square
    d = c + MEMORIES
    e = d + GROUPS * MEMORIES * (MEMORIES + 1)
    f = e + GROUPS * MEMORIES
    g = f + size
    return (
        block[:size].reshape((features, atoms)),
        block[size:a].reshape((room, features)),
        block[a:b],
        block[b:c].reshape((MEMORIES, features, features)),
        block[c:d],
        block[d:e].reshape((GROUPS, MEMORIES, MEMORIES + 1)),
        block[e:f].reshape((GROUPS, MEMORIES)),
        block[f:g].reshape((features, atoms)),
        block[g : g + atoms],
        block[g + atoms :],
    )
