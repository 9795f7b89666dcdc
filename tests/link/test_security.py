"""What a hostile client, edge, broker or file can do: be refused and counted. Against Mosquitto with TLS."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.link.one_link import BOUND, ROWS, SCHEMA, TIMES, Link, check, stored
from tests.link.real_broker import Mosquitto, wait_until

from orthostream.compression import MaxError
from orthostream.link import Cloud, Edge
from orthostream.link.authentication import sign
from orthostream.link.messages import MOST_BYTES, Answer
from orthostream.link.names import topic_of_answers, topic_of_readings
from orthostream.link.transport.mqtt import MqttTransport, Tls

KEYS = {"roof": b"the key of the roof", "cellar": b"the key of the cellar"}


class Site:
    """A broker with TLS, its clients, a cloud and an edge; messages carry tags if there are keys."""

    def __init__(self, folder: Path, certificates: Path, broker: Mosquitto, keys: dict[str, bytes] | None) -> None:
        self.certificates, self.broker = certificates, broker
        self.keys = keys
        self.clients: list[MqttTransport] = []
        self.wire: list[tuple[str, bytes]] = []
        self.cloud = Cloud(str(folder / "store.db"), self.client("cloud"), keys=keys)
        # Whoever runs the broker sees all messages, and can send any: as the cloud, and as an edge.
        self.fake_cloud = self.client("cloud", client_id="fake cloud", filters=["orthostream/#"])
        self.fake_edge = self.client("roof", client_id="fake edge", filters=["orthostream/#"])
        self.edge = self.new_edge(folder / "out.db", self.client("roof"))

    def client(self, name: str, client_id: str | None = None, filters: list[str] | None = None) -> MqttTransport:
        tls = Tls(*(self.certificates / "ours" / file for file in ("ca.crt", f"{name}.crt", f"{name}.key")))
        # Mosquitto 2.0.11 sometimes stops in the middle of a message of 8 MB over TLS, until it hears from the client.
        found = MqttTransport(f"mqtts://{self.broker.address}", client_id=client_id or name, tls=tls, keepalive=2)
        if filters is not None:
            found.subscribe(filters, lambda *message: self.wire.append(message))
        self.clients.append(found)
        found.start()
        return found

    def new_edge(self, outbox: Path, transport: MqttTransport, key: bytes | None = None) -> Edge:
        key = key or (None if self.keys is None else self.keys["roof"])
        return Edge("roof", SCHEMA, MaxError(BOUND), outbox, transport, max_delay=0.0, key=key)

    def ready(self) -> Site:
        wait_until(lambda: all(client.is_connected for client in self.clients))
        return self

    def step(self) -> None:
        self.edge.step()
        self.cloud.step()

    def send(self, start: int, stop: int) -> None:
        """Send samples from the edge, in four messages, and wait until they are acknowledged."""
        for i in range(start, stop, (stop - start) // 4):
            self.edge.push(ROWS[i : i + (stop - start) // 4], TIMES[i : i + (stop - start) // 4])
        wait_until(lambda: self.edge.is_done, meanwhile=self.step)

    def heard(self, topic: str, least: int) -> list[tuple[str, bytes]]:
        """Return messages to a topic, once there are some."""
        return wait_until(lambda: len(found := [each for each in self.wire if each[0] == topic]) >= least and found)

    def inject(self, sender: MqttTransport, topic: str, data: bytes) -> None:
        wait_until(lambda: sender.publish(topic, data))

    def count(self, what: str, edge: str = "roof") -> int:
        return self.cloud.counts[edge, what]

    def close(self) -> None:
        for each in (*self.clients, self.edge, self.cloud):
            each.close()


@pytest.fixture
def make_site(
    tmp_path: Path, certificates: Path, start_secure: Callable[..., Mosquitto]
) -> Iterator[Callable[..., Site]]:
    sites: list[Site] = []

    def make(keys: dict[str, bytes] | None = KEYS, **options: object) -> Site:
        sites.append(Site(tmp_path, certificates, start_secure(**options), keys))
        return sites[-1].ready()

    yield make
    for site in sites:
        site.close()


def test_readings_arrive_over_tls(make_site: Callable[..., Site]) -> None:
    site = make_site()
    site.send(0, 200)
    check(site.cloud.store, 0, 200)
    assert site.count("refused") == 0


@pytest.mark.parametrize("attempt", ["without TLS", "without a certificate", "with one of another authority"])
def test_a_client_without_credentials_is_refused(
    attempt: str, certificates: Path, start_secure: Callable[..., Mosquitto]
) -> None:
    broker = start_secure()
    ca = certificates / "ours" / "ca.crt"
    other = certificates / "others"
    address = f"mqtts://{broker.address}"
    clients = {
        "without TLS": lambda: MqttTransport(broker.address, client_id="x", user="roof", password="roof"),
        "without a certificate": lambda: MqttTransport(address, client_id="x", tls=Tls(ca)),
        "with one of another authority": lambda: MqttTransport(
            address, client_id="x", tls=Tls(ca, other / "roof.crt", other / "roof.key")
        ),
    }
    got: list[bytes] = []
    with clients[attempt]() as client:
        client.subscribe(["orthostream/#"], lambda _, data: got.append(data))
        wait_until(lambda: client.last_error)
        assert not client.is_connected
        assert not client.publish(topic_of_readings("roof"), b"")


def test_a_broker_with_another_certificate_is_not_trusted(
    certificates: Path, start_secure: Callable[..., Mosquitto]
) -> None:
    """Neither one of an unknown authority, nor one of another host; nothing is sent to it."""
    broker = start_secure("others")
    for authority, why in (("ours", "self-signed certificate|unable to get"), ("others", "IP address mismatch")):
        tls = Tls(certificates / authority / "ca.crt")
        with MqttTransport(
            f"mqtts://{broker.address}", client_id="x", tls=tls, user="roof", password="mellon"
        ) as client:
            wait_until(lambda client=client: client.last_error)
            assert "the broker's certificate is not trusted" in client.last_error
            assert re.search(why, client.last_error)


def test_tls_files_that_do_not_fit_are_named(certificates: Path, tmp_path: Path) -> None:
    ours, others = certificates / "ours", certificates / "others"
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("nonsense")
    for tls, words in (
        (Tls(tmp_path / "none.crt"), "CA certificate for TLS cannot be read"),
        (Tls(nonsense), "holds no CA certificates"),
        (Tls(ours / "ca.crt", ours / "roof.crt", others / "roof.key"), "no certificate and its key"),
        (Tls(ours / "ca.crt", nonsense), "no certificate and its key"),
        (Tls(ours / "ca.crt", key=ours / "roof.key"), "no certificate that it belongs to"),
    ):
        with pytest.raises(ValueError, match=words):
            MqttTransport("mqtts://127.0.0.1", client_id="x", tls=tls)


def test_an_edge_cannot_use_the_topics_of_another(make_site: Callable[..., Site]) -> None:
    """The broker's access list: what cellar sends as roof, or as the cloud, arrives nowhere; and it hears nothing."""
    site = make_site(keys=None)
    heard: list[tuple[str, bytes]] = []
    cellar = site.client("cellar")
    cellar.subscribe(["orthostream/#", topic_of_answers("roof")], lambda *message: heard.append(message))
    site.ready()
    site.send(0, 40)
    ((_, opening), *_) = site.heard(topic_of_readings("roof"), 4)
    site.wire.clear()
    site.inject(cellar, topic_of_readings("roof"), opening)
    site.inject(cellar, topic_of_answers("roof"), Answer(opening[1:5], 4, restart=True).to_bytes())
    # The broker keeps the order of one client: when this has arrived, the others have been refused.
    site.inject(cellar, topic_of_readings("cellar"), b"no message")
    wait_until(lambda: site.count("refused", "cellar") == 1, meanwhile=site.step)
    assert {topic for topic, _ in site.wire} <= {topic_of_readings("cellar"), topic_of_answers("roof")}
    assert (site.count("doubled"), site.edge.counts["restarts asked for"]) == (0, 0)
    assert heard == []


