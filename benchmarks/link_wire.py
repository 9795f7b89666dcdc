"""Bytes on the wire of a day of samples, TCP/IP and MQTT included: part of `orthostream bench link`.

All formats send the same samples at the same minutes, each over a connection of its own to the same broker. They use
QoS 1, but for ours where answers may wait: its cloud asks for what is lost. A minute is over when all that was sent is
acknowledged: by TCP, by MQTT and, for ours, by the cloud.
"""

from __future__ import annotations

import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression import MaxError
from orthostream.link import Cloud, Edge, Store, Transport
from orthostream.link.transport.embedded_broker import EmbeddedBroker
from orthostream.link.transport.mqtt import MqttTransport

from .link_packets import Meter, PacketMeter, Traffic, meter_of
from .link_peers import PEERS, Peer
from .link_processes import mosquitto
from .link_readings import BOUND, Readings, hourly_readings
from .measure import Record, say, table

NAME = "link"
OURS, HOURLY = "ours", "ours, answered hourly"
#: The edges that send as ours, and how many seconds their answers may wait.
_EDGES = {OURS: ("roof", 0.0), HOURLY: ("loft", 3600.0)}
#: Seconds that a sample may wait, and what that is called.
DELAYS = {0: "0", 600: "10 min", 3600: "1 h"}
_MINUTE, _DAY = 60, 1440
#: Airly's first hours, which other benchmarks leave out too: sensors are still being installed.
_UNUSED = 4000
#: No pings are sent while the benchmark runs.
_LONG = 65535
#: Seconds to wait for anything at all.
_PATIENCE = 60.0


class Clock:
    """Seconds of the simulated day."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Sender(ABC):
    """One format, and the connection that it uses.

    Attributes
    ----------
    messages : int
        That carry readings.
    """

    def __init__(self, name: str, transport: Transport) -> None:
        self.name, self.transport = name, transport
        self.messages = 0

    @abstractmethod
    def take(self, row: FloatArray, time: int) -> None:
        """Take the sample of a minute; send what has waited long enough."""

    @abstractmethod
    def finish(self) -> None:
        """Send what is left."""

    def step(self) -> None:
        """Do what is to be done between two samples."""
        return

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to send."""
        return True


class OurSender(Sender):
    """The edge of this package; the cloud that answers it has a connection of its own, which is not counted."""

    def __init__(self, name: str, edge: Edge, cloud: Cloud, transport: Transport) -> None:
        super().__init__(name, transport)
        self.edge, self.cloud = edge, cloud

    def take(self, row: FloatArray, time: int) -> None:
        self.edge.step()
        self.edge.push(row[None], [time])
        self.step()

    def finish(self) -> None:
        self.edge.flush()
        self.step()

    def step(self) -> None:
        self.cloud.step()
        self.edge.step()
        self.messages = self.edge.counts["messages sent"]

    @property
    def is_done(self) -> bool:
        """Whether the cloud has stored all that was made, and all its answers are here."""
        made = sum(boot.next for boot in self.edge.outbox.boots())
        stored = sum(stream.next for stream in self.cloud.store.streams(self.edge.name))
        return made == stored and self.edge.counts["answers"] == self.cloud.counts[self.edge.name, "answers"]


class PeerSender(Sender):
    """Another format: samples wait as long as ours do."""

    def __init__(self, peer: Peer, transport: Transport, delay: int, clock: Clock) -> None:
        super().__init__(peer.name, transport)
        self._peer, self._delay, self._clock = peer, delay, clock
        self._waiting: list[tuple[FloatArray, int]] = []
        self._since = 0.0

    def begin(self, time: int) -> None:
        """Send what the format must send once."""
        birth = self._peer.birth(time)
        if birth is not None:
            _publish(self.transport, *birth)

    def take(self, row: FloatArray, time: int) -> None:
        self._send_if_due()
        if not self._waiting:
            self._since = self._clock()
        self._waiting.append((row, time))
        if not self._delay:
            self.finish()

    def _send_if_due(self) -> None:
        if self._waiting and self._clock() - self._since >= self._delay:
            self.finish()

    def finish(self) -> None:
        if not self._waiting:
            return
        rows, times = zip(*self._waiting, strict=True)
        self._waiting = []
        data = self._peer.encode(np.array(rows), np.array(times))
        if data is not None:
            _publish(self.transport, self._peer.topic, data)
            self.messages += 1


class Sent(NamedTuple):
    """What a format has sent in a day, and on how many packets and bytes."""

    name: str
    messages: int
    traffic: Traffic


