"""Readings as JSON for other programs: complete, valid whatever an edge calls its sensors, and never in the way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orthostream.compression import Column, Lossless, Schema, TimeAxis
from orthostream.link import Cloud, Edge, MemoryBroker, SqliteStore
from orthostream.link.republish import Republisher

START = 1_500_000_000


class Listening:
    """An edge, a cloud with a republisher, and someone who listens to all that is said."""

    def __init__(self, **options: Any) -> None:
        self.broker = MemoryBroker()
        self.heard: list[tuple[str, bytes]] = []
        self.ear = self.broker.transport()
        self.ear.subscribe(["#"], lambda topic, data: self.heard.append((topic, data)))
        self.transport = self.broker.transport()
        self.republisher = Republisher(self.transport, **options)
        self.cloud = Cloud(SqliteStore(":memory:"), self.broker.transport(), listener=self.republisher)
        self.edges: list[Edge] = []

    def edge(self, schema: Schema, name: str = "roof", path: str | Path = ":memory:") -> Edge:
        self.edges.append(Edge(name, schema, Lossless(), path, self.broker.transport(), max_delay=0.0))
        return self.edges[-1]

    def send(self, edge: Edge, rows: object, times: object) -> None:
        edge.push(np.array(rows, dtype=float), np.array(times))
        for _ in range(3):
            edge.step()
            self.cloud.step()
        edge.step()
        assert edge.is_done

    def of(self, topic: str) -> list[Any]:
        return [json.loads(data) for each, data in self.heard if each == topic]

    def topics(self, beginning: str) -> list[str]:
        return [topic for topic, _ in self.heard if topic.startswith(beginning)]

    def close(self) -> None:
        for edge in self.edges:
            edge.close()
        self.republisher.close()
        self.cloud.close()


def schema_of(*names: str, unit: str = "s") -> Schema:
    return Schema(tuple(Column(name, "degC") for name in names), TimeAxis("time", unit))


@pytest.fixture
def plain() -> Iterator[Listening]:
    listening = Listening()
    yield listening
    listening.close()


@pytest.fixture
def home() -> Iterator[Listening]:
    listening = Listening(discovery="homeassistant", expire_after=600)
    yield listening
    listening.close()


def test_samples_are_sent_once(plain: Listening) -> None:
    edge = plain.edge(schema_of("a", "b"))
    plain.send(edge, [[1.5, 10.0], [2.5, np.nan]], [START, START + 60])
    plain.send(edge, [[np.nan, np.inf]], [START + 120])
    assert plain.of("readings/roof") == [
        [
            {"edge": "roof", "time": "2017-07-14T02:40:00+00:00", "readings": {"a": 1.5, "b": 10.0}},
            {"edge": "roof", "time": "2017-07-14T02:41:00+00:00", "readings": {"a": 2.5}},
        ],
        [{"edge": "roof", "time": "2017-07-14T02:42:00+00:00", "readings": {"b": "inf"}}],
    ]
    assert plain.of("readings/roof/latest") == [
        {"time": "2017-07-14T02:41:00+00:00", "values": [2.5, 10.0]},
        {"time": "2017-07-14T02:42:00+00:00", "values": [None, "inf"]},
    ]
    assert plain.republisher.counts == {"sent": 4}


def test_there_is_no_discovery_unless_asked_for(plain: Listening) -> None:
    plain.send(plain.edge(schema_of("a")), [[1.0]], [START])
    plain.ear.publish("homeassistant/status", b"online")
    plain.republisher.close()
    assert plain.topics("homeassistant/") == ["homeassistant/status"]
    assert not [topic for topic, _ in plain.heard if topic.endswith("availability")]


def test_many_samples_are_sent_in_parts(plain: Listening) -> None:
    names = [f"s{i}" for i in range(50)]
    values = np.random.default_rng(0).normal(size=(100, 50))
    plain.send(plain.edge(schema_of(*names)), values, START + np.arange(100))
    parts = plain.of("readings/roof")
    assert [len(part) for part in parts] == [40, 40, 20]
    found = [[sample["readings"][name] for name in names] for part in parts for sample in part]
    assert np.array_equal(np.array(found), values)
    assert len(plain.of("readings/roof/latest")) == 1


def test_late_readings_are_no_news(plain: Listening) -> None:
    edge = plain.edge(schema_of("a"))
    for value, time in ((1.0, START), (2.0, START - 600), (3.0, START + 60)):
        plain.send(edge, [[value]], [time])
    assert [each["values"] for each in plain.of("readings/roof/latest")] == [[1.0], [3.0]]
    assert len(plain.of("readings/roof")) == 3


@pytest.mark.parametrize(
    ("unit", "ticks", "text"),
    [("ms", START * 1000 + 5, "2017-07-14T02:40:00.005+00:00"), ("", 7, 7), ("1e-3", 1500, 1.5)],
)
def test_units_of_time(plain: Listening, unit: str, ticks: int, text: object) -> None:
    plain.send(plain.edge(schema_of("a", unit=unit)), [[1.0]], [ticks])
    assert plain.of("readings/roof")[0][0]["time"] == text
    assert plain.of("readings/roof/latest")[0]["time"] == text


def test_a_broker_that_is_away_stops_nothing(plain: Listening) -> None:
    edge = plain.edge(schema_of("a"))
    plain.transport.is_connected = False
    plain.send(edge, [[1.0]], [START])
    assert plain.republisher.counts == {"dropped": 2}
    plain.transport.is_connected = True
    plain.send(edge, [[2.0]], [START + 60])
    assert [sample["readings"] for part in plain.of("readings/roof") for sample in part] == [{"a": 2.0}]


NAMES = ['a"b', "a\\b", "a\nb", "a}}{{b", "温度", "#+/$", "", "'] }}{{ states('lock.door') }}", "\0"]


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_any_name_of_a_sensor(home: Listening, name: str) -> None:
    home.send(home.edge(schema_of("x", name)), [[1.0, 2.0]], [START])
    assert home.of("readings/roof")[0][0]["readings"] == {"x": 1.0, name: 2.0}
    configs = [json.loads(data) for topic, data in home.heard if topic.endswith("/config")]
    assert [config["name"] for config in configs] == ["x", name]
    assert configs[1]["value_template"] == "{{ value_json['values'][1] }}"
    assert all(set(topic) <= set("abcdefghijklmnopqrstuvwxyz0123456789_/") for topic in home.topics("homeassistant/"))


class TestDiscovery:
    def test_each_sensor_is_described_once(self, home: Listening) -> None:
        edge = home.edge(Schema((Column("a", "degC"), Column("b")), TimeAxis("time", "s")))
        for i in range(3):
            home.send(edge, [[1.0, 2.0]], [START + i])
        topics = home.topics("homeassistant/sensor/")
        assert len(topics) == len(set(topics)) == 2
        first, second = (json.loads(data) for topic, data in home.heard if topic in topics)
        assert first["state_topic"] == "readings/roof/latest" and first["expire_after"] == 600
        assert first["unit_of_measurement"] == "degC" and "unit_of_measurement" not in second
        assert first["device"] == second["device"] == {"identifiers": ["orthostream_roof"], "name": "roof"}
        assert first["unique_id"] != second["unique_id"]
        assert ("readings/roof/availability", b"online") in home.heard
        # Described before the first reading.
        order = [topic for topic, _ in home.heard]
        assert order.index("readings/roof/availability") < order.index("readings/roof/latest")

    def test_sensors_are_described_again_when_home_assistant_starts(self, home: Listening) -> None:
        home.send(home.edge(schema_of("a", "b")), [[1.0, 2.0]], [START])
        home.send(home.edge(schema_of("a"), "cellar"), [[1.0]], [START])
        before = {(topic, data) for topic, data in home.heard if topic.endswith(("/config", "/availability"))}
        home.heard.clear()
        home.ear.publish("homeassistant/status", b"offline")
        assert len(home.heard) == 1
        home.ear.publish("homeassistant/status", b"online")
        assert {each for each in home.heard if not each[0].endswith("/status")} == before

    def test_availability_ends(self, home: Listening) -> None:
        home.send(home.edge(schema_of("a")), [[1.0]], [START])
        home.republisher.close()
        assert home.heard[-1] == ("readings/roof/availability", b"offline")

    def test_sensors_that_are_gone_are_forgotten(self, home: Listening, tmp_path: Path) -> None:
        path = tmp_path / "out.db"
        edge = home.edge(schema_of("a", "b"), path=path)
        home.send(edge, [[1.0, 2.0]], [START])
        topics = home.topics("homeassistant/sensor/")
        home.edges.pop().close()
        home.heard.clear()
        home.send(home.edge(schema_of("b", "c"), path=path), [[5.0, 6.0]], [START - 60])
        assert [topic for topic, data in home.heard if topic in topics and not data] == [topics[0]]
        templates = {
            json.loads(data)["name"]: json.loads(data)["value_template"]
            for topic, data in home.heard
            if topic.endswith("/config") and data
        }
        assert templates == {"b": "{{ value_json['values'][0] }}", "c": "{{ value_json['values'][1] }}"}
        # A new stream begins anew, whatever its clock says.
        assert home.of("readings/roof/latest")[-1]["values"] == [5.0, 6.0]

    def test_what_is_to_be_retained_goes_its_own_way(self) -> None:
        retained: dict[str, bytes] = {}

        def announce(topic: str, data: bytes) -> bool:
            retained[topic] = data
            return True

        listening = Listening(discovery="ha", root="city/readings", announce=announce)
        listening.send(listening.edge(schema_of("a")), [[1.0]], [START])
        assert not listening.topics("ha/") and listening.of("city/readings/roof/latest")
        assert sorted(topic.split("/")[0] for topic in retained) == ["city", "ha"]
        listening.close()
        assert retained["city/readings/roof/availability"] == b"offline"


@pytest.mark.parametrize("topic", ["", "orthostream", "orthostream/readings", "a/+", "#", "/a", "a/", "$SYS", "a\0"])
def test_topics_that_cannot_be(topic: str) -> None:
    for words in ({"root": topic}, {"discovery": topic}):
        with pytest.raises(ValueError, match="a topic must have"):
            Republisher(MemoryBroker().transport(), **words)


def test_seconds_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="expire_after"):
        Republisher(MemoryBroker().transport(), expire_after=0)