def test_replayed_messages_change_nothing(make_site: Callable[..., Site], tmp_path: Path) -> None:
    site = make_site()
    site.send(0, 40)
    replayed = site.heard(topic_of_readings("roof"), 4)
    for number in range(2):
        doubled = site.count("doubled")
        for message in replayed:
            site.inject(site.fake_edge, *message)
        wait_until(lambda doubled=doubled: site.count("doubled") == doubled + 4, meanwhile=site.step)
        # Again after a restart of the cloud, which knows them from its store.
        site.cloud.close()
        site.clients.pop(0).close()
        site.cloud = Cloud(str(tmp_path / "store.db"), site.client("cloud", client_id=f"cloud {number}"), keys=KEYS)
        site.clients.insert(0, site.clients.pop())
        site.ready()
    site.send(40, 80)
    check(site.cloud.store, 0, 80)


def test_forged_messages_are_refused(make_site: Callable[..., Site], tmp_path: Path) -> None:
    """An edge of the right name with the wrong key, or with none."""
    site = make_site()
    for number, key in enumerate((b"not the key of the roof", KEYS["cellar"])):
        forger = site.new_edge(tmp_path / f"{number}.db", site.client("roof", client_id=f"forger {number}"), key)
        site.ready()
        forger.push(ROWS[:10] + 5.0, TIMES[:10])
        refused = site.count("refused")
        wait_until(
            lambda forger=forger, refused=refused: site.count("refused") > refused,
            meanwhile=lambda forger=forger: (forger.step(), site.cloud.step()),
        )
        assert not forger.is_done
        forger.close()
    assert "the authentication tag is wrong" in site.cloud.last_error
    site.send(0, 40)
    content = site.heard(topic_of_readings("roof"), 4)[-1][1][:-12]
    refused = site.count("refused")
    site.inject(site.fake_edge, topic_of_readings("roof"), content)
    wait_until(lambda: site.count("refused") == refused + 1, meanwhile=site.step)
    check(site.cloud.store, 0, 40)


