"""Jumps: steps that nothing foretold, such as a restart or a switch.

After a jump most sensors stay where they are, but some go on. A regression that takes a jump for movement expects the
next one; one that leaves jumps out does not. An account that both sides keep says which of the two did better.
"""

from __future__ import annotations

from orthostream._typing import FloatArray
from orthostream.compression.kernel.expectation import JUMP, TRUST
from orthostream.compression.kernel.group_state import Group
from orthostream.compression.kernel.rows import any_in, copy_row

#: Compiled without memory management: nothing here makes arrays.
ALLOCATES = False
#: Functions with this parameter are inlined: it is many arrays, which a call would copy.
INLINES = "group"

#: Scales that an error must exceed to be a jump, and readings after which the scale is known.
_FAR, _KNOWN = 12.0, 100
_KEEP = 0.99


def jump_of(group: Group, i: int, error: float, scale: float, w: float) -> float:
    """Return the error of a reading if it is a jump, 0 otherwise; format version 1 has no jumps."""
    if group.mixture.ring.shape[0] == 0 or group.seen[i] < _KNOWN:
        return 0.0
    return error if abs(error) > _FAR * (scale + 0.5 * w) else 0.0


def leaves_out_jumps(group: Group) -> bool:
    """Return whether predictions do without jumps."""
    return bool(group.jump_account[0] >= 0.0)


def judge_jumps(group: Group, plans: FloatArray, position: FloatArray, facts: FloatArray) -> None:
    """Compare, on sensors that jumped in the last sample, predictions without and with the jump."""
    n = len(plans)
    left_out = leaves_out_jumps(group)
    if any_in(group.jump):
        for i in range(n):
            jump = float(group.jump[i])
            if jump != 0.0 and facts[TRUST, i] > 0.0:
                # What the jump adds to the prediction: a step of one sensor, and its share in that of all.
                part = jump * (float(group.weights[0]) * (n - 1.0) + float(group.weights[4])) / n
                error = float(position[i]) - float(plans[i])
                without = error if left_out else error + part
                spread = float(group.spread[i])
                gain = min(abs(without - part) / spread, 12.0) - min(abs(without) / spread, 12.0)
                account = _KEEP * float(group.jump_account[0]) + gain
                group.jump_account[0] = min(max(account, -40.0), 40.0)
    copy_row(group.jump, facts, JUMP)
