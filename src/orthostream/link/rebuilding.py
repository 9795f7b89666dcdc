"""Readings made again from the messages of a store."""

from __future__ import annotations

from collections.abc import Callable

from orthostream.link.receiving import Receiving, read_stored
from orthostream.link.store import Store


def rebuild(store: Store, *, accelerate: bool | None = None, progress: Callable[[int, int], None] | None = None) -> int:
    """Make all readings of a store again from its messages; return how many samples there were.

    Raises
    ------
    FrameError
        If a message is damaged; the readings of other streams are complete.
    """
    streams = store.streams()
    total = 0
    for done, stream in enumerate(streams):
        store.clear_readings(stream)
        receiving = Receiving(stream.edge, stream.boot, accelerate=accelerate)
        for sequence, data in store.messages(stream):
            if stream.closed is not None and sequence >= stream.closed:
                break
            decoded = receiving.take(read_stored(data))
            store.add_readings(stream, *decoded)
        total += receiving.samples
        if progress is not None:
            progress(done + 1, len(streams))
    return total