@pytest.mark.parametrize("keys", [KEYS, dict.fromkeys(KEYS, b"one key for everyone")], ids=["own", "common"])
def test_spliced_messages_are_refused(make_site: Callable[..., Site], keys: dict[str, bytes]) -> None:
    """A message of one edge under the name of another, and an answer as if it were a message."""
    site = make_site(keys)
    site.send(0, 40)
    ups = [data for _, data in site.heard(topic_of_readings("roof"), 4)]
    ((_, down), *_) = site.heard(topic_of_answers("roof"), 1)
    cellar = site.client("cellar")
    site.ready()
    for data in ups:
        site.inject(cellar, topic_of_readings("cellar"), data)
    wait_until(lambda: site.count("refused", "cellar") == 4, meanwhile=site.step)
    site.inject(site.fake_edge, topic_of_readings("roof"), down)
    wait_until(lambda: site.count("refused") == 1, meanwhile=site.step)
    refused = site.edge.counts["answers refused"]
    site.inject(site.fake_cloud, topic_of_answers("roof"), ups[0])
    wait_until(lambda: site.edge.counts["answers refused"] == refused + 1, meanwhile=site.step)
    assert {stream.edge for stream in site.cloud.store.streams()} == {"roof"}
    check(site.cloud.store, 0, 40)


def test_an_edge_that_the_cloud_has_no_key_for_is_refused(make_site: Callable[..., Site]) -> None:
    site = make_site({"roof": KEYS["roof"]})
    cellar = site.client("cellar")
    site.ready()
    site.inject(cellar, topic_of_readings("cellar"), sign(b"anything", KEYS["roof"], topic_of_readings("cellar")))
    wait_until(lambda: site.count("refused", "cellar") == 1, meanwhile=site.step)
    assert "there is no key of the edge cellar" in site.cloud.last_error


