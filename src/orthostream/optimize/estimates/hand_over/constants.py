"""The constants of a hand-over, in units that do not depend on the data."""

from __future__ import annotations

# Length of the memories of the mixture, of the gates and of the force, in samples per atom.
MIXTURE_MEMORY, GATE_MEMORY, FORCE_MEMORY = 5.0, 10.0, 100.0
# What the clock of the lp phase is set back to, in samples per atom: for a stuck pair, and for an abrupt change.
HOT, LOST = 2.0, 0.5
# The constant c of the weights in each phase.
COOL, COOL_SPARSE = 3.0, 2.0
# The fraction of a contrast's mean curvature that is subtracted, or of the weakest atom's pull if that is smaller.
SHIFT = 0.9
# Spike and slab starts if every atom has the first share of its energy in the slab, and stops below the second.
BELONGS, ASTRAY = 0.4, 0.2
# How strongly a persistent force sets the clock back, if the memory is longer or shorter than that of the mixture.
PUSH, PUSH_YOUNG = 2.0, 4.0
# A factor that makes both contrasts pull about equally, so that neither dominates the running mean after a hand-over.
PULL = 0.35
# Ratio of spike to slab below which codes count as sparse, and below which the clock waits for the hand-over.
SPARSE, WAIT = 0.2, 0.1
# With fewer atoms than features: the share of the energy that the atoms must hold for spike and slab to start, and to
# go on.
INSIDE, OUTSIDE = 0.98, 0.9
# Correlation of two gates above which a pair of atoms counts as stuck.
STUCK = 0.5
# After PATIENCE samples per atom with a stuck pair, its correlation is accepted as a property of the data, plus MARGIN.
# Each return to the lp contrast because of a stuck pair counts as DETOUR samples per atom.
PATIENCE, DETOUR, MARGIN = 200.0, 20.0, 0.2
# Nats a coefficient by which spike and slab may be less likely than a Laplacian of each atom's own scale, for samples
# of unit length, to start and to go on; and the length of the memory of that difference, in samples per atom.
FITS, FITS_NOT, ADVANTAGE_MEMORY = -0.03, -0.06, 20.0
# The smallest spike of that mixture, as a share of its slab, and the smallest share of spike and of slab.
UNIT_LEAST, UNIT_RARE = 1e-3, 0.02
# Atoms with less than this share of the mean energy are left out of the difference: what they hold is rounding. If most
# atoms are like that, the difference counts as 0.
SILENT = 1e-6
# With fewer atoms than this, the difference counts as 0: the length of a sample is then mostly that of one coefficient.
FEW_ATOMS = 8
# Nats of evidence that count as proof of an abrupt change, or of a pair of atoms at a saddle.
ALARM = 30.0
# After this many memory lengths of the mixture in which it did not halve, the ratio of spike to slab is settled.
SETTLED = 10.0
# The smallest spike, as a share of the slab.
LEAST = 1e-12
# An atom is asleep, and left out of the tests of atoms, if its energy is below so many spikes and below this share of
# the mean.
SLEEPS, ASLEEP = 3.0, 0.01
# The gradient uses a spike that is WIDEN times wider than measured, so that there is still a force on the worst pair of
# atoms, but at most WIDEST times the slab.
WIDEN, WIDEST = 3.0, 0.1
# Pairs whose gates are more correlated than ALWAYS are turned by the force of a spike of at least WIDE times the slab;
# less, with the square of the memory, once that is longer than WIDE_MEMORY samples per atom. They are turned by at
# least the share of the angle that a mini-batch has in WIDE_MEMORY.
ALWAYS, WIDE, WIDE_MEMORY = 0.95, 0.01, 20.0
# A mini-batch of less energy than this is ignored.
NOTHING = 1e-200
# A squared force below this, in units of the squared energy, is rounding and no force.
ROUNDING = 1e-18
# The smallest normal number of double precision, to divide by in place of zero.
TINY = 2.2250738585072014e-308
# The range of mean squares of a coefficient for which the compiled update is safe: no fourth power over- or underflows.
SMALLEST, LARGEST = 1e-70, 1e70
