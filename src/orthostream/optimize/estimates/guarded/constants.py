"""The constants of a guarded hand-over, in units that do not depend on the data."""

from __future__ import annotations

# The limit of the squared length of a sample follows this quantile; the largest share of a step in its logarithm that
# one sample makes, and the share of the limit below which a sample counts as silence.
QUANTILE, RATE, SILENCE = 0.9, 0.03, 1e-3
# A silent sample moves the limit so many times less; no mini-batch moves its logarithm by more than LEAP.
CALM, LEAP = 0.1, 3.0
# After so many silent samples per atom in a row the limit starts again from them. While fewer samples per atom than the
# second number were loud, it does so once the silent ones are more: the first samples may have been outliers.
LONG_SILENCE, FEW_LOUD = 300.0, 5.0
# A sample or mini-batch that comes again and again is learnt from so many times in a row. Signatures that differ by a
# smaller share are the same, because both paths round them in their own way.
MOST_REPEATS, SAME = 4.0, 1e-13
# Length of the memory of the mean of the samples, in samples per atom.
MEAN_MEMORY = 200.0
# The mean counts as an offset if its energy is this many times that of its noise; but not if it holds this share of all
# energy, because an atom of its own describes such a mean best.
OFFSET, DOMINANT = 5.0, 0.3
# The constant c of the anchor's weights c / (age + c - 1), and the power of the age in the mean of its points.
COOL_ANCHOR, LATE = 10.0, 2.0
# The share of the largest harmless shift of its contrast that the anchor takes; weaker atoms than this do not limit it.
SHIFT_ANCHOR, FAINT = 0.7, 1e-3
# The anchor moves after so many samples per atom, or after this share of its age if that is longer.
EVERY, PART = 1.0, 0.03
# Samples per atom from one pair of snapshots to the next; they are compared in the second half of that time.
BLOCK = 20.0
# Length of the memory of the comparison, in samples per atom, and the mini-batches it needs before it decides.
LEAD_MEMORY, ENOUGH = 100.0, 8.0
# Deviations by which the course must be behind to lose trust and to start again, ahead to win it, and ahead to replace
# the anchor.
BEHIND, FAR_BEHIND, AHEAD, FAR_AHEAD = -2.0, -3.0, 3.0, 8.0
# A lead below this share of the contrast is not worth a change: it may be rounding.
LEAST_LEAD = 1e-4
# Replacing the anchor also takes a lead of this share of the contrast.
CLEARLY = 0.15
# Ratio of spike to slab below which codes count as exactly sparse, so that their l1 norm decides too.
EXACT = 1e-4
# If a strong correlation of two gates is tolerated, the leads in l1 and l3 that trust takes.
STRICT_L1, STRICT_L3 = 1.0, 2.0
# Samples per atom that a course may be behind before it starts again from the anchor; a mini-batch counts for at most
# one, because after a start the oracle takes the slow exact path for a while.
TRIAL_LENGTH = 150.0
# The tolerated correlation of gates of a course that starts from the anchor: any.
ANY = 1.0
# After so many moves with a nearly singular gradient the anchor tries products with a ridge, with this guess of the
# conditioning; and the guess for the mean of its points.
SINGULAR_MOVES, RIDGED_GUESS, MEAN_GUESS = 20.0, 2.0**-33, 0.01
# Squared lengths beyond this are left to the caller, who scales them; samples this many times longer than the limit
# are cut before anything else looks at them.
HUGE, MONSTROUS = 1e300, 1e8
# The smallest normal number, to divide by in place of zero.
TINY = 2.2250738585072014e-308
# Added to a setting of the kernel: for samples that were seen before, so that only the course learns from them; and for
# passes over a data set, whose repeats are intended.
AGAIN, KEEP_REPEATS = 2.0, 4.0