def day_of_readings(n_samples: int = _DAY) -> Readings:
    """Return samples that are sent one a minute; hourly data are taken as if they were each minute's."""
    found = hourly_readings(_UNUSED + n_samples)
    return found.part(_UNUSED, _UNUSED + n_samples)


@contextmanager
def broker(folder: Path) -> Iterator[tuple[str, str]]:
    """Run a broker; yield its name and its address."""
    with mosquitto(folder) as address:
        if address is not None:
            yield "Mosquitto", address
            return
    with EmbeddedBroker() as embedded:
        yield "the embedded broker", embedded.address


def send_day(readings: Readings, delay: int, address: str, meter: Meter, folder: Path) -> list[Sent]:
    """Send all samples in all formats; return what each has sent. Raise AssertionError if ours loses a reading."""
    clock = Clock()
    times = readings.times(_MINUTE)
    # Short, as the name of an edge is: it is sent once, by everyone.
    ids = {name: f"{delay}-{i}" for i, name in enumerate([*_EDGES, *(peer.name for peer in PEERS)])}
    with ExitStack() as stack:

        def connected(client_id: str) -> Transport:
            transport = meter.watched(MqttTransport(address, client_id=client_id, keepalive=_LONG), client_id)
            return stack.enter_context(transport)

        cloud = _cloud(delay, clock, folder, stack, connected("cloud"))
        ours = [_our_sender(name, readings, delay, clock, folder, cloud, connected(ids[name])) for name in _EDGES]
        for each in ours:
            stack.enter_context(each.edge)
        peers = [PeerSender(kind(readings.sensors, BOUND), connected(ids[kind.name]), delay, clock) for kind in PEERS]
        everyone: list[Sender] = [*ours, *peers]
        _wait(lambda: all(each.transport.is_connected for each in everyone), "nobody answers at the broker's address")
        for peer in peers:
            peer.begin(int(times[0]))
        for minute, (row, stamp) in enumerate(zip(readings.rows, times.tolist(), strict=True)):
            clock.now = float(minute * _MINUTE)
            before = [each.messages for each in everyone]
            for each in everyone:
                each.take(row, stamp)
            if not minute or before != [each.messages for each in everyone]:
                _settle(everyone, ids, meter)
        for each in everyone:
            each.finish()
        _settle(everyone, ids, meter)
        for one in ours:
            assert one.edge.counts["messages sent again"] == 0, "messages were sent twice"
            check_stored(cloud.store, readings, _MINUTE, one.edge.name)
        return [Sent(each.name, each.messages, meter.traffic(ids[each.name])) for each in everyone]


def _cloud(delay: int, clock: Clock, folder: Path, stack: ExitStack, down: Transport) -> Cloud:
    cloud = stack.enter_context(Cloud(str(folder / f"store-{delay}.db"), down, clock=clock))
    _wait(lambda: down.is_connected, "the cloud finds no broker")
    return cloud


def _our_sender(
    name: str, readings: Readings, delay: int, clock: Clock, folder: Path, cloud: Cloud, up: Transport
) -> OurSender:
    edge_name, answer_every = _EDGES[name]
    edge = Edge(
        edge_name,
        readings.schema,
        MaxError(BOUND),
        folder / f"outbox-{edge_name}-{delay}.db",
        up,
        max_delay=float(delay),
        answer_every=answer_every,
        clock=clock,
    )
    return OurSender(name, edge, cloud, up)


def _settle(senders: Sequence[Sender], ids: dict[str, str], meter: Meter) -> None:
    """Go on until all that was sent is acknowledged."""

    def settled() -> bool:
        for each in senders:
            each.step()
        return all(each.is_done and meter.is_quiet(ids[each.name]) for each in senders)

    _wait(settled, "messages are not acknowledged")


def check_stored(store: Store, readings: Readings, seconds: int, edge: str = "roof") -> None:
    """Raise AssertionError unless a store holds each reading once and within the bound, and nothing else."""
    times = readings.times(seconds)
    for sensor, source in zip(readings.sensors, readings.rows.T, strict=True):
        chunks = list(store.readings(edge, sensor))
        here = np.isfinite(source)
        found = np.concatenate([chunk.times for chunk in chunks]) if chunks else np.empty(0, dtype=np.int64)
        values = np.concatenate([chunk.values for chunk in chunks]) if chunks else np.empty(0)
        assert np.array_equal(found, times[here]), f"sensor {sensor}: readings are lost or doubled"
        assert (np.abs(values - source[here]) <= BOUND).all(), f"sensor {sensor}: a reading is beyond the bound"


