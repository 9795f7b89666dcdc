"""Readings made again from the messages of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orthostream.compression import FrameError
from orthostream.link.receiving import Decoded, Receiving, read_stored
from orthostream.link.store import Store, Stream


def rebuild(store: Store, *, accelerate: bool | None = None, progress: Callable[[int, int], None] | None = None) -> int:
    """Make all readings of a store again from its messages; return how many samples there were.

    All messages are decoded before any reading is touched, so this takes twice the time. A rebuild that was
    interrupted leaves readings out; the next one makes all of them again.

    Raises
    ------
    FrameError
        If a message is damaged: the readings of its stream stay as they were, those of all others are made again.
    """
    streams = store.streams()
    steps = 2 * len(streams)
    intact: list[Stream] = []
    damage: list[str] = []
    for done, stream in enumerate(streams, 1):
        try:
            for _ in _decoded(store, stream, accelerate):
                pass
        except FrameError as error:
            damage.append(f"{stream.edge}, stream {stream.number}: {error}")
        else:
            intact.append(stream)
        if progress is not None:
            progress(done, steps)
    if not damage:
        store.clear_all_readings()
    total = 0
    for done, stream in enumerate(intact, steps - len(intact) + 1):
        if damage:
            store.clear_readings(stream)
        for each in _decoded(store, stream, accelerate):
            store.add_readings(stream, *each)
            total += len(each.values)
        if progress is not None:
            progress(done, steps)
    if damage:
        raise FrameError(f"readings of {len(damage)} of {len(streams)} streams stay as they were: {'; '.join(damage)}")
    return total


def _decoded(store: Store, stream: Stream, accelerate: bool | None) -> Iterator[Decoded]:
    receiving = Receiving(stream.edge, stream.boot, accelerate=accelerate)
    for sequence, data in store.messages(stream):
        if stream.closed is not None and sequence >= stream.closed:
            return
        yield receiving.take(read_stored(data))
