"""The constants of a hand-over, in units that do not depend on the data."""

from __future__ import annotations

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
