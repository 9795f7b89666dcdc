"""Views of edges and a cloud in this process, fed by them as they run."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression.schema import Schema
from orthostream.compression.targets import Target
from orthostream.compression.targets.keywords import target_in_header
from orthostream.dashboard.comparison import Comparison
from orthostream.dashboard.record import EdgeRecord
from orthostream.dashboard.recorded_view import RecordedView, with_rest
from orthostream.link.receiving import Receiving
from orthostream.link.store import NewMessage

#: Edges whose readings are compared with other forms at the same time: each takes about 15 MB.
_MOST_COMPARED = 8
#: Samples whose originals are kept until they come back from the cloud.
_MOST_WAITING = 1 << 16
#: Seconds without a message after which an edge is called quiet.
_QUIET = 15.0
#: Messages in the outbox from which on an edge is called behind.
_BEHIND = 64
#: Counters of an edge and of the cloud that are shown, by the names they have there.
_OF_EDGE = (
    "connected",
    "reconnects",
    "samples waiting",
    "messages to send",
    "messages sent",
    "messages sent again",
    "bytes sent",
    "answers",
    "answers refused",
    "restarts asked for",
    "samples dropped",
    "samples lost",
)
_OF_CLOUD = ("streams", "messages", "doubled", "too early", "too early, no room", "unknown stream", "refused")


class LiveView(RecordedView):
    """Shows edges and a cloud of this process.

    Give `listen` to the cloud as its listener. Hand over what `Edge.status` and `Cloud.status` return now and then,
    from the threads that these run in, and readings as they were measured if they are at hand.

    Parameters
    ----------
    title : str
    capacity : int, optional
        Samples that are kept of each edge.
    clock : callable
        Returns seconds that never run backwards.
    """

    def __init__(
        self, title: str = "orthostream", *, capacity: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self.title = title
        self._capacity = capacity
        self._clock = clock
        self._originals: dict[str, OrderedDict[int, FloatArray]] = {}
        self._heard: dict[str, float] = {}
        self._taken: dict[str, int] = {}
        self._of_edge: dict[str, dict[str, Any]] = {}
        self._of_cloud: dict[str, Any] = {}
        self._bits: dict[str, Mapping[str, float]] = {}
        self._looked_at: OrderedDict[str, None] = OrderedDict()

    def declare(
        self, edge: str, schema: Schema, target: Target, locations: FloatArray | None = None, *, compare: bool = False
    ) -> None:
        """Show an edge before its first message; ``compare`` its readings with other forms from the first one on."""
        with self._lock:
            self._records[edge] = EdgeRecord(schema, target, locations=locations, capacity=self._capacity)
            if compare:
                self._compare(edge)

    def listen(self, edge: str, message: NewMessage, receiving: Receiving) -> None:
        """Take in a message that the cloud has stored."""
        with self._lock:
            schema = receiving.header.schema
            record = self._records.get(edge)
            if record is None or record.schema != schema:
                self.declare(edge, schema, target_in_header(receiving.header.target))
                record = self._records[edge]
            if message.first_sample == 0 and len(message.times):
                # A stream that replaces another sends its last samples again.
                record.history.forget_from(int(message.times[0]))
            original = self._original(edge, message.times, message.values.shape[1])
            record.add(message.times, message.values, original, len(message.data))
            if len(message.times):
                record.learning.hold(int(message.times[0]), receiving.dictionary)
            self._heard[edge] = self._clock()

    def measured(self, edge: str, times: IntArray, rows: FloatArray) -> None:
        """Keep readings as they were measured, until they come back from the cloud."""
        with self._lock:
            waiting = self._originals.setdefault(edge, OrderedDict())
            self._taken[edge] = self._taken.get(edge, 0) + len(rows)
            waiting.update(zip(times.tolist(), rows, strict=True))
            while len(waiting) > _MOST_WAITING:
                waiting.popitem(last=False)

    def edge_status(self, status: Mapping[str, Any], spent: Mapping[str, float] | None = None) -> None:
        """Take over what an edge says of itself, and what its bits were spent on."""
        with self._lock:
            self._of_edge[status["edge"]] = dict(status)
            record = self._records.get(status["edge"])
            if record is not None and len(record.history) and "frank-wolfe gap" in status:
                record.learning.add_gap(int(record.history.times[-1]), status["frank-wolfe gap"])
            if spent is not None:
                self._bits[status["edge"]] = dict(spent)

    def cloud_status(self, status: Mapping[str, Any]) -> None:
        """Take over what the cloud says of itself."""
        with self._lock:
            self._of_cloud = dict(status)

    def edge(self, name: str) -> Any:
        with self._lock:
            if name in self._records:
                self._compare(name)
            return super().edge(name)

    def _compare(self, name: str) -> None:
        self._looked_at[name] = None
        self._looked_at.move_to_end(name)
        if self._records[name].comparison is None:
            self._records[name].comparison = Comparison()
        while len(self._looked_at) > _MOST_COMPARED:
            oldest, _ = self._looked_at.popitem(last=False)
            if oldest in self._records:
                self._records[oldest].comparison = None

    def _original(self, edge: str, times: IntArray, n_sensors: int) -> FloatArray | None:
        waiting = self._originals.get(edge)
        if waiting is None:
            return None
        unknown = np.full(n_sensors, np.nan)
        return np.array([waiting.pop(moment, unknown) for moment in times.tolist()]).reshape(len(times), n_sensors)

    def _state(self, name: str, record: EdgeRecord) -> tuple[str, str]:
        status = self._of_edge.get(name)
        heard = self._heard.get(name)
        ago = None if heard is None else self._clock() - heard
        if name in self._taken:
            behind = max(self._taken[name] - record.samples, 0)
            lag = f"{behind:,} samples"
        else:
            lag = "no message yet" if ago is None else f"{ago:.0f} s ago"
        if not self.is_live:
            return "complete", lag
        if status is not None and not status["connected"]:
            return "offline", lag
        if status is not None and status["messages to send"] > _BEHIND:
            return "catching up", lag
        return ("quiet" if ago is None or ago > _QUIET else "streaming"), lag

    def _last_error(self, name: str) -> str:
        error = str(self._of_cloud.get("last error", ""))
        return error.removeprefix(f"{name}: ") if error.startswith(f"{name}: ") else ""

    def _spent(self, name: str) -> Mapping[str, float]:
        return with_rest(self._bits.get(name, {}), self._records[name].n_bytes)

    def _link(self, name: str) -> Mapping[str, int | str]:
        found: dict[str, int | str] = {}
        status = self._of_edge.get(name, {})
        for key in _OF_EDGE:
            if key in status:
                value = status[key]
                found[f"edge: {key}"] = ("yes" if value else "no") if isinstance(value, bool) else value
        if "outbox bytes" in status:
            found["edge: outbox on disk"] = f"{status['outbox bytes'] / 1e6:.1f} MB"
        here = self._of_cloud.get("edges", {}).get(name, {})
        for key in _OF_CLOUD:
            if key in here:
                found[f"cloud: {key}"] = here[key]
        for key in ("reconnects", "waiting"):
            if key in self._of_cloud:
                found[f"cloud: {key}"] = self._of_cloud[key]
        return found
