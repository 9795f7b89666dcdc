"""The best peer for a stream as a whole file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orthostream._typing import FloatArray

from . import byte_coders, flac, pcodec_coder, sz3_zfp
from .attempt import Attempt, best, within
from .stream import Stream
from .view import per_sensor, views

#: Modules, each with a function ``attempts``.
PEERS = (byte_coders, pcodec_coder, flac, sz3_zfp)
#: Tables of at most so many columns are also compressed column by column.
APART = 8


def attempts(stream: Stream, *, lossless: bool, quick: bool = False) -> Iterator[Attempt]:
    """Return all that peers came to."""
    for view in views(stream, lossless=lossless):
        for peer in PEERS:
            yield from peer.attempts(view, quick=quick)
    if 1 < stream.rows.shape[1] <= APART:
        yield from _apart(stream, lossless, quick)


def _apart(stream: Stream, lossless: bool, quick: bool) -> Iterator[Attempt]:
    """Try every column as a file of its own, with its own settings, but the same peer."""
    chosen: dict[str, list[Attempt]] = {}
    n_columns = stream.rows.shape[1]
    for column in range(n_columns):
        alone = _column(stream, column)
        found: dict[str, list[Attempt]] = {}
        for attempt in attempts(alone, lossless=lossless, quick=quick):
            found.setdefault(attempt.peer, []).append(attempt)
        for peer, tried in found.items():
            ranked = sorted(tried, key=lambda attempt: attempt.n_bytes)
            kept = next((one for one in ranked if within(alone, one.decode(), lossless=lossless)), None)
            if kept is not None:
                chosen.setdefault(peer, []).append(kept)
    for peer, parts in chosen.items():
        if len(parts) == n_columns:
            yield Attempt(
                peer, "columns apart", sum(part.n_bytes for part in parts), lambda parts=parts: _joined(parts)
            )


def _column(stream: Stream, column: int) -> Stream:
    rows = stream.rows[:, column : column + 1]
    bound, grid = (float(per_sensor(value, stream.rows)[column]) for value in (stream.bound, stream.grid))
    return stream._replace(rows=rows, bound=bound, grid=grid)


def _joined(parts: list[Attempt]) -> FloatArray:
    return np.hstack([part.decode() for part in parts])


def best_peer(stream: Stream, *, lossless: bool, quick: bool = False) -> Attempt:
    """Return the smallest file of any peer that keeps the bound, or that is exact.

    >>> import numpy as np
    >>> rows = np.tile([[0.0], [1.0], [1.0]], (100, 1))
    >>> best_peer(Stream("", "", "", rows, 0.4, 1.0), lossless=True, quick=True).n_bytes < 40
    True
    """
    return best(stream, attempts(stream, lossless=lossless, quick=quick), lossless=lossless)
