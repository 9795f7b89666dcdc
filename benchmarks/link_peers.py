"""Other ways to put samples into messages: part of `orthostream bench link`.

Decimal numbers are rounded as coarsely as the bound allows; nothing is written that a format does not ask for.
"""

from __future__ import annotations

import json
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from orthostream._typing import FloatArray, IntArray
from orthostream.compression import Column, Encoder, MaxError, Schema, TimeAxis
from orthostream.compression.varint import put_varint
from orthostream.link.messages import Frames, Opening
from orthostream.link.names import topic_of_readings

#: The data type "float" of Sparkplug B.
_FLOAT = 9
#: Labels of SenML in CBOR, RFC 8428: base name, base time, base unit, name, value, time.
_BASE_NAME, _BASE_TIME, _BASE_UNIT, _NAME, _VALUE, _TIME = -2, -3, -4, 0, 2, 6


class Peer(ABC):
    """A format of messages.

    Parameters
    ----------
    sensors : sequence of str
    bound : float
        Largest error of a reading.
    """

    name: str
    topic = "city/roof"

    def __init__(self, sensors: Sequence[str], bound: float) -> None:
        self.sensors, self.bound = tuple(sensors), bound

    def birth(self, time: int) -> tuple[str, bytes] | None:
        """Return a topic and a message that must come before all others, if there is one."""
        return None

    @abstractmethod
    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        """Return the message of some samples, times in seconds; None if there is nothing to tell."""


def rounded(rows: FloatArray, bound: float) -> FloatArray:
    """Return readings on the coarsest grid that keeps the bound.

    >>> rounded(np.array([20.4, -3.7]), 0.5)
    array([20., -4.])
    """
    return np.asarray(np.round(rows / (2.0 * bound)) * (2.0 * bound))


class OurFrames(Peer):
    """Messages as our edge makes them, sent as the others send theirs: nobody says that they have arrived."""

    name = "ours, not acknowledged"
    # As long as our edge's, and not one that a cloud listens to.
    topic = topic_of_readings("roof").removesuffix("up") + "no"

    def __init__(self, sensors: Sequence[str], bound: float) -> None:
        super().__init__(sensors, bound)
        schema = Schema(tuple(Column(name, "degC") for name in sensors), TimeAxis("time", "s"))
        self._encoder = Encoder(schema, MaxError(bound), samples_per_frame=None, key_every=1 << 40)
        self._sequence = 0

    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        frames = tuple(map(bytes, self._encoder.push(rows, times)))
        sequence, self._sequence = self._sequence, self._sequence + 1
        if sequence == 0:
            return Opening(bytes(8), 0, self._encoder.header, frames).to_bytes()
        return Frames(bytes(4), sequence, frames).to_bytes()


class Sparkplug(Peer):
    """Sparkplug B: protobuf, each metric with alias, timestamp and float; names are told once."""

    name = "Sparkplug B"
    topic = "spBv1.0/city/NDATA/roof"

    def __init__(self, sensors: Sequence[str], bound: float) -> None:
        super().__init__(sensors, bound)
        self._sequence = 0

    def birth(self, time: int) -> tuple[str, bytes]:
        metrics = []
        for alias, name in enumerate(self.sensors):
            text = name.encode()
            out = bytearray(b"\x0a")
            put_varint(out, len(text))
            out += text + _alias_and_time(alias, time)
            metrics.append(bytes(out) + bytes([0x20, _FLOAT, 0x38, 1]))
        return "spBv1.0/city/NBIRTH/roof", self._payload(metrics, time)

    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        metrics = []
        for row, time in zip(rows.tolist(), times.tolist(), strict=True):
            for alias, value in enumerate(row):
                body = self._value(alias, value)
                if body is not None:
                    metrics.append(_alias_and_time(alias, time) + body)
        return self._payload(metrics, int(times[-1])) if metrics else None

    def _value(self, alias: int, value: float) -> bytes | None:
        """Return the value of a metric as fields; None if it is not sent."""
        return struct.pack("<Bf", 0x65, value) if value == value else None

    def _payload(self, metrics: list[bytes], time: int) -> bytes:
        out = bytearray(b"\x08")
        put_varint(out, 1000 * time)
        for metric in metrics:
            out.append(0x12)
            put_varint(out, len(metric))
            out += metric
        out.append(0x18)
        put_varint(out, self._sequence)
        self._sequence = (self._sequence + 1) % 256
        return bytes(out)


