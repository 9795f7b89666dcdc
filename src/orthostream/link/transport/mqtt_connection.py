"""One connection to an MQTT broker, from its beginning to its loss, by paho-mqtt.

Only one thread uses a connection. Messages are sent with QoS 1, several at a time, or with QoS 0 where a confirmation
is not worth its bytes. That keeps their order: they go over one TCP connection in the order of the queue, and what a
lost connection leaves behind is never sent on the next one.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from orthostream.link.transport.broker_address import BrokerAddress

if TYPE_CHECKING:
    from paho.mqtt.client import Client

#: Messages that the broker has not acknowledged, at most.
_IN_FLIGHT = 64
#: Seconds to wait for the broker's first answers.
_PATIENCE = 10.0
#: Seconds that what waits is given to be sent when the connection is to end.
_FAREWELL = 1.0


class RefusedByBrokerError(ConnectionError):
    """The broker does not want this client, or is not the one that it should be: trying again at once is no use."""


@dataclass(frozen=True)
class Login:
    """Who connects to which broker, and how."""

    address: BrokerAddress
    client_id: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    context: ssl.SSLContext | None = None
    keepalive: int = 30

    def client(self) -> Client:
        """Return a client of paho that is not connected yet."""
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise ImportError("MQTT needs paho-mqtt 2: pip install 'orthostream[link]'") from None
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=self.client_id,
            clean_session=True,
            protocol=paho.MQTTv311,
            reconnect_on_failure=False,
        )
        client.max_inflight_messages_set(_IN_FLIGHT)
        if self.user is not None:
            client.username_pw_set(self.user, self.password)
        if self.context is not None:
            client.tls_set_context(self.context)
        client.connect_async(self.address.host, self.address.port, self.keepalive)
        return client


class ConnectionOwner(Protocol):
    """What a connection asks of the transport that it works for."""

    def filters_from(self, number: int) -> tuple[list[str], int]:
        """Return the filters of all subscriptions from a number on, and the number of subscriptions."""

    def next_to_send(self) -> tuple[str, bytes, bool] | None:
        """Return the next message and whether it is to be confirmed; None if there is none. It leaves the queue."""

    def connected(self) -> None:
        """Take note that the broker has accepted the client and its subscriptions."""

    def received(self, topic: str, data: bytes) -> None:
        """Take a message; must not raise."""


class MqttConnection:
    """Sends what its owner has to send, and hands it what arrives.

    Parameters
    ----------
    login : Login
    owner : ConnectionOwner
    """

    def __init__(self, login: Login, owner: ConnectionOwner) -> None:
        self._owner = owner
        self._client = login.client()
        self._client.on_connect = self._on_connect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_publish = self._on_publish
        self._client.on_message = self._on_message
        self._in_flight = self._n_subscribed = 0
        self._awaited: set[int] = set()
        self._is_ready = False
        self._refusal = ""

    def run(self, waker: socket.socket, stopping: threading.Event) -> None:
        """Connect, and send and receive until ``stopping`` is set.

        Bytes that arrive at ``waker`` say that there is something new to do.

        Raises
        ------
        RefusedByBrokerError
            If the broker does not accept the client, or its certificate is not trusted.
        OSError, Exception
            If the connection is lost, or the broker sends what is not MQTT.
        """
        try:
            self._client.reconnect()
            link = self._client.socket()
            if link is None:
                raise ConnectionError("the connection was lost at once")
            with selectors.DefaultSelector() as selector:
                selector.register(waker, selectors.EVENT_READ)
                selector.register(link, selectors.EVENT_READ)
                self._serve(link, waker, selector, stopping)
        except ssl.SSLCertVerificationError as error:
            raise RefusedByBrokerError(f"the broker's certificate is not trusted: {error.verify_message}") from None
        finally:
            link = self._client.socket()
            if link is not None:
                link.close()

    def _serve(
        self, link: Any, waker: socket.socket, selector: selectors.BaseSelector, stopping: threading.Event
    ) -> None:
        patience, farewell = time.monotonic() + _PATIENCE, float("inf")
        wanted = selectors.EVENT_READ
        while True:
            now = time.monotonic()
            if not self._is_ready and now > patience:
                raise TimeoutError("the broker does not answer")
            self._send()
            if stopping.is_set():
                farewell = min(farewell, now + _FAREWELL)
                if now >= farewell or not self._in_flight:
                    self._client.disconnect()
                    return
            if wanted != (wanted := self._wanted()):
                selector.modify(link, wanted)
            # TLS may have read more than it was asked for.
            has_more = isinstance(link, ssl.SSLSocket) and link.pending() > 0
            wait = 0.0 if has_more else 0.1 if stopping.is_set() else 1.0
            ready = {key.fileobj: mask for key, mask in selector.select(wait)}
            if waker in ready:
                waker.recv(1 << 16)
            if has_more or ready.get(link, 0) & selectors.EVENT_READ:
                self._check(self._client.loop_read())
            if ready.get(link, 0) & selectors.EVENT_WRITE:
                self._check(self._client.loop_write())
            self._check(self._client.loop_misc())

    def _wanted(self) -> int:
        return selectors.EVENT_READ | (selectors.EVENT_WRITE if self._client.want_write() else 0)

    def _check(self, code: int) -> None:
        """Raise ConnectionError unless the code of paho says that all is well."""
        if self._refusal:
            raise RefusedByBrokerError(self._refusal)
        if code and self._is_ready:
            raise ConnectionError(f"the connection was lost (MQTT error {int(code)})")
        if code:
            raise ConnectionError(
                f"the broker closed the connection without an answer (MQTT error {int(code)}); does it expect TLS, or a"
                " client certificate?"
            )

    def _send(self) -> None:
        """Give paho what waits, as much as may be in flight."""
        if not self._is_ready:
            return
        self._subscribe()
        while self._in_flight < _IN_FLIGHT:
            message = self._owner.next_to_send()
            if message is None:
                return
            topic, data, confirmed = message
            self._in_flight += 1
            self._client.publish(topic, data, qos=int(confirmed))

    def _subscribe(self) -> None:
        filters, self._n_subscribed = self._owner.filters_from(self._n_subscribed)
        if filters:
            code, number = self._client.subscribe([(name, 1) for name in filters])
            self._check(code)
            if number is not None:
                self._awaited.add(number)

    def _go_on(self) -> None:
        if not self._is_ready and not self._awaited:
            self._is_ready = True
            self._owner.connected()

    # Callbacks of paho, called by loop_read.

    def _on_connect(self, client: Client, userdata: object, flags: object, reason: Any, properties: object) -> None:
        if reason.is_failure:
            self._refusal = f"the broker refused this client: {str(reason).lower()}"
            return
        self._subscribe()
        self._go_on()

    def _on_subscribe(self, client: Client, userdata: object, mid: int, reasons: list[Any], properties: object) -> None:
        if any(reason.is_failure for reason in reasons):
            self._refusal = "the broker refused a subscription; look at its access list"
            return
        self._awaited.discard(mid)
        self._go_on()

    def _on_publish(self, client: Client, userdata: object, mid: int, reason: object, properties: object) -> None:
        self._in_flight -= 1

    def _on_message(self, client: Client, userdata: object, message: Any) -> None:
        try:
            topic = message.topic
        except UnicodeDecodeError:
            return
        self._owner.received(topic, bytes(message.payload))