def test_oversized_messages_are_refused_by_the_broker(make_site: Callable[..., Site]) -> None:
    site = make_site()
    site.inject(site.fake_edge, topic_of_readings("roof"), bytes(MOST_BYTES + 1))
    site.inject(site.fake_edge, topic_of_readings("roof"), bytes(MOST_BYTES))
    wait_until(lambda: site.count("refused") == 1, meanwhile=site.step)
    assert "tag is wrong" in site.cloud.last_error
    site.send(0, 40)
    check(site.cloud.store, 0, 40)


@pytest.mark.parametrize("keys", [KEYS, None], ids=["keys", "no keys"])
def test_oversized_messages_are_refused_by_the_cloud(
    make_site: Callable[..., Site], keys: dict[str, bytes] | None
) -> None:
    site = make_site(keys, without=("message_size_limit",))
    for n_bytes in (MOST_BYTES + 1, 8 * MOST_BYTES, 0):
        refused = site.count("refused")
        site.inject(site.fake_edge, topic_of_readings("roof"), bytes(n_bytes))
        wait_until(lambda refused=refused: site.count("refused") == refused + 1, meanwhile=site.step)
    site.send(0, 40)
    check(site.cloud.store, 0, 40)


def test_topics_of_no_edge_are_counted(make_site: Callable[..., Site]) -> None:
    """A broker without an access list, or a hostile one, can deliver anything."""
    site = make_site(without=("acl_file",))
    for topic in ("orthostream/00/roof/up", "orthostream/72/ro of/up", "orthostream/zz/cellar/up"):
        site.inject(site.fake_cloud, topic, b"x")
    wait_until(lambda: site.cloud.counts["", "foreign topics"] == 3, meanwhile=site.step)


def test_what_was_never_made_cannot_be_acknowledged(make_site: Callable[..., Site]) -> None:
    """Even without keys."""
    site = make_site(None)
    site.send(0, 40)
    boot = site.edge.outbox.boots()[-1]
    hostile = [b"", b"nonsense", bytes(100), *(Answer(boot.name[:4], boot.next + i).to_bytes() for i in (1, 1 << 40))]
    for data in hostile:
        site.inject(site.fake_cloud, topic_of_answers("roof"), data)
    wait_until(lambda: site.edge.counts["answers refused"] == len(hostile), meanwhile=site.edge.step)
    site.send(40, 80)
    check(site.cloud.store, 0, 80)


def test_with_keys_only_the_cloud_can_acknowledge(make_site: Callable[..., Site]) -> None:
    site = make_site(KEYS)
    site.send(0, 40)
    topic = topic_of_answers("roof")
    boot = site.edge.outbox.boots()[-1]
    ((_, true), *_) = site.heard(topic, 1)
    # Each acknowledges a message that the edge has, and the cloud has not.
    site.edge.push(ROWS[40:50], TIMES[40:50])
    forged = Answer(boot.name[:4], boot.next + 1, restart=True).to_bytes()
    hostile = [
        forged,
        sign(forged, KEYS["cellar"], topic),
        sign(forged, KEYS["roof"], topic_of_answers("cellar")),
        sign(forged, KEYS["roof"], topic_of_readings("roof")),
        forged + true[-12:],
        true[:-1] + bytes([true[-1] ^ 1]),
    ]
    for data in hostile:
        site.inject(site.fake_cloud, topic, data)
    wait_until(lambda: site.edge.counts["answers refused"] == len(hostile), meanwhile=site.edge.step)
    assert not site.edge.is_done
    assert site.edge.counts["restarts asked for"] == 0
    wait_until(lambda: site.edge.is_done, meanwhile=site.step)
    check(site.cloud.store, 0, 50)


