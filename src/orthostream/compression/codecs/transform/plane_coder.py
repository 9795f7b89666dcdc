"""Which cells of a block are set, as adaptive bits: missing readings, and outliers.

For the kernel: the same text runs plain and compiled (see `orthostream.compression.kernel`). A *plane* is an array of
bits (rows, sensors). A row says whether anything has changed since the last one; where it has, each sensor says whether
it has changed, in a context of how long ago it last did, how often it does, and how many have in this row.
"""

from __future__ import annotations

from orthostream._typing import ByteArray, IntArray
from orthostream.compression.codecs.transform.level_coder import overrun
from orthostream.compression.kernel.range_coder import EVEN, code_bit

_AGE_CLASSES = 7
_RATE_CLASSES = 5
_OTHER_CLASSES = 4
_PLANE_MEMORY = 250
_SENSOR_BITS = 4
PLANE_BITS = _SENSOR_BITS + 2 * _AGE_CLASSES * _RATE_CLASSES * _OTHER_CLASSES
#: Rows of the memory of a plane: the last bit, rows since it changed, how often it changes; and, in the last row, how
#: many changed last time.
STATE, AGE, RATE, CHANGED = 0, 1, 2, 3
PLANE_ROWS = 4
_OLD = 1 << 20


def start_plane(bits: IntArray, memory: IntArray) -> None:
    """Fill in what a new coder starts with: nothing is set and nothing ever was."""
    for i in range(PLANE_BITS):
        bits[i] = EVEN
    for s in range(memory.shape[1]):
        memory[STATE, s] = 0
        memory[AGE, s] = _OLD
        memory[RATE, s] = 0
        memory[CHANGED, s] = 0


def _change_context(state: int, age: int, rate: int, others: int) -> int:
    old = 0
    bound = 1
    while old < _AGE_CLASSES - 1 and age >= bound:
        old += 1
        bound = bound * 3 if old > 1 else 2
    often = 0
    bound = 5243
    while often < _RATE_CLASSES - 1 and rate > bound:
        often += 1
        bound *= 3
    return _SENSOR_BITS + ((min(others, _OTHER_CLASSES - 1) * _RATE_CLASSES + often) * _AGE_CLASSES + old) * 2 + state


def code_plane(coder: IntArray, buffer: ByteArray, bits: IntArray, memory: IntArray, plane: IntArray) -> bool:
    """Code a plane and adapt; return False if the payload is corrupt.

    Parameters
    ----------
    coder, buffer
        Of the range coder.
    bits : array of PLANE_BITS integers
    memory : array (PLANE_ROWS, n_sensors) of integers
    plane : array (n_rows, n_sensors) of 0 and 1
        Read where the coder encodes, written where it decodes.
    """
    n_rows, n_sensors = plane.shape
    for t in range(n_rows):
        changes = 0
        for s in range(n_sensors):
            if plane[t, s] != memory[STATE, s]:
                changes = 1
        changes = code_bit(coder, buffer, bits, min(int(memory[CHANGED, 0]), 3), _PLANE_MEMORY, changes)
        count = 0
        for s in range(n_sensors):
            state = int(memory[STATE, s])
            change = 0
            if changes == 1:
                change = 1
                # That something has changed says it all where nothing has up to the last sensor.
                if count > 0 or s < n_sensors - 1:
                    context = _change_context(state, int(memory[AGE, s]), int(memory[RATE, s]), count)
                    change = code_bit(coder, buffer, bits, context, _PLANE_MEMORY, 1 if plane[t, s] != state else 0)
                count += change
                memory[RATE, s] += ((change << 20) - int(memory[RATE, s])) >> 6
            else:
                memory[RATE, s] -= int(memory[RATE, s]) >> 6
            if change == 1:
                state = 1 - state
                memory[STATE, s] = state
                memory[AGE, s] = 0
            elif memory[AGE, s] < _OLD:
                memory[AGE, s] += 1
            plane[t, s] = state
        memory[CHANGED, 0] = count
        if overrun(coder):
            return False
    return True
