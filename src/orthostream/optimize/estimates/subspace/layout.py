"""The memory of a learner in a subspace for each problem, beside that of the learner itself."""

from __future__ import annotations

from orthostream.optimize.estimates.subspace.constants import LARGEST, LEAST_ROOM, QUICK_EVERY

#: The patient basis: samples in its memory, and since it moved.
AGE = 0
WAITING = 1
#: Sum of the squared weights of the mean drift, and the running mean of the squared length of a drift.
TRUST = 2
POWER = 3
#: Guess of the conditioning of the product of two bases.
GUESS = 4
#: The quick basis: samples in its second moment; and of the rows that wait, the sum of weights.
REMEMBERED = 5
UNUSED = 6
#: 1 if the quick basis is in force, 0 if the patient one is.
FOLLOWS = 7
#: Samples since the last pair of snapshots; 0 before the first pair.
SINCE = 8
#: Running sums of the comparison: energy that the quick basis holds more, its square, the energy outside of the patient
#: basis, and mini-batches compared.
LEAD = 9
LEAD_POWER = 10
OUTSIDE = 11
COMPARED = 12
#: 1 once there are snapshots.
JUDGED = 13
#: Abrupt changes: of the subspace, and those that the learner inside had seen before it started again.
CHANGED = 14
#: Rows that wait to be added to the second moment.
HELD = 15

#: The number of numbers.
NUMBERS = 16

#: Matrices of N x K: the basis in force; the patient basis before it is made orthonormal; samples times scores since it
#: moved; the mean drift. If there is a quick basis: that basis, and the snapshots of both that are compared.
BASIS, PATIENT, FRESH, DRIFT, QUICK, SEEN_PATIENT, SEEN_QUICK = 0, 1, 2, 3, 4, 5, 6
MATRICES_ALONE, MATRICES = 4, 7


def matrices_and_rows(features: int) -> tuple[int, int, int]:
    """Return how many matrices there are, the side of the second moment, and how many rows may wait to be added to it.

    >>> matrices_and_rows(56), matrices_and_rows(10_000)
    ((7, 56, 28), (4, 0, 0))
    """
    if features > LARGEST:
        return MATRICES_ALONE, 0, 0
    return MATRICES, features, max(int(QUICK_EVERY * features), LEAST_ROOM)
