"""A broker within the process, for tests and programs that need no network."""

from __future__ import annotations

from collections.abc import Sequence

from orthostream.link.transport.transport import Handler, Transport


def matches(topic_filter: str, topic: str) -> bool:
    """Return whether a topic is one that a filter of MQTT stands for.

    Examples
    --------
    >>> matches("orthostream/+/roof/up", "orthostream/72/roof/up"), matches("a/#", "a/b/c"), matches("a/+", "a/b/c")
    (True, True, False)
    """
    wanted, parts = topic_filter.split("/"), topic.split("/")
    for i, part in enumerate(wanted):
        if part == "#":
            return True
        if i >= len(parts) or part not in ("+", parts[i]):
            return False
    return len(wanted) == len(parts)


class MemoryBroker:
    """Delivers messages between the transports of one process, at once and in the thread of the sender.

    Examples
    --------
    >>> broker = MemoryBroker()
    >>> one, other = broker.transport(), broker.transport()
    >>> other.subscribe(["news/+"], lambda topic, data: print(topic, data))
    >>> one.publish("news/today", b"hello")
    news/today b'hello'
    True
    """

    def __init__(self) -> None:
        self._subscriptions: list[tuple[MemoryTransport, str, Handler]] = []

    def transport(self) -> MemoryTransport:
        """Return another client of this broker."""
        return MemoryTransport(self)

    def subscribe(self, owner: MemoryTransport, topic_filter: str, handler: Handler) -> None:
        """Remember who listens to what."""
        self._subscriptions.append((owner, topic_filter, handler))

    def forget(self, owner: MemoryTransport) -> None:
        """Forget what a client listens to."""
        self._subscriptions = [each for each in self._subscriptions if each[0] is not owner]

    def deliver(self, topic: str, data: bytes) -> None:
        """Hand a message to all that listen to its topic."""
        for owner, topic_filter, handler in list(self._subscriptions):
            if owner.is_connected and matches(topic_filter, topic):
                handler(topic, data)


class MemoryTransport(Transport):
    """A client of a `MemoryBroker`.

    Parameters
    ----------
    broker : MemoryBroker
    """

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker
        self._connected = True

    def subscribe(self, filters: Sequence[str], handler: Handler) -> None:
        for topic_filter in filters:
            self._broker.subscribe(self, topic_filter, handler)

    def publish(self, topic: str, data: bytes, *, confirmed: bool = True) -> bool:
        if self._connected:
            self._broker.deliver(topic, data)
        return self._connected

    @property
    def is_connected(self) -> bool:
        return self._connected

    @is_connected.setter
    def is_connected(self, value: bool) -> None:
        self.reconnects += int(value and not self._connected)
        self._connected = value

    def start(self) -> None:
        self._connected = True

    def close(self) -> None:
        self._connected = False
        self._broker.forget(self)
