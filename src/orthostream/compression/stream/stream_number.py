"""64 bits that tell a stream from others: drawn at random, or made of its first readings where files must be equal."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import numpy as np

from orthostream._checks import integer
from orthostream._typing import FloatArray

RANDOM, READINGS = "random", "readings"


def check_stream(stream: Any) -> int | str:
    """Return the number of a stream as the user gives it, or how it is to be made."""
    if isinstance(stream, str):
        if stream not in (RANDOM, READINGS):
            raise ValueError(f'stream must be "random", "readings" or an integer of 64 bits, got {stream!r}.')
        return secrets.randbits(64) if stream == RANDOM else stream
    return integer("stream", stream, 0, 2**64 - 1)


def number_of_readings(text: bytes, rows: FloatArray, times: list[int]) -> int:
    """Return a number made of the text of a header, and of the readings and times of the first frame."""
    found = hashlib.blake2b(text, digest_size=8)
    found.update(np.ascontiguousarray(rows, dtype="<f8").tobytes())
    found.update(np.array(times, dtype="<i8").tobytes())
    return int.from_bytes(found.digest(), "little")
