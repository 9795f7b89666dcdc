"""Which readings are missing, sample after sample: what is missing mostly stays so, and costs next to nothing."""

from __future__ import annotations

import numpy as np

from orthostream._typing import BoolArray, ByteArray, IntArray
from orthostream.compression.errors import FrameError
from orthostream.compression.kernel.range_coder import (
    CODER_SIZE,
    code_bit,
    finish_encoding,
    start_decoding,
    start_encoding,
)

#: Adaptive bits: whether anything changes in a sample, whether a present sensor does, whether a missing one does.
_ANYTHING, _SENSOR = 0, 1
_LIMIT = 60
#: Probabilities to begin with, as if seen six times: a third of samples, one sensor in 32.
_FIRST = np.array([((1 << 22) // 3 << 8) | 6, ((1 << 17) << 8) | 6, ((1 << 17) << 8) | 6], dtype=np.int64)


def pack_mask(missing: BoolArray, before: BoolArray) -> bytes:
    """Return as bytes which readings are missing, given which were before the first sample; none if nothing changes.

    >>> mask = np.array([[False, True, False], [False, True, True]])
    >>> data = pack_mask(mask, before=np.array([False, True, False]))
    >>> bool((unpack_mask(data, 2, np.array([False, True, False])) == mask).all())
    True
    """
    if (missing == before).all():
        return b""
    buffer = np.zeros(64 + 2 * missing.size, dtype=np.uint8)
    coder = np.zeros(CODER_SIZE, dtype=np.int64)
    start_encoding(coder)
    _code(coder, buffer, missing.copy(), before)
    # An empty mask would say that nothing changes.
    return buffer[: max(finish_encoding(coder, buffer), 1)].tobytes()


def unpack_mask(data: bytes, n_samples: int, before: BoolArray) -> BoolArray:
    """Return which readings are missing."""
    missing = np.repeat(before[None], n_samples, axis=0)
    if data:
        buffer = np.frombuffer(data, dtype=np.uint8)
        coder = np.zeros(CODER_SIZE, dtype=np.int64)
        try:
            start_decoding(coder, buffer, len(data))
            _code(coder, buffer, missing, before)
        except OverflowError as error:
            raise FrameError("no encoder writes such bytes for missing readings.") from error
    return missing


def _code(coder: IntArray, buffer: ByteArray, missing: BoolArray, before: BoolArray) -> None:
    bits = _FIRST.copy()
    for row in missing:
        anything = int((row != before).any())
        if code_bit(coder, buffer, bits, _ANYTHING, _LIMIT, anything) == 1:
            for sensor, was in enumerate(before):
                changes = code_bit(coder, buffer, bits, _SENSOR + int(was), _LIMIT, int(row[sensor] != was))
                row[sensor] = was != (changes == 1)
        else:
            row[:] = before
        before = row
