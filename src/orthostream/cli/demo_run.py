"""The whole path in one process: a city, edges with outboxes, an MQTT broker, a cloud and its store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.cli.demo_source import PacedSamples
from orthostream.compression import Column, Schema, Target, TimeAxis
from orthostream.dashboard.traffic import CountedTransport, Traffic
from orthostream.link import Cloud, Edge, SqliteStore
from orthostream.link.errors import LinkError
from orthostream.link.service import CloudService, EdgeService, Service
from orthostream.link.transport.embedded_broker import EmbeddedBroker
from orthostream.link.transport.mqtt import MqttTransport

if TYPE_CHECKING:
    from orthostream.dashboard import LiveView

#: Readings of a year of hours, one message a day.
_HOURS_PER_MESSAGE = 24
#: Seconds between two looks at the threads.
_LOOK = 0.1
#: Seconds without any change after which the demo gives up.
_PATIENCE = 120.0


@dataclass(frozen=True)
class CityPart:
    """The sensors that one edge is for."""

    edge: str
    schema: Schema
    readings: FloatArray
    times: IntArray
    locations: FloatArray


def city_parts(hours: int, sensors: int, edges: int, seed: int) -> list[CityPart]:
    """Return a simulated city, its sensors shared out over some edges: neighbours belong to the same one."""
    from orthostream.datasets import make_city

    city = make_city(hours, sensors, random_state=seed)
    times = city.time.astype("datetime64[s]").astype(np.int64)
    centre = city.locations.mean(axis=0)
    angle = np.arctan2(*(city.locations - centre).T)
    parts = []
    for number, chosen in enumerate(np.array_split(np.argsort(angle, kind="stable"), edges)):
        places = np.sort(chosen)
        columns = tuple(Column(f"sensor {city.sensors[place]}", "°C") for place in places)
        name = "city" if edges == 1 else f"city-{number + 1:02d}"
        schema = Schema(columns, TimeAxis("time", "s"))
        parts.append(CityPart(name, schema, city.data[:, places], times, city.locations[places]))
    return parts


@dataclass
class DemoOutcome:
    """What edges, cloud and transports have counted at the end."""

    up: Traffic
    down: Traffic
    reconnects: int
    restarts: int
    sent_again: int
    refused: int
    spent: dict[str, float]
    message_bytes: int
    dictionaries: int


class DemoRun:
    """Runs all parts in threads of this process, over TCP on this machine.

    Parameters
    ----------
    parts : list of CityPart
    folder : Path
        For outboxes and the store.
    view : LiveView
    target : Target
    seconds : float
        That the stream takes.
    accelerate : bool, optional
        As for `Encoder`.
    """

    def __init__(
        self,
        parts: list[CityPart],
        folder: Path,
        view: LiveView,
        target: Target,
        seconds: float,
        accelerate: bool | None = None,
    ) -> None:
        self.parts, self.folder, self.view, self.target = parts, folder, view, target
        self.store = folder / "cloud.db"
        self._seconds, self._accelerate = seconds, accelerate
        self._errors: list[BaseException] = []
        self._edges_stop, self._cloud_stop = threading.Event(), threading.Event()
        self.outcome: DemoOutcome | None = None
        for part in parts:
            view.declare(part.edge, part.schema, target, part.locations, compare=True)

    def run(self, on_progress: Callable[[float, int], None]) -> None:
        """Stream everything; ``on_progress`` is called with the share that is stored, and the samples."""
        with ExitStack() as stack:
            broker = stack.enter_context(EmbeddedBroker())
            cloud_transport = CountedTransport(MqttTransport(broker.address, client_id="cloud"))
            edge_transports = [
                CountedTransport(MqttTransport(broker.address, client_id=f"edge {part.edge}")) for part in self.parts
            ]
            cloud = stack.enter_context(
                Cloud(SqliteStore(self.store), cloud_transport, listener=self.view.listen, accelerate=self._accelerate)
            )
            edges = [
                stack.enter_context(self._edge(part, transport))
                for part, transport in zip(self.parts, edge_transports, strict=True)
            ]
            for transport in (cloud_transport, *edge_transports):
                stack.enter_context(transport)
            self._stream(cloud, edges, on_progress)
            up, down = Traffic(), cloud_transport.sent
            for transport in edge_transports:
                for name in vars(up):
                    setattr(up, name, getattr(up, name) + getattr(transport.sent, name))
            self.outcome = DemoOutcome(
                up,
                down,
                reconnects=sum(each.reconnects for each in (cloud_transport, *edge_transports)),
                restarts=sum(edge.counts["restarts asked for"] for edge in edges),
                sent_again=sum(edge.counts["messages sent again"] for edge in edges),
                refused=sum(count for (_, what), count in cloud.counts.items() if what == "refused"),
                spent=_sum_of([edge.encoder.bits_by_component for edge in edges]),
                message_bytes=sum(edge.outbox.counts.get("message bytes", 0) for edge in edges),
                dictionaries=sum(int(edge.status().get("dictionaries sent", 0)) for edge in edges),
            )

    def _edge(self, part: CityPart, transport: CountedTransport) -> Edge:
        return Edge(
            part.edge,
            part.schema,
            self.target,
            self.folder / f"{part.edge}.outbox",
            transport,
            max_delay=_HOURS_PER_MESSAGE * self._seconds / len(part.times),
            accelerate=self._accelerate,
        )

    def _stream(self, cloud: Cloud, edges: list[Edge], on_progress: Callable[[float, int], None]) -> None:
        services = [EdgeService(edge, self._source(part)) for edge, part in zip(edges, self.parts, strict=True)]
        workers = [self._thread(service, self._edges_stop, self._edge_seen) for service in services]
        receiver = self._thread(CloudService(cloud), self._cloud_stop, self._cloud_seen)
        total = sum(len(part.times) for part in self.parts)
        last, since = -1, 0.0
        try:
            # Not by Thread.join: in Python 3.11 an interrupt of it makes a thread look as if it had ended.
            while not all(worker.is_set() for worker in workers) and not self._errors:
                time.sleep(_LOOK)
                stored = sum(each.samples for each in self.view.edges())
                since = since + _LOOK if stored == last else 0.0
                last = stored
                if since > _PATIENCE:
                    raise LinkError(f"nothing was stored for {_PATIENCE:.0f} seconds; {cloud.last_error or ''}")
                on_progress(stored / total, stored)
        finally:
            # An edge ends by itself when everything is acknowledged; this is for the case of an error.
            self._edges_stop.set()
            for worker in workers:
                worker.wait()
            self._cloud_stop.set()
            receiver.wait()
        if self._errors:
            raise self._errors[0]

    def _source(self, part: CityPart) -> PacedSamples:
        def measured(times: IntArray, rows: FloatArray) -> None:
            self.view.measured(part.edge, times, rows)

        return PacedSamples(part.schema, part.readings, part.times, self._seconds, measured)

    def _edge_seen(self, service: Any) -> None:
        # An encoder knows what it spends bits on once it has a codec, from its first frame on.
        spent = service.edge.encoder.bits_by_component if service.status.get("messages sent") else None
        self.view.edge_status(service.status, spent)

    def _cloud_seen(self, service: Any) -> None:
        self.view.cloud_status(service.status)

    def _thread(self, service: Service, stop: threading.Event, seen: Callable[[Any], None]) -> threading.Event:
        """Run a service in a thread; return what is set at its end."""
        ended = threading.Event()

        def run() -> None:
            try:
                service.run(stop, seen)
            except BaseException as error:
                self._errors.append(error)
            finally:
                ended.set()

        threading.Thread(target=run, name=type(service).__name__, daemon=True).start()
        return ended


def _sum_of(counts: list[dict[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for each in counts:
        for name, count in each.items():
            total[name] = total.get(name, 0.0) + count
    return total
