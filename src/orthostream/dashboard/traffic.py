"""Bytes on the wire: payloads are counted, what MQTT and TCP/IP add is estimated.

Each message is one PUBLISH between a client and the broker, with its PUBACK if it is to be confirmed. A PUBLISH takes a
byte, the varint of its length, two bytes and the topic, and, if it is to be confirmed, two bytes of packet number
before the payload; a PUBACK takes four bytes. Each PUBLISH is taken to be a TCP segment with 40 bytes of headers,
larger ones one for each 1,460 bytes; so is each PUBACK or, without one, the acknowledgement of TCP. Connecting,
keep-alive and TLS are left out.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from orthostream.link.transport import Handler, Transport

_HEADERS, _SEGMENT = 40, 1460
_PUBACK = 4


@dataclass
class Traffic:
    """Messages and bytes in one direction.

    Examples
    --------
    >>> traffic = Traffic()
    >>> traffic.count("orthostream/72/roof/up", 100)
    >>> traffic.payload, traffic.mqtt, traffic.tcp_ip
    (100, 32, 80)
    """

    messages: int = 0
    payload: int = 0
    mqtt: int = 0
    tcp_ip: int = 0

    def count(self, topic: str, size: int, *, confirmed: bool = True) -> None:
        """Count one message."""
        rest = 2 + len(topic.encode()) + 2 * confirmed + size
        lengths = 1 + (rest >= 1 << 7) + (rest >= 1 << 14) + (rest >= 1 << 21)
        publish = 1 + lengths + rest
        self.messages += 1
        self.payload += size
        self.mqtt += publish - size + _PUBACK * confirmed
        self.tcp_ip += _HEADERS * (-(-publish // _SEGMENT) + 1)

    @property
    def total(self) -> int:
        """All bytes."""
        return self.payload + self.mqtt + self.tcp_ip


class CountedTransport(Transport):
    """Passes everything on to another transport, and counts what is sent.

    Parameters
    ----------
    transport : Transport

    Attributes
    ----------
    sent : Traffic
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._lock = threading.Lock()
        self.sent = Traffic()

    @property
    def reconnects(self) -> int:  # type: ignore[override]
        """How often the connection was made again."""
        return self._transport.reconnects

    def subscribe(self, filters: Sequence[str], handler: Handler) -> None:
        self._transport.subscribe(filters, handler)

    def publish(self, topic: str, data: bytes, *, confirmed: bool = True) -> bool:
        done = self._transport.publish(topic, data, confirmed=confirmed)
        if done:
            with self._lock:
                self.sent.count(topic, len(data), confirmed=confirmed)
        return done

    @property
    def is_connected(self) -> bool:
        return self._transport.is_connected

    def start(self) -> None:
        self._transport.start()

    def close(self) -> None:
        self._transport.close()
