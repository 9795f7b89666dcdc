"""One try of a peer: its size, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray

from .stream import Stream
from .view import SLACK, per_sensor


class Attempt(NamedTuple):
    """What a peer made of a stream."""

    peer: str
    setting: str
    n_bytes: float
    decode: Callable[[], FloatArray]


class BrokenError(Exception):
    """No attempt came back within the bound."""


def within(stream: Stream, decoded: FloatArray, *, lossless: bool) -> bool:
    """Return whether every reading came back within its bound, or exactly."""
    observed = ~np.isnan(stream.rows)
    if lossless:
        return bool(np.array_equal(decoded[observed], stream.rows[observed]))
    bound = np.broadcast_to(per_sensor(stream.bound, stream.rows), stream.rows.shape)[observed]
    errors = np.abs(decoded[observed] - stream.rows[observed])
    # NaN is as wrong as can be, and compares false.
    return bool(np.all(errors <= bound * (1.0 + SLACK) + 4.0 * np.spacing(np.abs(stream.rows[observed]))))


def best(stream: Stream, attempts: Iterable[Attempt], *, lossless: bool) -> Attempt:
    """Return the smallest attempt that keeps the bound; all that are smaller are decoded and out of the contest."""
    for attempt in sorted(attempts, key=lambda attempt: attempt.n_bytes):
        if within(stream, attempt.decode(), lossless=lossless):
            return attempt
    raise BrokenError(f"no peer keeps the bound of {stream.name}")
