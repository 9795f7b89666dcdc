"""Bytes of MQTT connections on the loopback device, headers of TCP/IP included: counted, or else estimated.

Connections are told apart by the client's name, which is in the first message of each.
"""

from __future__ import annotations

import ctypes
import socket
import struct
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Self

from orthostream.link.transport import Handler, Transport

#: Bytes of the headers of IP and TCP, with the timestamps that TCP has by default.
HEADERS = 52
#: Seconds without a packet after which a connection is quiet, once all that was sent is acknowledged.
_QUIET = 0.02
_IPV4, _OUTGOING, _ATTACH_FILTER = 0x0800, 4, 26
_SOL_PACKET, _STATISTICS = 263, 6
#: Bytes of a packet that are looked at: headers, and the name of a client.
_LOOKED_AT = 256
_SYN, _FIN = 2, 1


class Traffic(NamedTuple):
    """What went over a connection, in both directions."""

    packets: int = 0
    n_bytes: int = 0
    payload: int = 0
    """Bytes of MQTT, without headers of TCP/IP."""


class Meter(ABC):
    """Counts the bytes of connections to a broker."""

    how: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def watched(self, transport: Transport, client_id: str) -> Transport:
        """Return a transport whose bytes are counted."""
        return transport

    @abstractmethod
    def traffic(self, client_id: str) -> Traffic:
        """Return what has gone over the connection of a client so far."""

    @abstractmethod
    def is_quiet(self, client_id: str) -> bool:
        """Return whether all that was sent is acknowledged, and nothing more comes."""


class _Connection:
    """One connection: what was seen of it, and how far either side has sent (0: the client) and received."""

    def __init__(self) -> None:
        self.client_id = ""
        self.traffic = Traffic()
        self.sent: list[int | None] = [None, None]
        self.acknowledged: list[int | None] = [None, None]
        self.seen = time.monotonic()

    def add(self, side: int, length: int, segment: bytes) -> None:
        """Count a packet of some length, given the beginning of its TCP segment."""
        sequence, acknowledged, offset, flags = struct.unpack_from(">IIBB", segment, 4)
        header = 4 * (offset >> 4)
        payload = length - 20 - header
        end = (sequence + payload + (1 if flags & (_SYN | _FIN) else 0)) % 2**32
        before = self.sent[side]
        if before is None or (end - before) % 2**32 < 2**31:
            self.sent[side] = end
        if flags & 16:
            self.acknowledged[1 - side] = acknowledged
        if side == 0 and payload and not self.client_id:
            self.client_id = _client_of(segment[header:])
        packets, n_bytes, payloads = self.traffic
        self.traffic = Traffic(packets + 1, n_bytes + length, payloads + payload)
        self.seen = time.monotonic()

    @property
    def is_quiet(self) -> bool:
        return self.sent == self.acknowledged and time.monotonic() - self.seen >= _QUIET


class PacketMeter(Meter):
    """Counts IP packets on the loopback device; needs the right to see them.

    Parameters
    ----------
    port : int
        The broker's.

    Raises
    ------
    OSError
        If this process may not see packets, or the system has no such sockets.
    """

    how = "IP packets counted on the loopback device"

    def __init__(self, port: int) -> None:
        if not hasattr(socket, "AF_PACKET"):
            raise OSError("this system has no packet sockets")
        self._port = port
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
        try:
            _only_port(self._socket, port)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            self._socket.bind(("lo", _IPV4))
            self._socket.settimeout(0.1)
        except BaseException:
            self._socket.close()
            raise
        self._connections: dict[int, _Connection] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="packets", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        self._socket.close()

    def traffic(self, client_id: str) -> Traffic:
        with self._lock:
            found = [each.traffic for each in self._connections.values() if each.client_id == client_id]
        return Traffic(*map(sum, zip(*found, strict=True))) if found else Traffic()

    def is_quiet(self, client_id: str) -> bool:
        with self._lock:
            return all(each.is_quiet for each in self._connections.values() if each.client_id == client_id)

    @property
    def n_dropped(self) -> int:
        """Packets that were not counted since the last look, because there was no room for them."""
        _, dropped = struct.unpack("II", self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 8))
        return int(dropped)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                packet, address = self._socket.recvfrom(_LOOKED_AT)
            except TimeoutError:
                continue
            # The loopback device shows every packet twice.
            if address[2] != _OUTGOING:
                self._add(packet)

    def _add(self, packet: bytes) -> None:
        (length,) = struct.unpack_from(">H", packet, 2)
        segment = packet[4 * (packet[0] & 15) :]
        source, destination = struct.unpack_from(">HH", segment)
        side = 0 if destination == self._port else 1
        with self._lock:
            port = (source, destination)[side]
            self._connections.setdefault(port, _Connection()).add(side, length, segment)


