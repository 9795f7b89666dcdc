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
#: Which basis is in force.
IN_FORCE = 7
#: Samples since the last snapshots; 0 before the first ones.
SINCE = 8
#: Running sums of the comparison: energy that the quick basis holds more than the patient one, its square, the same for
#: the steady basis, the energy outside of the patient basis, and mini-batches compared.
LEAD_QUICK = 9
POWER_QUICK = 10
LEAD_STEADY = 11
POWER_STEADY = 12
OUTSIDE = 13
COMPARED = 14
#: 1 once there are snapshots.
JUDGED = 15
#: Abrupt changes: of the subspace, and those that the learner inside had seen before it started again.
CHANGED = 16
#: Rows that wait to be added to the second moment.
HELD = 17
#: Samples in the memory of the steady basis.
STEADY_AGE = 18

#: The number of numbers.
NUMBERS = 19

#: Which basis may be in force: the values of IN_FORCE.
PATIENT_ONE, QUICK_ONE, STEADY_ONE = 0.0, 1.0, 2.0

#: Matrices of N x K: the basis in force; the patient basis before it is made orthonormal; samples times scores since it
#: moved; its mean drift; the steady basis before it is made orthonormal; snapshots of both. If there is a quick basis:
#: that basis, and its snapshot.
BASIS, PATIENT, FRESH, DRIFT, STEADY, SEEN_PATIENT, SEEN_STEADY, QUICK, SEEN_QUICK = 0, 1, 2, 3, 4, 5, 6, 7, 8
MATRICES_ALONE, MATRICES = 7, 9


def matrices_and_rows(features: int) -> tuple[int, int, int]:
    """Return how many matrices there are, the side of the second moment, and how many rows may wait to be added to it.

    >>> matrices_and_rows(56), matrices_and_rows(10_000)
    ((9, 56, 28), (7, 0, 0))
    """
    if features > LARGEST:
        return MATRICES_ALONE, 0, 0
    return MATRICES, features, max(int(QUICK_EVERY * features), LEAST_ROOM)
