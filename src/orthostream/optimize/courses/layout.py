"""Where a hand-over keeps what it remembers: the numbers of each problem, and the rows of its atoms."""

from __future__ import annotations

from enum import IntEnum


class Slot(IntEnum):
    """Where each number stands."""

    STEPS = 0
    """Mini-batches seen that were not all zero."""
    PHASE = 1
    """0 for the lp contrast, 1 for the spike and the slab."""
    AGE = 2
    """What the clock of the running mean shows: its weights are c / (age + c - 1)."""
    OPEN = 3
    """Running mean of the gates."""
    SIGNAL = 4
    """Running mean of gate times squared coefficient."""
    ENERGY = 5
    """Running mean of the squared coefficient."""
    BEND = 6
    """Running mean of |z|^(p-2), to which the curvature of the lp contrast is proportional."""
    TRUST = 7
    """Sum of the squared weights of the mean force: its variance, in units of one mini-batch's."""
    EVIDENCE = 8
    """Log-likelihood by which a plain normal distribution has lately been the better bet than spike and slab."""
    LEVEL = 9
    """Running mean of the ratio of the spike to the slab."""
    MARK = 10
    """That ratio when the clock was last put back for it."""
    CHANGES = 11
    """How often the stream has changed abruptly."""
    FIRST = 12
    """The pair of atoms whose gates are the most alike: one of the two,"""
    SECOND = 13
    """and the other."""
    TURN = 14
    """Log-likelihood by which that pair, turned by 45 degrees, has lately been the better bet."""
    WAITED = 15
    """Samples for each atom that went by while a pair that looked stuck kept the first contrast."""
    TOLERATED = 16
    """Correlation of two gates that has come to be taken for a trait of the data, on top of what is allowed."""


class Row(IntEnum):
    """Where each running mean of the atoms stands."""

    GATE = 0
    """The gate."""
    ENERGY = 1
    """The squared coefficient."""
    BENT = 2
    """|z|^p: the pull of the lp contrast along the atom."""
    GATED = 3
    """Gate times squared coefficient: the pull of spike and slab along it."""
