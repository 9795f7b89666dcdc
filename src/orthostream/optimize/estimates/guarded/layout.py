"""The memory of a guarded hand-over for each problem, beside that of the hand-over itself."""

from __future__ import annotations

#: Logarithm of the squared length at which samples are cut.
LIMIT = 0
#: Samples that have moved the limit.
SEEN = 1
#: Samples in the mean, up to the length of its memory.
AVERAGED = 2
#: Running mean of the squared length of a sample, not centred.
LENGTH = 3
#: 1 if the course sees centred samples.
CENTRED = 4
#: Mini-batches that the anchor has learnt from.
ANCHOR_AGE = 5
#: Samples per atom since the anchor moved, and since the last pair of snapshots.
WAITING = 6
SINCE = 7
#: Guess of the conditioning of the anchor's gradient.
GUESS = 8
#: 1 if the course is reported, 0 if the anchor is.
TRUSTED = 9
#: Samples per atom since the course started from the anchor.
TRIAL = 10
#: Abrupt changes that the course had reported when the guard last looked.
KNOWN_CHANGES = 11
#: Running sums of the comparison in l3: lead of the course, its square, and the contrast itself.
LEAD = 12
LEAD_POWER = 13
CONTRAST = 14
#: The same lead in l1.
LEAD_L1 = 15
LEAD_L1_POWER = 16
#: Mini-batches compared.
COMPARED = 17
#: How often the course started again from the anchor, and the anchor from the course.
RESTARTS = 18
REPLACED = 19
#: Samples above the silence, and silent samples since the last of them.
LOUD = 20
QUIET = 21
#: A weighted sum of the readings of the last sample, and behind it how many times in a row the sample has come; the
#: same for the last mini-batch.
LAST_SAMPLE = 22
LAST_BATCH = 24

#: The number of numbers.
GUARD_COUNT = 26

#: Matrices: the anchor's gradient and point, the mean of its points, and the two snapshots that are compared; the
#: anchor's snapshot is also what is reported if the anchor is trusted.
GRADIENT, POINT, MEAN_POINT, ANCHOR, COURSE = 0, 1, 2, 3, 4
MATRICES = 5

#: Running means of each atom of the anchor: |z|, its square and its third power, in units of the limit.
FIRST_MOMENT, SECOND_MOMENT, THIRD_MOMENT = 0, 1, 2
MOMENTS = 3

#: What a judgement asks for: nothing, a course that starts from the anchor, or an anchor that starts from the course.
NOTHING_MORE, RESTART, REPLACE = 0, 1, 2
