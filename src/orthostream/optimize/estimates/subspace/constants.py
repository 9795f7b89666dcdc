"""The constants of a learner in a subspace, in units that do not depend on the data."""

from __future__ import annotations

# The patient basis moves after so many samples per atom, or after this share of its age if that is longer. The share is
# no round number, so that rounding does not decide between two equal whole numbers of samples.
EVERY, PART = 1.0, 0.0307
# The constant c of its weights c / (age + c - 1). The variance of such a mean is 1.12 times that of a plain one, but
# what was learnt in a poor basis is forgotten.
COOL = 1.5
# Length of the memories of the pulls along the atoms and of the drift, in samples per atom.
PULL_MEMORY, DRIFT_MEMORY = 10.0, 100.0
# How strongly a persistent drift sets the clock back, if the memory is longer or shorter than so many samples per atom;
# the same as in a hand-over.
PUSH, PUSH_YOUNG, YOUNG = 2.0, 4.0, 5.0
# The mean drift is judged once the sum of its squared weights is below this.
KNOWN = 0.6
# A drift whose squared length is so many times the mean sets the clock back at once.
JUMP = 4.0
# But a drift along fewer directions than this share of the atoms may be that of a sample that repeats.
DIVERSE = 0.3
# If a new basis has less than this share of its squared length in the last one, the subspace is another one: all is
# learnt anew. After so many samples per atom that counts as an abrupt change of the stream.
CLOSE, SETTLED = 0.7, 20.0
# With fewer atoms than this, "per atom" stands for so many samples.
FEW = 8
# Atoms whose pull is below this share of the strongest one's are not scaled up further.
FAINT = 1e-9
# A basis is sought from a matrix plus this share of the present one, so that directions without data stay.
RIDGE = 1e-9
# Up to so many features there is a quick basis, whose second moment is an N x N matrix.
LARGEST = 192
# It remembers so many samples per feature. New ones wait until there are this many per feature, or so many at least;
# then it moves.
QUICK_MEMORY, QUICK_EVERY, LEAST_ROOM = 4.0, 0.5, 16
# While codes are sparse, the patient basis remembers more than so many samples per atom, and the quick one is behind,
# the quick one rests: it costs the most.
LONG = 100.0
# Samples from one pair of snapshots to the next: so many per feature, and at least so many. They are compared in the
# second half of that time, so that samples that repeat at once are over by then.
BLOCK, SHORTEST_BLOCK = 2.0, 128.0
# Length of the memory of the comparison, in samples per feature, and the mini-batches it needs before it decides.
LEAD_MEMORY, ENOUGH = 8.0, 8.0
# Deviations by which one basis must be ahead of another to take its place, and the patient one ahead of the steady one
# to replace it.
AHEAD, FAR_AHEAD = 2.0, 8.0
# A lead below this share of the energy outside is rounding. While codes are sparse, the quick basis must be ahead by
# the second share: the patient one is less biased by uneven noise.
LEAST_LEAD, CLEARLY = 1e-4, 0.05
# The first guess of the conditioning of the product of two bases.
NEAR = 0.5
