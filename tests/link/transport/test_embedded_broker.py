"""The embedded broker: on this machine only, begins and ends without a trace."""

from __future__ import annotations

import gc
import socket
import sys
import threading
import time

import pytest
from tests.link.real_broker import wait_until

from orthostream.link import LinkError
from orthostream.link.transport.embedded_broker import EmbeddedBroker
from orthostream.link.transport.mqtt import MqttTransport


def test_it_finds_a_free_port_and_leaves_nothing_behind() -> None:
    before = threading.active_count()
    with EmbeddedBroker() as one, EmbeddedBroker() as other:
        assert one.address != other.address
        for broker in (one, other):
            host, port = broker.address.split(":")
            assert host == "127.0.0.1"
            socket.create_connection((host, int(port)), timeout=5.0).close()
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5.0)


def test_it_begins_again_on_the_same_port() -> None:
    broker = EmbeddedBroker()
    broker.start()
    broker.start()
    address = broker.address
    broker.close()
    broker.close()
    with EmbeddedBroker(int(address.split(":")[1])) as again:
        assert again.address == address


def test_it_ends_at_once_with_clients_connected() -> None:
    with EmbeddedBroker() as broker, MqttTransport(broker.address, client_id="one") as client:
        client.subscribe(["t"], lambda topic, data: None)
        wait_until(lambda: client.is_connected)
        start = time.monotonic()
        broker.close()
        assert time.monotonic() - start < 6.0
        wait_until(lambda: not client.is_connected)


def test_a_taken_port_is_an_error_that_names_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LinkError, match=f"cannot listen at 127.0.0.1:{port}"):
            EmbeddedBroker(port).start()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "example.org", ""])
def test_other_machines_cannot_reach_it(host: str) -> None:
    with pytest.raises(ValueError, match="must stay on this machine"):
        EmbeddedBroker(host=host)


def test_a_port_must_be_one() -> None:
    with pytest.raises(ValueError, match="0 to 65535, got 70000"):
        EmbeddedBroker(70000)


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "amqtt.broker", None)
    with pytest.raises(ImportError, match=r"orthostream\[link\]"):
        EmbeddedBroker().start()


def test_clients_that_send_nonsense_harm_nobody(embedded_broker: EmbeddedBroker) -> None:
    host, port = embedded_broker.address.split(":")
    for nonsense in (b"", b"\0" * 100, b"GET / HTTP/1.1\r\n\r\n", b"\x10\xff\xff\xff\x7f", b"\x30\x02\0\0"):
        with socket.create_connection((host, int(port)), timeout=5.0) as client:
            client.sendall(nonsense)
    got: list[bytes] = []
    with MqttTransport(embedded_broker.address, client_id="one") as one:
        one.subscribe(["t"], lambda _, data: got.append(data))
        wait_until(lambda: one.is_connected)
        assert one.publish("t", b"still there")
        wait_until(lambda: got)


def test_it_ends_while_clients_try_to_connect() -> None:
    """The port is free again at once, and no socket stays open: a warning about one is an error here."""
    port = 0
    for _ in range(5):
        with EmbeddedBroker(port) as broker:
            port = int(broker.address.split(":")[1])
            trying = threading.Thread(target=knock, args=(port,))
            trying.start()
            time.sleep(0.02)
        trying.join()
        gc.collect()


def knock(port: int) -> None:
    for _ in range(50):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5.0).close()
        except OSError:
            return
