"""Decoded readings as JSON over a broker, for Telegraf, Home Assistant and other programs.

For each edge there are two topics; they begin with ``readings`` unless another beginning is chosen.

``readings/EDGE`` has lists of samples, without readings that are missing ::

    [{"edge": "roof", "time": "2017-07-14T02:40:00+00:00", "readings": {"a": 1.5, "b": 2.5}}]

and Telegraf takes them with ::

    [[inputs.mqtt_consumer]]
      servers = ["tcp://127.0.0.1:1883"]
      topics = ["readings/+"]
      data_format = "json"
      tag_keys = ["edge"]
      json_time_key = "time"
      json_time_format = "2006-01-02T15:04:05Z07:00"

``readings/EDGE/latest`` has the newest reading of each sensor, in the order of the edge's sensors, and null for one
that had no reading in the last message ::

    {"time": "2017-07-14T02:40:00+00:00", "values": [1.5, null]}

With discovery, Home Assistant is told of every sensor (``homeassistant/sensor/.../config``), and for every edge whether
its readings are coming (``readings/EDGE/availability``). It is told again whenever it says that it has started
(``homeassistant/status``), so that it works without retained messages too.

What the broker does not take is not sent again: all readings are in the store.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable

import numpy as np

from orthostream._typing import FloatArray
from orthostream.compression.schema import Schema
from orthostream.link.iso_times import json_number, json_times
from orthostream.link.names import ROOT
from orthostream.link.receiving import Receiving
from orthostream.link.store import NewMessage
from orthostream.link.transport import Transport

#: Readings in a message at most, but for one sample.
_READINGS_AT_ONCE = 2000
_ONLINE, _OFFLINE = b"online", b"offline"
#: Sends a message to a topic, and returns False if that is not possible at present.
Publish = Callable[[str, bytes], bool]


class Republisher:
    """A listener for `Cloud` that sends decoded readings as JSON.

    Parameters
    ----------
    transport : Transport
        May be the one of the cloud.
    root : str, default "readings"
        What topics begin with.
    discovery : str, optional
        The first level of Home Assistant's discovery topics, usually "homeassistant"; None for no discovery.
    expire_after : int, optional
        Seconds after which Home Assistant takes a sensor for unavailable if nothing comes.
    announce : callable, optional
        Sends what a broker should retain: the descriptions of sensors, and whether they are available. By default the
        transport does, and nothing is retained.

    Attributes
    ----------
    counts : Counter
        Messages "sent" and "dropped".

    Examples
    --------
    >>> from orthostream.link import MemoryBroker
    >>> republisher = Republisher(MemoryBroker().transport(), root="city/readings")
    >>> republisher.counts["sent"]
    0
    """

    def __init__(
        self,
        transport: Transport,
        *,
        root: str = "readings",
        discovery: str | None = None,
        expire_after: int | None = None,
        announce: Publish | None = None,
    ) -> None:
        self._root = _check_topic(root)
        self._discovery = None if discovery is None else _check_topic(discovery)
        if expire_after is not None and expire_after < 1:
            raise ValueError(f"expire_after must be 1 or more seconds, got {expire_after!r}.")
        self._expire_after = expire_after
        self._publish: Publish = transport.publish
        self._announce: Publish = announce or transport.publish
        self._schemas: dict[str, tuple[bytes, Schema]] = {}
        self._newest: dict[str, int] = {}
        self.counts: Counter[str] = Counter()
        if self._discovery is not None:
            transport.subscribe([f"{self._discovery}/status"], self._home_assistant_said)

    def __call__(self, edge: str, message: NewMessage, receiving: Receiving) -> None:
        """Send the samples of a message that was stored."""
        self._learn(edge, message.boot, receiving.header.schema)
        if not len(message.values):
            return
        schema = self._schemas[edge][1]
        assert schema.time is not None
        times = json_times(message.times, schema.time.unit)
        names = [json.dumps(column.name, ensure_ascii=False) for column in schema.columns]
        samples = [_sample(edge, time, names, row) for time, row in zip(times, message.values.tolist(), strict=True)]
        at_once = max(1, _READINGS_AT_ONCE // len(names))
        for start in range(0, len(samples), at_once):
            text = ",\n".join(samples[start : start + at_once])
            self._send(self._publish, f"{self._root}/{edge}", f"[{text}]".encode())
        newest = int(np.argmax(message.times))
        # Readings that come late, after a time without a connection, are no news.
        if int(message.times[newest]) >= self._newest.get(edge, -(2**63)):
            self._newest[edge] = int(message.times[newest])
            values = ", ".join(json_number(value) for value in _last_readings(message.values))
            self._send(
                self._publish,
                f"{self._root}/{edge}/latest",
                f'{{"time": {times[newest]}, "values": [{values}]}}'.encode(),
            )

    def close(self) -> None:
        """Say that no more readings are coming."""
        if self._discovery is not None:
            for edge in list(self._schemas):
                self._send(self._announce, self._availability(edge), _OFFLINE)

    def _send(self, publish: Publish, topic: str, data: bytes) -> None:
        self.counts["sent" if publish(topic, data) else "dropped"] += 1

    def _learn(self, edge: str, boot: bytes, schema: Schema) -> None:
        """Take note of the sensors of an edge; describe them if they are new."""
        known = self._schemas.get(edge)
        if known is not None and known[0] == boot:
            return
        self._schemas[edge] = boot, schema
        self._newest.pop(edge, None)
        if self._discovery is None:
            return
        gone = {column.name for column in known[1].columns} if known is not None else set()
        for name in sorted(gone - {column.name for column in schema.columns}):
            # An empty description makes Home Assistant forget a sensor.
            self._send(self._announce, self._description_topic(edge, name), b"")
        self._describe(edge, schema)

    def _home_assistant_said(self, topic: str, data: bytes) -> None:
        if data == _ONLINE:
            for edge, (_, schema) in list(self._schemas.items()):
                self._describe(edge, schema)

    def _describe(self, edge: str, schema: Schema) -> None:
        described = set()
        for place, column in enumerate(schema.columns):
            if column.name in described:
                continue
            described.add(column.name)
            # The template has a number and no name in it: names come from edges, and templates are programs.
            description: dict[str, object] = {
                "name": column.name,
                "unique_id": f"orthostream_{_digest(edge)}_{_digest(column.name)}",
                "state_topic": f"{self._root}/{edge}/latest",
                "value_template": f"{{{{ value_json['values'][{place}] }}}}",
                "state_class": "measurement",
                "availability_topic": self._availability(edge),
                "device": {"identifiers": [f"orthostream_{edge}"], "name": edge},
            }
            if column.unit:
                description["unit_of_measurement"] = column.unit
            if self._expire_after is not None:
                description["expire_after"] = self._expire_after
            data = json.dumps(description, ensure_ascii=False).encode()
            self._send(self._announce, self._description_topic(edge, column.name), data)
        self._send(self._announce, self._availability(edge), _ONLINE)

    def _availability(self, edge: str) -> str:
        return f"{self._root}/{edge}/availability"

    def _description_topic(self, edge: str, sensor: str) -> str:
        return f"{self._discovery}/sensor/orthostream_{_digest(edge)}/{_digest(sensor)}/config"


def _sample(edge: str, time: str, names: list[str], row: list[float]) -> str:
    readings = ", ".join(
        f"{name}: {json_number(value)}" for name, value in zip(names, row, strict=True) if value == value
    )
    return f'{{"edge": "{edge}", "time": {time}, "readings": {{{readings}}}}}'


def _last_readings(values: FloatArray) -> list[float]:
    """Return the last reading of each sensor that is not missing, NaN if all are."""
    there = ~np.isnan(values)
    last = len(values) - 1 - np.argmax(there[::-1], axis=0)
    found: list[float] = values[last, np.arange(values.shape[1])].tolist()
    return found


def _digest(name: str) -> str:
    """Return what stands for a name in topics and identifiers, which take few characters."""
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _check_topic(topic: str) -> str:
    is_ours = topic == ROOT or topic.startswith(f"{ROOT}/")
    if not topic or is_ours or set(topic) & set("+#\0") or topic[0] in "/$" or topic[-1] == "/":
        raise ValueError(
            f"a topic must have none of '+', '#', no '/' at its ends, and not begin with {ROOT!r}, got {topic!r}."
        )
    return topic
