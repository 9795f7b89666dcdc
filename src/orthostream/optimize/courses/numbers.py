"""The numbers that a hand-over remembers of each problem, and its constants."""

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


# Memories, in samples for each atom.
MIXTURE, GATES, FORCE = 5.0, 10.0, 100.0
# What the clock of the lp phase is put back to, for a pair of atoms that is stuck and for an abrupt change.
HOT, LOST = 2.0, 0.5
# The constant c of the weights in each phase.
COOL, COOL_SPARSE = 3.0, 2.0
# How much of the mean curvature of a contrast is taken off, or of the weakest atom's pull if that is less.
SHIFT = 0.9
# The share of an atom's energy that is of the slab: spike and slab wants more of every atom, and gives up below.
BELONGS, ASTRAY = 0.4, 0.2
# How hard the clock is pushed back for a force that persists, where the memory is longer or shorter than MIXTURE.
PUSH, PUSH_YOUNG = 2.0, 4.0
# A factor that makes both contrasts pull about equally, so that neither outlives a hand-over in the running mean.
PULL = 0.35
# Ratio of spike to slab below which codes count as sparse, and as so sparse that the clock waits for the hand-over.
SPARSE, WAIT = 0.2, 0.1
# The share of the energy that the atoms must hold for spike and slab, where they do not span the space, and below which
# it gives up.
INSIDE, OUTSIDE = 0.98, 0.9
# Correlation of two gates above which a pair of atoms counts as stuck.
STUCK = 0.5
# Samples for each atom that a pair may look stuck before that is taken for a trait of the data, what each way back adds
# to them, and by how much more than was seen is tolerated then.
PATIENCE, DETOUR, MARGIN = 200.0, 20.0, 0.2
# Nats of evidence for a change, or for a pair of atoms at a saddle.
ALARM = 30.0
# After so many windows without a halving the ratio of spike to slab counts as settled.
SETTLED = 3.0
# The spike's least share of the slab, in double and in single precision.
LEAST, LEAST_SINGLE = 1e-12, 1e-8
# How much wider than measured a spike is taken, so that the worst pair of atoms still feels a force, and up to what
# share of the slab.
WIDEN, WIDEST = 3.0, 0.1
# Less than this is nothing: a mini-batch of so little energy says nothing, and a past of so little is forgotten.
NOTHING = 1e-200
