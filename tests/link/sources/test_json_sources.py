"""JSON from a pipe and from an MQTT topic: the first samples fix the sensors, bad ones are left out."""

from __future__ import annotations

import json
import os
import threading
import time

import numpy as np
import pytest

from orthostream.link import MemoryBroker
from orthostream.link.sources import JsonLinesSource, MqttReadingsSource, Samples
from orthostream.link.sources.json_samples import JsonSamples, read_object


def piped(data: bytes, **options) -> JsonLinesSource:
    reader, writer = os.pipe()

    def write() -> None:
        with os.fdopen(writer, "wb") as file:
            file.write(data)

    threading.Thread(target=write, daemon=True).start()
    return JsonLinesSource(reader, **options)


def all_of(source: JsonLinesSource) -> tuple[np.ndarray, list[int]]:
    rows, times = [np.empty((0, len(source.schema.columns)))], []
    while not source.is_finished:
        samples = source.poll(1.0)
        if samples is not None:
            rows.append(samples.readings)
            times += samples.times.tolist()
    return np.concatenate(rows), times


def test_the_first_lines_fix_the_sensors() -> None:
    lines = [{"time": 0, "a": 1}, {"time": 1, "b": 2.5}, {"time": 2, "a": None, "b": True}]
    with piped("".join(json.dumps(line) + "\n" for line in lines).encode()) as source:
        assert [column.name for column in source.schema.columns] == ["a", "b"]
        rows, times = all_of(source)
    np.testing.assert_array_equal(rows, [[1.0, np.nan], [np.nan, 2.5], [np.nan, 1.0]])
    assert times == [0, 1000, 2000]


def test_given_sensors_and_those_of_the_mark_are_kept() -> None:
    with piped(b'{"time": 0, "b": 2, "x": 1}', sensors=["a", "b"]) as source:
        samples = source.poll(1.0)
        assert source.counts == {"values of unknown sensors": 1}
    assert samples is not None and samples.readings.tolist()[0][1] == 2.0
    with piped(b'{"time": 0, "b": 3}\n', mark=samples.mark) as source:
        assert [column.name for column in source.schema.columns] == ["a", "b"]
        assert all_of(source)[0][0, 1] == 3.0


def test_bad_lines_are_left_out() -> None:
    bad = [b"{", b"[1]", b"7", b'{"a": "x"}', b'{"a": 1e999}', b'{"a": [1]}', b'{"time": "noon", "a": 1}', b"\xff"]
    bad += [b'{"time": 1e300, "a": 1}', b'{"time": 1%s, "a": 1}' % (b"0" * 400), b"[" * 100_000, b"1" * 5000]
    with piped(b'{"time": 0, "a": 1}\n\n' + b"\n".join(bad) + b'\n{"time": 1, "a": 2}', sensors=["a"]) as source:
        assert all_of(source)[1] == [0, 1000]
        assert source.counts == {"samples refused": len(bad)}


@pytest.mark.parametrize(
    ("time_", "tick"),
    [
        (1_500_000_000, 1_500_000_000_000),
        (1.25, 1250),
        (1_500_000_000_123, 1_500_000_000_123),
        (1_500_000_000_123_456, 1_500_000_000_123),
        (1_500_000_000_123_456_789, 1_500_000_000_123),
        ("2017-07-14T02:40:00Z", 1_500_000_000_000),
        ("2017-07-14T04:40:00.5+02:00", 1_500_000_000_500),
        ("2017-07-14 02:40", 1_500_000_000_000),
    ],
)
def test_times(time_: float | str, tick: int) -> None:
    assert JsonSamples(["a"]).read({"time": time_, "a": 1})[1] == tick


def test_a_sample_without_a_time_gets_that_of_its_arrival() -> None:
    _, tick = JsonSamples(["a"], unit="s").read({"a": 1})
    assert abs(tick - time.time()) < 5


def test_sensors_must_be_some_and_different() -> None:
    with pytest.raises(ValueError, match="1 to 4096 sensors"):
        JsonSamples([])
    with pytest.raises(ValueError, match="same name"):
        JsonSamples(["a", "a"])
    with pytest.raises(ValueError, match="one of s, ms, us, ns"):
        JsonSamples(["a"], unit="h")
    with pytest.raises(ValueError, match="JSON object"):
        read_object("3")


def test_a_pipe_without_samples_says_so() -> None:
    with pytest.raises(ValueError, match="name them with --sensors"):
        piped(b"")


def test_a_silent_pipe_does_not_hold_up() -> None:
    reader, writer = os.pipe()
    source = JsonLinesSource(reader, sensors=["a"])
    begin = time.monotonic()
    assert source.poll(0.05) is None and time.monotonic() - begin < 2.0
    os.write(writer, b'{"time": 1, "a": 1}\n')
    samples = source.poll(5.0)
    assert samples is not None and samples.times.tolist() == [1000]
    os.close(writer)
    source.poll(1.0)
    assert source.is_finished
    source.close()
    stop = threading.Event()
    stop.set()
    reader, writer = os.pipe()
    with pytest.raises(ValueError, match="there was no sample"):
        JsonLinesSource(reader, stop=stop)
    os.close(writer)


def test_readings_come_by_mqtt() -> None:
    broker = MemoryBroker()
    sensors = broker.transport()
    with MqttReadingsSource(broker.transport(), "house/#", sensors=["roof", "cellar"]) as source:
        assert source.is_live and source.poll(0.01) is None
        sensors.publish("house/all", b'{"time": 5, "roof": 1.5, "cellar": 2}')
        sensors.publish("house/cellar", b"3.5")
        sensors.publish("house/cellar", b"rubbish")
        sensors.publish("house/cellar", b" " * (1 << 21))
        samples = source.poll(1.0)
        assert source.counts == {"samples refused": 2}
    assert isinstance(samples, Samples)
    np.testing.assert_array_equal(samples.readings, [[1.5, 2.0], [np.nan, 3.5]])
    assert samples.times[0] == 5000


def test_a_flood_is_bounded_and_counted() -> None:
    broker = MemoryBroker()
    sensors = broker.transport()
    with MqttReadingsSource(broker.transport(), "t", sensors=["a"]) as source:
        for _ in range(10_500):
            sensors.publish("t", b'{"a": 1}')
        count = 0
        while (samples := source.poll()) is not None:
            count += len(samples.times)
        assert count == 10_000 and source.counts == {"messages left out, too many at once": 500}