class EstimateMeter(Meter):
    """Adds up bytes of MQTT, with one packet for each message, its acknowledgement and that of TCP."""

    how = "ESTIMATED from MQTT bytes, three packets for each message: packets cannot be counted here (root can)"

    def __init__(self) -> None:
        self._counted: dict[str, _CountedTransport] = {}

    def watched(self, transport: Transport, client_id: str) -> Transport:
        self._counted[client_id] = _CountedTransport(transport, client_id)
        return self._counted[client_id]

    def traffic(self, client_id: str) -> Traffic:
        found = self._counted[client_id]
        packets = 3 * found.messages
        return Traffic(packets, found.payload + HEADERS * packets, found.payload)

    def is_quiet(self, client_id: str) -> bool:
        return time.monotonic() - self._counted[client_id].seen >= _QUIET


class _CountedTransport(Transport):
    """A transport that counts what MQTT makes of the messages that go through it."""

    def __init__(self, transport: Transport, client_id: str) -> None:
        self._transport = transport
        # Connecting: three packets of TCP, then CONNECT and its answer.
        self.messages, self.payload, self.seen = 2, 14 + len(client_id) + 4, time.monotonic()

    def _count(self, n_bytes: int) -> None:
        self.messages += 1
        self.payload += n_bytes
        self.seen = time.monotonic()

    def subscribe(self, filters: Sequence[str], handler: Handler) -> None:
        def received(topic: str, data: bytes) -> None:
            # Only answers of the cloud are received, and the broker need not confirm them.
            self._count(bytes_of_publishing(topic, data, confirmed=False))
            handler(topic, data)

        self._count(9 + sum(3 + len(each) for each in filters))
        self._transport.subscribe(filters, received)

    def publish(self, topic: str, data: bytes, *, confirmed: bool = True) -> bool:
        taken = self._transport.publish(topic, data, confirmed=confirmed)
        if taken:
            self._count(bytes_of_publishing(topic, data, confirmed=confirmed))
        return taken

    @property
    def is_connected(self) -> bool:
        return self._transport.is_connected

    def start(self) -> None:
        self._transport.start()

    def close(self) -> None:
        self._transport.close()


def bytes_of_publishing(topic: str, data: bytes, *, confirmed: bool = True) -> int:
    """Return the bytes of MQTT 3.1.1 for a message: with QoS 1 and its acknowledgement if ``confirmed``, else QoS 0.

    >>> bytes_of_publishing("city/roof", b"20.5"), bytes_of_publishing("city/roof", b"20.5", confirmed=False)
    (23, 17)
    """
    rest = 2 + len(topic.encode()) + 2 * confirmed + len(data)
    return 1 + max(1, -(-rest.bit_length() // 7)) + rest + 4 * confirmed


def meter_of(port: int) -> Meter:
    """Return a meter that counts packets to and from a port, or one that estimates where that is not allowed."""
    try:
        return PacketMeter(port)
    except OSError:
        return EstimateMeter()


def _only_port(packets: socket.socket, port: int) -> None:
    """Let the kernel hand over packets to or from a port only; IP headers on loopback have no options."""
    # Load the source port, accept if it matches; load the destination port, accept if it matches; refuse.
    code = ((0x28, 0, 0, 20), (0x15, 2, 0, port), (0x28, 0, 0, 22), (0x15, 0, 1, port), (0x06, 0, 0, 2**31 - 1))
    program = b"".join(struct.pack("HBBI", *each) for each in (*code, (0x06, 0, 0, 0)))
    held = ctypes.create_string_buffer(program, len(program))
    packets.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, struct.pack("HP", len(code) + 1, ctypes.addressof(held)))


def _client_of(payload: bytes) -> str:
    """Return the name of the client in a CONNECT message of MQTT 3.1.1; "" if it is none."""
    if len(payload) < 14 or payload[0] != 0x10 or payload[4:8] != b"MQTT":
        return ""
    (length,) = struct.unpack_from(">H", payload, 12)
    return payload[14 : 14 + length].decode(errors="replace")
