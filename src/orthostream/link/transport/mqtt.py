"""MQTT 3.1.1 as a transport: one thread connects, sends and receives, and connects again."""

from __future__ import annotations

import contextlib
import logging
import random
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from functools import lru_cache

from orthostream.link.transport.broker_address import BrokerAddress
from orthostream.link.transport.memory import matches
from orthostream.link.transport.mqtt_connection import Login, MqttConnection, RefusedByBrokerError
from orthostream.link.transport.tls import Tls
from orthostream.link.transport.transport import Handler, Transport

__all__ = ["MqttTransport", "Tls"]

#: Messages, and bytes, that wait to be sent; more are not taken.
_MOST_QUEUED, _MOST_QUEUED_BYTES = 4096, 8 << 20
#: Seconds before the first attempt to connect again, and at most; the time doubles in between.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0
#: Seconds before the next attempt after the broker has refused this client.
_PAUSE_AFTER_REFUSAL = 30.0
#: Seconds that a connection must last for the next pause to be short again.
_LASTING = 1.0
#: Seconds that `close` waits for the thread to end.
_LAST_WAIT = 3.0
#: The largest message: MQTT has 256 MB for it and its topic.
_LARGEST = (1 << 28) - (1 << 17)

_log = logging.getLogger(__name__)


class MqttTransport(Transport):
    """Carries messages over an MQTT broker; connects for ever, and again after each loss.

    The order of messages holds, and the transport sends each of them once. What a connection had not delivered when it
    was lost is forgotten: the edge sends it again, since it knows what has arrived.

    A broker on another machine must be used with TLS and with credentials.

    Parameters
    ----------
    address : str
        "127.0.0.1:1883", "mqtt://host:port" or "mqtts://host:port" (with TLS).
    client_id : str
        Unique among the clients of the broker: of two with the same name only one stays connected.
    user, password : str, optional
    tls : Tls, optional
        Needed for certificates of one's own; implies TLS.
    keepalive : int
        Seconds of silence after which the connection is tested.
    insecure : bool, default False
        Whether a broker on another machine may be used without TLS or without credentials.

    Attributes
    ----------
    reconnects : int
        How often the connection was made again.
    last_error : str
        Why there is no connection, or what else went wrong; empty when a connection was made.
    """

    def __init__(
        self,
        address: str,
        *,
        client_id: str,
        user: str | None = None,
        password: str | None = None,
        tls: Tls | None = None,
        keepalive: int = 30,
        insecure: bool = False,
    ) -> None:
        self.address = BrokerAddress.parse(address, tls=tls is not None)
        self.client_id = client_id
        if not 1 <= keepalive <= 65535:
            raise ValueError(f"keepalive must be 1 to 65535 seconds, got {keepalive!r}.")
        if password is not None and user is None:
            raise ValueError("there is a password for the broker, but no user: give both.")
        if not insecure:
            certificate = None if tls is None else tls.certificate
            self.address.check_access(has_credentials=user is not None or certificate is not None)
        context = (tls or Tls()).context() if self.address.tls else None
        self._login = Login(self.address, client_id, user, password, context, keepalive)
        # A missing library is better found now than in the thread.
        self._login.client()
        self.last_error = ""
        self._random = random.Random()
        self._lock = threading.Lock()
        self._subscriptions: list[tuple[tuple[str, ...], Handler]] = []
        self._queue: deque[tuple[str, bytes, bool]] = deque()
        self._queued_bytes = 0
        self._connected = False
        self._was_connected = False
        self._waker: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def __repr__(self) -> str:
        return f"MqttTransport({str(self.address)!r}, client_id={self.client_id!r})"

    @property
    def is_connected(self) -> bool:
        return self._connected

    def subscribe(self, filters: Sequence[str], handler: Handler) -> None:
        with self._lock:
            self._subscriptions.append((tuple(filters), handler))
            self._wake()

    def publish(self, topic: str, data: bytes, *, confirmed: bool = True) -> bool:
        if not 0 < len(topic.encode()) < 1 << 16 or any(each in topic for each in "+#\0"):
            raise ValueError(f"a topic to send to must have 1 to 65535 bytes and none of '+', '#', got {topic!r}.")
        if len(data) > _LARGEST:
            raise ValueError(f"a message must have at most {_LARGEST} bytes, got {len(data)}.")
        with self._lock:
            is_full = len(self._queue) >= _MOST_QUEUED or self._queued_bytes + len(data) > _MOST_QUEUED_BYTES
            if not self._connected or (self._queue and is_full):
                return False
            self._queue.append((topic, bytes(data), confirmed))
            self._queued_bytes += len(data)
            self._wake()
        return True

    def start(self) -> None:
        if self._thread is not None:
            return
        reader, self._waker = socket.socketpair()
        reader.setblocking(False)
        self._waker.setblocking(False)
        self._stopping = threading.Event()
        self._thread = threading.Thread(
            target=self._run, args=(reader, self._stopping), name=f"mqtt {self.client_id}", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Send what waits, if that is possible at once, and end the connection; takes a few seconds at most."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._stopping.set()
        with self._lock:
            self._wake()
        if thread is not threading.current_thread():
            # While a name is looked up or a broker does not answer, the thread cannot end: it does so later.
            thread.join(_LAST_WAIT)
        with self._lock:
            self._connected = False
            if self._waker is not None:
                self._waker.close()
                self._waker = None

    def _wake(self) -> None:
        """Make the thread look at the queue; needs the lock."""
        if self._waker is not None:
            # An error says that the thread is awake, since bytes wait to be read, or that it has ended.
            with contextlib.suppress(OSError):
                self._waker.send(b"\0")

    def _run(self, reader: socket.socket, stopping: threading.Event) -> None:
        failures = 0
        with reader:
            while not stopping.is_set():
                begun = time.monotonic()
                pause = 0.0
                try:
                    MqttConnection(self._login, self).run(reader, stopping)
                except Exception as error:
                    # Not only OSError: whatever a broker sends, this thread must go on.
                    pause = _PAUSE_AFTER_REFUSAL if isinstance(error, RefusedByBrokerError) else 0.0
                    self._report(f"{self.address}: {_words_of(error)}")
                self._lost()
                failures = 0 if time.monotonic() - begun >= _LASTING else failures + 1
                stopping.wait(pause or self._pause(failures))

    def _pause(self, failures: int) -> float:
        """Return how long to wait before the next attempt: not as long as all other clients of the same broker."""
        pause = min(_FIRST_PAUSE * 2.0 ** min(failures, 16), _LONGEST_PAUSE)
        return pause * self._random.uniform(0.75, 1.25)

    def _lost(self) -> None:
        with self._lock:
            self._connected = False
            self._queue.clear()
            self._queued_bytes = 0

    def _report(self, words: str) -> None:
        if words != self.last_error:
            _log.warning("%s", words)
        self.last_error = words

    def filters_from(self, number: int) -> tuple[list[str], int]:
        """Return the filters of all subscriptions from a number on, and the number of subscriptions."""
        with self._lock:
            new = [each for filters, _ in self._subscriptions[number:] for each in filters]
            return new, len(self._subscriptions)

    def next_to_send(self) -> tuple[str, bytes, bool] | None:
        """Return the next message and whether it is to be confirmed; None if there is none. It leaves the queue."""
        with self._lock:
            if not self._queue:
                return None
            message = self._queue.popleft()
            self._queued_bytes -= len(message[1])
            return message

    def connected(self) -> None:
        """Take note that the broker has accepted this client and its subscriptions."""
        self.last_error = ""
        with self._lock:
            self.reconnects += int(self._was_connected)
            self._was_connected = self._connected = True
        _log.info("connected to %s", self.address)

    def received(self, topic: str, data: bytes) -> None:
        """Hand a message to those that listen to its topic."""
        for filters, handler in list(self._subscriptions):
            if not _any_matches(filters, topic):
                continue
            try:
                handler(topic, data)
            except Exception as error:
                self.last_error = f"a message to {topic} could not be handled: {_words_of(error)}"
                _log.exception("a message to %s could not be handled", topic)


@lru_cache(maxsize=4096)
def _any_matches(filters: tuple[str, ...], topic: str) -> bool:
    return any(matches(each, topic) for each in filters)


def _words_of(error: BaseException) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