def bytes_of_ping(address: str, meter: Meter) -> float:
    """Return the bytes on the wire of a ping that keeps a connection alive, and its answer; NaN if not counted."""
    if not isinstance(meter, PacketMeter):
        return float("nan")
    with MqttTransport(address, client_id="pinging", keepalive=1) as transport:
        _wait(lambda: transport.is_connected, "nobody answers at the broker's address")
        _wait(lambda: meter.is_quiet("pinging"), "the connection does not settle")
        begin = meter.traffic("pinging")
        time.sleep(3.5)
        _wait(lambda: meter.is_quiet("pinging"), "the connection does not settle")
        end = meter.traffic("pinging")
    # Two bytes there, two bytes back.
    pings = (end.payload - begin.payload) / 4
    return (end.n_bytes - begin.n_bytes) / pings if pings else float("nan")


def run_wire(*, quick: bool) -> list[Record]:
    """Measure all delays and print their tables; return the records."""
    readings = day_of_readings(180 if quick else _DAY)
    records: list[Record] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        kind, address = stack.enter_context(broker(folder))
        meter = stack.enter_context(meter_of(int(address.rpartition(":")[2])))
        print(_introduction(readings, kind, meter), flush=True)
        for delay, words in DELAYS.items():
            say(f"max delay {words}: {len(readings.rows)} minutes ...")
            sent = send_day(readings, delay, address, meter, folder)
            if isinstance(meter, PacketMeter) and meter.n_dropped:
                print("! some packets were not counted: the machine is too busy")
            print(_report(sent, readings, words), flush=True)
            records += _records(sent, readings, words)
        ping = bytes_of_ping(address, meter)
    if ping == ping:
        print(
            f"\nNot counted above, and the same for everyone: a ping that keeps the connection alive takes"
            f" {ping:.0f} bytes.\nOne every 30 s is {2880 * ping / 1000:.0f} kB a day; make the keep-alive longer on"
            " metered links."
        )
        records.append(Record(NAME, "ping", "keep-alive", "bytes", ping))
    return records


def _introduction(readings: Readings, kind: str, meter: Meter) -> str:
    samples, sensors = readings.rows.shape
    return (
        f"Bytes on the wire: {samples:,} samples, one a minute, of {sensors} sensors ({readings.name}, consecutive"
        f" hours taken as minutes;\n{readings.n_readings:,} readings, the rest is missing), bound {BOUND:g} degC,"
        f" QoS 1, {kind}.\n{meter.how}: headers of IP and TCP, MQTT, both directions,\nof the publisher's connection"
        " only, connecting included.\nOurs also receives the cloud's acknowledgements (readings are on its disk):"
        " of each message, or every hour and then with\nQoS 0; the others have none, nor has the third row."
        "\nNumbers of SenML and JSON are rounded to the bound. Packets of"
        " loopback hold 64 kB: long messages need more headers elsewhere."
    )


def _report(sent: Sequence[Sent], readings: Readings, words: str) -> str:
    ours = next(each for each in sent if each.name == OURS).traffic.n_bytes
    rows = []
    for each in sent:
        n_bytes = each.traffic.n_bytes
        cells = [f"{each.messages:,}", f"{each.traffic.packets:,}", f"{each.traffic.payload:,}", f"{n_bytes:,}"]
        cells += [
            f"{n_bytes / len(readings.rows):.1f}",
            f"{n_bytes / readings.n_readings:.2f}",
            f"{n_bytes / ours:.2f}",
        ]
        rows.append((each.name, cells))
    columns = ["messages", "packets", "MQTT bytes", "all bytes", "per sample", "per reading", "x ours"]
    return "\n" + table(f"max delay {words}", "", columns, rows)


def _records(sent: Sequence[Sent], readings: Readings, words: str) -> list[Record]:
    ours = next(each for each in sent if each.name == OURS).traffic.n_bytes
    records = []
    for each in sent:
        values = {
            "messages": each.messages,
            "packets": each.traffic.packets,
            "mqtt_bytes": each.traffic.payload,
            "wire_bytes": each.traffic.n_bytes,
            "wire_bytes_per_sample": each.traffic.n_bytes / len(readings.rows),
            "wire_bytes_per_reading": each.traffic.n_bytes / readings.n_readings,
            "times_ours": each.traffic.n_bytes / ours,
        }
        setting = f"wire, max delay {words}"
        records += [Record(NAME, each.name, setting, metric, float(value)) for metric, value in values.items()]
    return records


def _wait(condition: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(otherwise)
        time.sleep(0.002)


def _publish(transport: Transport, topic: str, data: bytes) -> None:
    _wait(lambda: transport.publish(topic, data), "the broker does not take messages")