class SparkplugChanges(Sparkplug):
    """The same by exception: only metrics that are farther than the bound from what was sent last."""

    name = "Sparkplug B, changes only"

    def __init__(self, sensors: Sequence[str], bound: float) -> None:
        super().__init__(sensors, bound)
        self._last: list[float | None] = [None] * len(self.sensors)

    def _value(self, alias: int, value: float) -> bytes | None:
        last = self._last[alias]
        if value != value:
            self._last[alias] = None
            return None if last is None else b"\x38\x01"
        if last is not None and abs(value - last) <= self.bound:
            return None
        self._last[alias] = value
        return super()._value(alias, value)


class SenmlCbor(Peer):
    """SenML in CBOR, RFC 8428: sample by sample, or sensor by sensor where that is shorter."""

    name = "SenML-CBOR"

    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        values = rounded(rows, self.bound)
        packs = (self._by_sample(values, times), self._by_sensor(values, times))
        found = min((cbor(pack) for pack in packs), key=len)
        return found if packs[0] else None

    def _by_sample(self, rows: FloatArray, times: IntArray) -> list[dict[int, Any]]:
        pack: list[dict[int, Any]] = []
        for row, time in zip(rows.tolist(), times.tolist(), strict=True):
            base = {_BASE_TIME: time} if pack else {_BASE_NAME: "roof/", _BASE_TIME: time, _BASE_UNIT: "Cel"}
            for name, value in zip(self.sensors, row, strict=True):
                if value == value:
                    pack.append(base | {_NAME: name, _VALUE: value})
                    base = {}
        return pack

    def _by_sensor(self, rows: FloatArray, times: IntArray) -> list[dict[int, Any]]:
        pack: list[dict[int, Any]] = []
        start = int(times[0])
        for name, column in zip(self.sensors, rows.T.tolist(), strict=True):
            base = {_BASE_NAME: f"roof/{name}"} | ({} if pack else {_BASE_TIME: start, _BASE_UNIT: "Cel"})
            for value, time in zip(column, times.tolist(), strict=True):
                if value == value:
                    pack.append(base | ({_TIME: time - start} if time > start else {}) | {_VALUE: value})
                    base = {}
        return pack


class Json(Peer):
    """One object for each sample, with the name of each sensor."""

    name = "JSON"

    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        samples = []
        for row, time in zip(rounded(rows, self.bound).tolist(), times.tolist(), strict=True):
            there = {name: _number(x) for name, x in zip(self.sensors, row, strict=True) if x == x}
            samples.append({"time": time} | there)
        return _compact(samples if len(samples) > 1 else samples[0])


class JsonZlib(Json):
    """The same, each message compressed."""

    name = "JSON + zlib"

    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        plain = super().encode(rows, times)
        return None if plain is None else zlib.compress(plain, 9)


class JsonRowsZlib(Peer):
    """Lists of numbers in an order that both sides know, each message compressed."""

    name = "JSON without names + zlib"

    def encode(self, rows: FloatArray, times: IntArray) -> bytes | None:
        samples = [[_number(x) if x == x else None for x in row] for row in rounded(rows, self.bound).tolist()]
        return zlib.compress(_compact([times.tolist(), samples]), 9)


PEERS: tuple[type[Peer], ...] = (OurFrames, Sparkplug, SparkplugChanges, SenmlCbor, Json, JsonZlib, JsonRowsZlib)


def cbor(value: Any) -> bytes:
    """Return a value in CBOR, RFC 8949, as short as it can be without a change.

    >>> cbor([{-2: "ab", 2: 1.5}, 300]).hex()
    '82a22162616202f93e0019012c'
    """
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(cbor, value))
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(cbor(key) + cbor(each) for key, each in value.items())
    if isinstance(value, str):
        text = value.encode()
        return _head(3, len(text)) + text
    if float(value).is_integer():
        number = int(value)
        return _head(0, number) if number >= 0 else _head(1, -1 - number)
    for head, code in ((b"\xf9", ">e"), (b"\xfa", ">f")):
        if abs(value) < 65504.0 and struct.unpack(code, struct.pack(code, value))[0] == value:
            return head + struct.pack(code, value)
    return b"\xfb" + struct.pack(">d", value)


def _head(kind: int, number: int) -> bytes:
    if number < 24:
        return bytes([kind << 5 | number])
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return bytes([kind << 5 | 23 + size.bit_length()]) + number.to_bytes(size, "big")


def _alias_and_time(alias: int, time: int) -> bytes:
    out = bytearray(b"\x10")
    put_varint(out, alias)
    out.append(0x18)
    put_varint(out, 1000 * time)
    return bytes(out)


def _number(value: float) -> float | int:
    return int(value) if value.is_integer() else round(value, 6)


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