def test_answers_about_unknown_streams_are_ignored(make_site: Callable[..., Site]) -> None:
    site = make_site(None)
    site.edge.push(ROWS[:10], TIMES[:10])
    for flag in (False, True):
        site.inject(site.fake_cloud, topic_of_answers("roof"), Answer(b"none", 1 << 40, restart=flag).to_bytes())
    site.send(10, 50)
    assert site.edge.counts["restarts asked for"] == 0
    check(site.cloud.store, 0, 50)


def hostile_snapshots(link: Link, folder: Path) -> dict[str, tuple[bytes, bytes]]:
    """Return snapshots of an encoder and of a decoder: damaged ones, and whole ones of another stream."""
    (folder / "other").mkdir()
    other = Link(folder / "other")
    other.edge.push(ROWS[300:400] + 7.0, TIMES[300:400])
    other.run()
    other.close()

    def read(place: Path) -> tuple[bytes, bytes]:
        return (
            one_value(place / "out.db", "SELECT encoder FROM snapshot"),
            one_value(place / "store.db", "SELECT decoder FROM snapshots"),
        )

    ours = read(folder)
    return {
        "nonsense": (b"nonsense" * 50, b"nonsense" * 50),
        "nothing": (b"", b""),
        "cut": (ours[0][:-1], ours[1][:-1]),
        "one bit": tuple(data[:200] + bytes([data[200] ^ 1]) + data[201:] for data in ours),
        "another stream": read(folder / "other"),
        "the other kind": (ours[1], ours[0]),
    }


def one_value(path: Path, query: str) -> bytes:
    connection = sqlite3.connect(path)
    (value,) = connection.execute(query).fetchone()
    connection.close()
    return bytes(value)


def change(path: Path, query: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(query, values)
    connection.close()


@pytest.mark.parametrize("which", ["nonsense", "nothing", "cut", "one bit", "another stream", "the other kind"])
@pytest.mark.parametrize("side", ["edge", "cloud"])
def test_a_hostile_snapshot_never_makes_wrong_readings(tmp_path: Path, side: str, which: str) -> None:
    """It is not believed: the state is made again from messages, or a new stream begins."""
    link = Link(tmp_path)
    for start in range(0, 100, 10):
        link.push(start, start + 10)
        link.run(1)
    link.push(100, 110)
    link.close()
    link.up.close()
    link.down.close()
    encoder, decoder = hostile_snapshots(link, tmp_path)[which]
    if side == "edge":
        change(tmp_path / "out.db", "UPDATE snapshot SET encoder = ?", encoder)
    else:
        change(tmp_path / "store.db", "UPDATE snapshots SET decoder = ?", decoder)
    link.edge, link.cloud = link.new_edge(), link.new_cloud()
    for start in range(110, 200, 10):
        link.push(start, start + 10)
        link.run(1)
        link.now += 20.0
    link.run(20)
    assert link.edge.is_done
    check(link.cloud.store, 0, 200)
    if side == "edge" and which != "another stream":
        assert link.edge.outbox.counts["streams begun after damage"] == 1
    link.close()


@pytest.mark.parametrize("position", [0, 4])
def test_a_hostile_decoder_snapshot_in_the_middle_never_makes_wrong_readings(tmp_path: Path, position: int) -> None:
    """As an older snapshot, with messages after it that do not fit."""
    link = Link(tmp_path)
    for start in range(0, 100, 10):
        link.push(start, start + 10)
        link.run(1)
    link.close()
    link.up.close()
    link.down.close()
    _, decoder = hostile_snapshots(link, tmp_path)["another stream"]
    change(tmp_path / "store.db", "UPDATE snapshots SET decoder = ?, next = ?", decoder, position)
    link.edge, link.cloud = link.new_edge(), link.new_cloud()
    for start in range(100, 200, 10):
        link.push(start, start + 10)
        link.run(1)
        link.now += 20.0
    link.run(20)
    assert link.edge.is_done
    check(link.cloud.store, 0, 200)
    assert len(stored(link.cloud.store, 0)[0]) > 0
    link.close()
