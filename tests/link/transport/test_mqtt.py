"""MQTT as a transport: order, reconnection, bounded queues, refusals; against the embedded broker and Mosquitto."""

from __future__ import annotations

import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.link.one_link import BOUND, ROWS, SCHEMA, TIMES, check
from tests.link.real_broker import Mosquitto, free_port, wait_until

from orthostream.compression import MaxError
from orthostream.link import Cloud, Edge
from orthostream.link.transport import mqtt
from orthostream.link.transport.broker_address import BrokerAddress
from orthostream.link.transport.embedded_broker import EmbeddedBroker
from orthostream.link.transport.mqtt import MqttTransport


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for long before connecting again."""
    monkeypatch.setattr(mqtt, "_FIRST_PAUSE", 0.05)


def connected(address: str, name: str, **options: object) -> MqttTransport:
    transport = MqttTransport(address, client_id=name, **options)
    transport.start()
    wait_until(lambda: transport.is_connected)
    return transport


def test_messages_arrive_once_and_in_order(broker_address: str) -> None:
    got: list[tuple[str, bytes]] = []
    with connected(broker_address, "one") as one, MqttTransport(broker_address, client_id="other") as other:
        other.subscribe(["a/+/up", "b"], lambda topic, data: got.append((topic, data)))
        wait_until(lambda: other.is_connected)
        sent = []
        for i in range(500):
            message = ("a/x/up" if i % 3 else "b", i.to_bytes(2, "big") + bytes(i))
            wait_until(lambda message=message: one.publish(*message))
            sent.append(message)
        assert one.publish("c", b"nobody listens")
        wait_until(lambda: len(got) == 500)
    for topic in ("a/x/up", "b"):
        assert [each for each in got if each[0] == topic] == [each for each in sent if each[0] == topic]
    assert (one.reconnects, one.last_error) == (0, "")


def test_a_large_message_arrives(broker_address: str) -> None:
    got: list[bytes] = []
    with connected(broker_address, "one") as one, connected(broker_address, "other") as other:
        other.subscribe(["t"], lambda _, data: got.append(data))
        data = bytes(range(256)) * 4096
        # A subscription of a connected client takes a moment; a message before that is lost, as MQTT says.
        wait_until(lambda: got, meanwhile=lambda: (one.publish("t", data), time.sleep(0.1)))
    assert got[0] == data


def test_what_a_handler_raises_is_reported_and_harms_nobody(mosquitto: Mosquitto) -> None:
    got: list[bytes] = []

    def bad(topic: str, data: bytes) -> None:
        raise ZeroDivisionError("by zero")

    with MqttTransport(mosquitto.address, client_id="one") as one:
        one.subscribe(["t"], bad)
        one.subscribe(["t"], lambda _, data: got.append(data))
        wait_until(lambda: one.is_connected)
        for data in (b"1", b"2"):
            assert one.publish("t", data)
        wait_until(lambda: len(got) == 2)
        assert one.is_connected
        assert one.last_error == "a message to t could not be handled: by zero"


def test_nothing_is_taken_while_there_is_no_connection() -> None:
    with MqttTransport(f"127.0.0.1:{free_port()}", client_id="one") as one:
        assert not one.publish("t", b"")
        wait_until(lambda: one.last_error)
        assert "Connection refused" in one.last_error
        assert not one.is_connected
    assert not one.publish("t", b"")


def test_the_queue_is_bounded_and_close_does_not_hang_when_the_broker_does(
    mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt, "_MOST_QUEUED", 100)
    one = connected(mosquitto.address, "one")
    mosquitto.send_signal(signal.SIGSTOP)
    taken = sum(one.publish("t", bytes(10)) for _ in range(1000))
    time.sleep(0.2)
    taken += sum(one.publish("t", bytes(10)) for _ in range(1000))
    assert 100 <= taken <= 164 + 36
    assert not one.publish("t", b"more")
    start = time.monotonic()
    one.close()
    assert time.monotonic() - start < 4.0
    mosquitto.send_signal(signal.SIGCONT)
    assert not one.is_connected


def test_the_bytes_that_wait_are_bounded(mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "_MOST_QUEUED_BYTES", 1 << 20)
    with connected(mosquitto.address, "one") as one:
        mosquitto.send_signal(signal.SIGSTOP)
        taken = sum(one.publish("t", bytes(1 << 18)) for _ in range(400))
        assert taken <= 64 + 4
        mosquitto.send_signal(signal.SIGCONT)
        wait_until(lambda: one.publish("t", bytes(2 << 20)))


def test_what_waits_is_sent_before_the_end(mosquitto: Mosquitto) -> None:
    got: list[bytes] = []
    with MqttTransport(mosquitto.address, client_id="other") as other:
        other.subscribe(["t"], lambda _, data: got.append(data))
        wait_until(lambda: other.is_connected)
        one = connected(mosquitto.address, "one")
        assert all(one.publish("t", b"%d" % i) for i in range(300))
        one.close()
        wait_until(lambda: len(got) == 300)


def test_it_can_be_started_again(mosquitto: Mosquitto) -> None:
    one = connected(mosquitto.address, "one")
    one.close()
    one.close()
    assert not one.is_connected
    one.start()
    one.start()
    wait_until(lambda: one.is_connected)
    one.close()
    assert not [each for each in threading.enumerate() if each.name.startswith("mqtt ")]


def test_subscriptions_outlive_the_broker(mosquitto: Mosquitto) -> None:
    got: list[bytes] = []
    with connected(mosquitto.address, "one") as one, connected(mosquitto.address, "other") as other:
        other.subscribe(["t"], lambda _, data: got.append(data))
        for number in (1, 2):
            mosquitto.kill()
            wait_until(lambda: not one.is_connected and not other.is_connected)
            assert not one.publish("t", b"lost")
            mosquitto.start()
            wait_until(lambda: one.is_connected and other.is_connected)
            assert one.publish("t", b"%d" % number)
            wait_until(lambda number=number: got and got[-1] == b"%d" % number)
            assert (one.reconnects, other.reconnects) == (number, number)
    assert got == [b"1", b"2"]


def test_a_broker_that_hangs_is_noticed(mosquitto: Mosquitto) -> None:
    with connected(mosquitto.address, "one", keepalive=1) as one:
        mosquitto.send_signal(signal.SIGSTOP)
        wait_until(lambda: not one.is_connected)
        mosquitto.send_signal(signal.SIGCONT)
        wait_until(lambda: one.is_connected)
        assert one.reconnects == 1


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x20\x02\x00", b"\xff" * 100, b"\x90\x00"],
    ids=["nothing", "another protocol", "too short", "nonsense", "out of turn"],
)
def test_a_server_that_is_no_broker_does_no_harm(answer: bytes) -> None:
    """It is tried again and again, with pauses, whatever it says."""
    calls: list[float] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    calls.append(time.monotonic())
                    client.recv(100)
                    client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        with MqttTransport(f"127.0.0.1:{server.getsockname()[1]}", client_id="one") as one:
            wait_until(lambda: len(calls) >= 2)
            assert not one.is_connected
            assert one.last_error.startswith(f"{one.address}: ")
            assert len(calls) < 8
        server.shutdown(socket.SHUT_RDWR)
    thread.join(5.0)


def test_refused_credentials_are_reported_and_tried_again_slowly(
    start_mosquitto: Callable[..., Mosquitto],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    users = tmp_path / "users"
    users.write_text("")
    broker = start_mosquitto("allow_anonymous false", f"password_file {users}")
    with MqttTransport(broker.address, client_id="one", user="roof", password="mellon-42") as one:
        wait_until(lambda: one.last_error)
        assert one.last_error == f"{one.address}: the broker refused this client: not authorized"
        time.sleep(1.0)
        assert broker.log.count("not authorised") == 1
        assert "mellon" not in repr(one) + repr(vars(one)) + one.last_error + caplog.text
    monkeypatch.setattr(mqtt, "_PAUSE_AFTER_REFUSAL", 0.1)
    with MqttTransport(broker.address, client_id="one") as one:
        wait_until(lambda: broker.log.count("not authorised") > 2)
        assert not one.is_connected


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paho.mqtt", None)
    with pytest.raises(ImportError, match=r"orthostream\[link\]"):
        MqttTransport("127.0.0.1", client_id="one")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:1883", BrokerAddress("127.0.0.1", 1883, False)),
        ("localhost", BrokerAddress("localhost", 1883, False)),
        ("mqtt://broker.lan:99", BrokerAddress("broker.lan", 99, False)),
        ("mqtts://broker.lan", BrokerAddress("broker.lan", 8883, True)),
        ("mqtts://[::1]:77/", BrokerAddress("::1", 77, True)),
    ],
)
def test_addresses(text: str, expected: BrokerAddress) -> None:
    assert BrokerAddress.parse(text) == expected
    assert BrokerAddress.parse(str(expected), tls=expected.tls) == expected


@pytest.mark.parametrize(
    "text", ["", ":1883", "host:port", "host:99999", "http://host", "mqtt://host/path", "a b:1883"]
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="no address of a broker"):
        BrokerAddress.parse(text)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValueError, match="do not belong into the address") as caught:
        MqttTransport("mqtt://roof:mellon@127.0.0.1", client_id="one")
    assert "mellon" not in str(caught.value)


@pytest.mark.parametrize(
    "host", ["192.168.1.5", "broker.example", "mqtts://broker.example", "0.0.0.0", "[2001:db8::1]"]
)
def test_other_machines_are_not_used_anonymously_or_in_the_clear(host: str) -> None:
    with pytest.raises(ValueError, match="insecure=True"):
        MqttTransport(host, client_id="one")
    MqttTransport(host, client_id="one", insecure=True)


def test_a_password_is_not_sent_in_the_clear_to_other_machines() -> None:
    with pytest.raises(ValueError, match=r"write mqtts://broker\.example:1883"):
        MqttTransport("broker.example", client_id="one", user="roof", password="mellon")
    MqttTransport("mqtts://broker.example", client_id="one", user="roof", password="mellon")


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="keepalive must be 1 to 65535 seconds, got 0"):
        MqttTransport("localhost", client_id="one", keepalive=0)
    with pytest.raises(ValueError, match="no user"):
        MqttTransport("localhost", client_id="one", password="mellon")
    one = MqttTransport("localhost", client_id="one")
    for topic in ("", "a/+", "#", "a\0b", "x" * 65536):
        with pytest.raises(ValueError, match="a topic to send to"):
            one.publish(topic, b"")


class Stream:
    """An edge and a cloud on a real broker."""

    def __init__(self, folder: Path, address: str) -> None:
        self.up = MqttTransport(address, client_id="edge")
        self.down = MqttTransport(address, client_id="cloud")
        self.edge = Edge("roof", SCHEMA, MaxError(BOUND), folder / "out.db", self.up, max_delay=0.0)
        self.cloud = Cloud(str(folder / "store.db"), self.down)
        self.up.start()
        self.down.start()

    def step(self) -> None:
        self.edge.step()
        self.cloud.step()

    def send(self, start: int, stop: int) -> None:
        for i in range(start, stop, 5):
            self.edge.push(ROWS[i : i + 5], TIMES[i : i + 5])
            self.step()

    def close(self) -> None:
        for each in (self.up, self.down, self.edge, self.cloud):
            each.close()


def test_a_stream_arrives_completely(tmp_path: Path, broker_address: str) -> None:
    stream = Stream(tmp_path, broker_address)
    wait_until(lambda: stream.up.is_connected and stream.down.is_connected)
    stream.send(0, 600)
    wait_until(lambda: stream.edge.is_done, meanwhile=stream.step)
    check(stream.cloud.store, 0, 600)
    counts = stream.cloud.counts
    assert {counts["roof", what] for what in ("doubled", "too early", "refused", "unknown stream")} == {0}
    stream.close()


@pytest.mark.parametrize("kind", ["embedded", "mosquitto"])
def test_a_stream_arrives_completely_though_the_broker_is_killed(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    broker: EmbeddedBroker | Mosquitto = request.getfixturevalue("embedded_broker" if kind == "embedded" else kind)
    stream = Stream(tmp_path, broker.address)
    wait_until(lambda: stream.up.is_connected and stream.down.is_connected)
    for number, start in enumerate(range(0, 600, 300)):
        stream.send(start, start + 150)
        if isinstance(broker, Mosquitto):
            broker.kill()
            stream.send(start + 150, start + 300)
            broker.start()
        else:
            broker.close()
            stream.send(start + 150, start + 300)
            broker = EmbeddedBroker(int(broker.address.split(":")[1]))
            broker.start()
        wait_until(lambda number=number: min(stream.up.reconnects, stream.down.reconnects) > number)
    wait_until(lambda: stream.edge.is_done, meanwhile=stream.step)
    check(stream.cloud.store, 0, 600)
    assert (stream.up.reconnects, stream.down.reconnects) == (2, 2)
    assert len(stream.cloud.store.streams()) == 1
    stream.close()
    if isinstance(broker, EmbeddedBroker):
        broker.close()
