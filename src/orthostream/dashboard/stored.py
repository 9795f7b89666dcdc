"""A store on a page: of a cloud that runs, or of one that is over."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.stream.header import StreamHeader
from orthostream.compression.targets.keywords import target_in_header
from orthostream.dashboard.message_replay import MessageReplay
from orthostream.dashboard.record import EdgeRecord
from orthostream.dashboard.recorded_view import RecordedView
from orthostream.dashboard.view import EdgeDetail, Window
from orthostream.link.store import Chunk, Stream, open_store

#: Seconds without a change after which an edge is called quiet.
_QUIET = 15.0
#: Messages whose sizes are shown.
_RECENT = 60
#: Ticks of each unit in a microsecond, as numerator and denominator.
_PER_MICROSECOND = {"ns": (1000, 1), "us": (1, 1), "ms": (1, 1000), "s": (1, 1_000_000)}
_log = logging.getLogger(__name__)


class StoredView(RecordedView):
    """Shows what is in a store, and what comes in.

    Readings of an edge are loaded when it is first looked at: as many of the last samples as memory is set aside for.
    Of samples with the same time the last is shown.

    Parameters
    ----------
    address : str
        The path of a SQLite file, or a PostgreSQL URL.
    every : float, optional
        Seconds between two looks at the store; None looks only when `refresh` is called.
    capacity : int, optional
        Samples that are kept of each edge.
    clock : callable
        Returns seconds that never run backwards.
    """

    def __init__(
        self,
        address: str,
        *,
        every: float | None = 2.0,
        capacity: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._store = open_store(address, create=False)
        self.title = self._store.path
        self._capacity = capacity
        self._clock = clock
        self._streams: dict[str, list[Stream]] = {}
        self._changed: dict[str, float] = {}
        self._replays: dict[str, MessageReplay] = {}
        self._loaded: set[str] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        try:
            self.refresh()
        except BaseException:
            self._store.close()
            raise
        if every is not None:
            self._thread = threading.Thread(target=self._poll, args=(every,), name="dashboard store", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._store.close()

    def refresh(self) -> None:
        """Look at the store once."""
        with self._lock:
            streams: dict[str, list[Stream]] = {}
            for stream in self._store.streams():
                streams.setdefault(stream.edge, []).append(stream)
            for edge, found in streams.items():
                if found != self._streams.get(edge):
                    self._take(edge, found)
            self._streams = streams
            for edge in self._loaded & set(streams):
                self._replays[edge].go_on(self._store, self._streams[edge][-1])

    def edge(self, name: str) -> EdgeDetail | None:
        with self._lock:
            self._look_at(name)
            return super().edge(name)

    def window(
        self, name: str, sensors: Sequence[int], start: int | None = None, end: int | None = None
    ) -> Window | None:
        with self._lock:
            self._look_at(name)
            return super().window(name, sensors, start, end)

    def _poll(self, every: float) -> None:
        while not self._stop.wait(every):
            try:
                self.refresh()
                self.notice = ""
            except Exception as error:
                # Whatever it is: the page goes on with what it has, and says so.
                _log.warning("the store cannot be read: %s", error)
                self.notice = f"The store cannot be read: {error}"

    def _take(self, edge: str, streams: list[Stream]) -> None:
        """Take over the totals of an edge that has changed, and new readings if it is looked at."""
        header, _ = StreamHeader.read(streams[-1].header)
        record = self._records.get(edge)
        if record is None or record.schema != header.schema:
            record = EdgeRecord(header.schema, target_in_header(header.target), capacity=self._capacity)
            self._records[edge] = record
            self._loaded.discard(edge)
        if edge in self._streams:
            self._changed[edge] = self._clock()
        record.samples = sum(each.samples for each in streams)
        record.readings = sum(each.readings for each in streams)
        record.n_bytes = sum(each.n_bytes for each in streams)
        record.messages = sum(each.next for each in streams)
        newest = streams[-1]
        record.recent.clear()
        record.recent.extend(len(data) for _, data in self._store.messages(newest, max(newest.next - _RECENT, 0)))
        if edge in self._loaded:
            self._load(edge, record)

    def _look_at(self, name: str) -> None:
        if name in self._records and name not in self._loaded:
            self._loaded.add(name)
            record = self._records[name]
            self._replays[name] = MessageReplay()
            record.comparison = self._replays[name].comparison
            record.learning = self._replays[name].learning
            self._load(name, record)
            self._replays[name].go_on(self._store, self._streams[name][-1])

    def _load(self, edge: str, record: EdgeRecord) -> None:
        """Load readings that are newer than those in memory; at first the last ones that there are."""
        known = record.history.times
        last = int(known[-1]) if len(known) else self._first_to_show(edge, record)
        if last is None:
            return
        chunks = self._store.readings(edge, start=_microseconds(last, _unit(record)))
        times, values = _as_rows(chunks, record)
        new = slice(np.searchsorted(times, last, side="right" if len(known) else "left"), None)
        record.show(times[new], values[new])

    def _first_to_show(self, edge: str, record: EdgeRecord) -> int | None:
        """Return the time of the oldest sample that there is memory for; None if the edge has no readings."""
        for column in record.schema.columns:
            tail = np.empty(0, dtype=np.int64)
            for chunk in self._store.readings(edge, column.name):
                if chunk.time_unit == _unit(record):
                    tail = np.concatenate([tail, chunk.times])[-record.history.capacity :]
            if len(tail):
                return int(tail[0])
        return None

    def _state(self, name: str, record: EdgeRecord) -> tuple[str, str]:
        changed = self._changed.get(name)
        if changed is None:
            return "quiet", "no change seen"
        ago = self._clock() - changed
        return ("streaming" if ago <= _QUIET else "quiet"), f"{ago:.0f} s ago"

    def _spent(self, name: str) -> Mapping[str, float]:
        return self._replays[name].spent if name in self._replays else {}

    def _link(self, name: str) -> Mapping[str, int | str]:
        streams = self._streams.get(name, [])
        return {
            "store: streams": len(streams),
            "store: messages": sum(each.next for each in streams),
            "store: streams replaced": sum(each.closed is not None for each in streams),
        }


def _unit(record: EdgeRecord) -> str:
    return "" if record.schema.time is None else record.schema.time.unit


def _microseconds(tick: int, unit: str) -> int:
    numerator, denominator = _PER_MICROSECOND.get(unit, (1, 1))
    return tick * denominator // numerator


def _as_rows(chunks: Iterable[Chunk], record: EdgeRecord) -> tuple[IntArray, FloatArray]:
    """Return readings of all sensors as rows, with a row for each time."""
    places = {column.name: place for place, column in enumerate(record.schema.columns)}
    parts: list[Chunk] = [chunk for chunk in chunks if chunk.sensor in places and chunk.time_unit == _unit(record)]
    times = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(part.times for part in parts)]))
    values = np.full((len(times), len(places)), np.nan)
    for part in parts:
        values[np.searchsorted(times, part.times), places[part.sensor]] = part.values
    return times, values
