"""The constants of mixed memories, in units that do not depend on the data."""

from __future__ import annotations

import numpy as np

# How fast each memory forgets: the inverse of its length in samples per feature. The last one never forgets. Streams of
# fewer features than these have the lengths for so many: how fast a stream changes does not depend on the features.
RATES, FEWEST = np.array([20.0, 4.0, 0.8, 1.0 / 6.0, 0.0]), 32
MEMORIES = 5
# The groups of atoms with shares of their own: with often large coefficients, and with seldom large ones.
LEADING, OTHERS = 0, 1
GROUPS = 2
# For how many samples a prediction counts in the comparison of memories.
ACCOUNT = 300.0
# A share is shrunk as if each memory had predicted nothing for this fraction of the time; none falls below the floor.
DOUBT, FLOOR = 0.003, 1e-6
# Rounds of the descent that finds the shares, from those of the last step.
SWEEPS = 4
# An atom counts as having at least this share of the largest energy of an atom.
FAINT = 1e-9
# The number of samples whose ranks are looked at in a step, per feature, and the number of age groups they come from.
LOOK, LEVELS = 2, 5
# Steps times the golden section, without whole turns, visit an age group evenly.
GOLDEN = 0.6180339887498949
# How far back samples are looked at, in units of the number of samples that the mixture of memories averages.
REACH = 8.0
# The weight of a step's look in the running mean of the pull of ranks is this multiple of the ratio of the samples
# looked at to the samples averaged, within bounds.
FRESH, LEAST_FRESH, MOST_FRESH = 2.0, 0.1, 0.5
# A mini-batch is cut into parts of at most this many samples, or features divided by the second number if that is more.
PART, FEATURES_PER_SAMPLE = 12, 4
# The fraction of the smallest mean weight that is subtracted from all of them.
LESS = 0.5
# Coefficients below this share of their sample's largest one are rounding errors: they are ranked by their place.
ROUNDING = 1e-12
# The range of mean squares of a reading for which the compiled update is safe.
SMALLEST, LARGEST = 1e-70, 1e70
