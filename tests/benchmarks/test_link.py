"""The benchmark of the link, on little: that formats can be read again, and that what is counted is what was sent."""

from __future__ import annotations

import json
import struct
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from orthostream.cli import bench
from orthostream.cli.main import main
from orthostream.compression import Decoder
from orthostream.link.messages import read_message

pytest.importorskip("paho.mqtt")

link = bench._load("link")
figure = bench._load("link_figure")
packets = bench._load("link_packets")
peers = bench._load("link_peers")
readings_of = bench._load("link_readings")
restarts = bench._load("link_restarts")
wire = bench._load("link_wire")

SENSORS = ("3", "140", "142")
ROWS = np.array([[20.0, -3.0, np.nan], [20.0, 300.0, 1.0], [np.nan, 301.0, 1.0]])
TIMES = np.array([1_483_228_800, 1_483_228_860, 1_483_228_920])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    found = readings_of.hourly_readings(48)
    return found._replace(rows=found.rows[:, :5], sensors=found.sensors[:5])


def uncbor(data: bytes, at: int = 0) -> tuple[object, int]:
    """Return what CBOR stands for, and where it ends."""
    kind, short = data[at] >> 5, data[at] & 31
    at += 1
    if kind == 7:
        code = {25: ">e", 26: ">f", 27: ">d"}[short]
        return struct.unpack_from(code, data, at)[0], at + struct.calcsize(code)
    size = 1 << short - 24 if short >= 24 else 0
    number = int.from_bytes(data[at : at + size], "big") if size else short
    at += size
    if kind <= 1:
        return (number if kind == 0 else -1 - number), at
    if kind == 3:
        return data[at : at + number].decode(), at + number
    parts = []
    for _ in range(number * (kind - 3)):
        part, at = uncbor(data, at)
        parts.append(part)
    return (parts if kind == 4 else dict(zip(parts[::2], parts[1::2], strict=True))), at


def resolved(pack: list[dict[int, object]]) -> set[tuple[object, ...]]:
    """Return the name, time and value of all records of SenML."""
    base = {-2: "", -3: 0}
    found = set()
    for record in pack:
        base |= {key: value for key, value in record.items() if key in base}
        found.add((base[-2] + record.get(0, ""), base[-3] + record.get(6, 0), record[2]))
    return found


def fields(data: bytes) -> list[tuple[int, object]]:
    """Return the fields of a message of protobuf: their numbers and values."""
    found: list[tuple[int, object]] = []
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 5:
            found.append((tag >> 3, struct.unpack_from("<f", data, at)[0]))
            at += 4
        elif tag & 7 == 2:
            size = varint()
            found.append((tag >> 3, data[at : at + size]))
            at += size
        else:
            assert tag & 7 == 0
            found.append((tag >> 3, varint()))
    return found


def expected() -> set[tuple[object, ...]]:
    return {
        (SENSORS[j], int(TIMES[i]), float(ROWS[i, j])) for i in range(3) for j in range(3) if not np.isnan(ROWS[i, j])
    }


def test_cbor_comes_back() -> None:
    value = [{-2: "roof/", 2: 1.5}, {0: "x" * 30, 2: 0.1, 6: 70_000}, {2: -300}, {2: 1e-3}, list(range(25))]
    data = peers.cbor(value)
    assert uncbor(data) == (value, len(data))


@pytest.mark.parametrize("way", ["_by_sample", "_by_sensor"])
def test_senml(way: str) -> None:
    peer = peers.SenmlCbor(SENSORS, 0.5)
    pack, _ = uncbor(peers.cbor(getattr(peer, way)(ROWS, TIMES)))
    assert {(name.removeprefix("roof/"), *rest) for name, *rest in resolved(pack)} == expected()
    assert len(peer.encode(ROWS, TIMES)) <= len(peers.cbor(getattr(peer, way)(ROWS, TIMES)))
    assert peer.encode(np.full((1, 3), np.nan), TIMES[:1]) is None


def test_sparkplug() -> None:
    peer = peers.Sparkplug(SENSORS, 0.5)
    _, birth = peer.birth(int(TIMES[0]))
    metrics = [dict(fields(body)) for number, body in fields(birth) if number == 2]
    names = {metric[2]: metric[1].decode() for metric in metrics}
    assert tuple(names.values()) == SENSORS
    payload = fields(peer.encode(ROWS, TIMES))
    assert (1, 1000 * int(TIMES[-1])) in payload and (3, 1) in payload
    metrics = [dict(fields(body)) for number, body in payload if number == 2]
    assert {(names[each[2]], each[3] // 1000, each[12]) for each in metrics} == expected()


def test_sparkplug_changes() -> None:
    peer = peers.SparkplugChanges(SENSORS, 0.5)
    rows = np.array([[20.0, -3.0, np.nan], [20.4, -3.6, np.nan], [20.6, np.nan, 5.0], [20.6, np.nan, 5.0]])
    values = np.full(3, np.nan)
    for i, row in enumerate(rows):
        data = peer.encode(row[None], TIMES[:1] + i)
        assert (data is None) == (i == 3)
        for number, body in fields(data or b""):
            if number == 2:
                metric = dict(fields(body))
                values[metric[2]] = np.nan if 7 in metric else metric[12]
        np.testing.assert_allclose(values, row, atol=0.5)


def test_json() -> None:
    plain = json.loads(peers.Json(SENSORS, 0.5).encode(ROWS, TIMES))
    assert {(k, s["time"], float(v)) for s in plain for k, v in s.items() if k != "time"} == expected()
    assert isinstance(json.loads(peers.Json(SENSORS, 0.5).encode(ROWS[:1], TIMES[:1])), dict)
    packed = peers.JsonZlib(SENSORS, 0.5).encode(ROWS, TIMES)
    assert zlib.decompress(packed) == peers.Json(SENSORS, 0.5).encode(ROWS, TIMES)
    assert len(peers.JsonRowsZlib(SENSORS, 0.5).encode(ROWS, TIMES)) < 60


def test_our_frames_can_be_decoded() -> None:
    peer = peers.OurFrames(SENSORS, 0.5)
    first, second = (read_message(peer.encode(ROWS[i:][:1], TIMES[i:][:1])) for i in range(2))
    decoder = Decoder()
    decoder.push(first.header)
    for i, message in enumerate((first, second)):
        np.testing.assert_allclose(decoder.push(message.frames[0]).values[0], ROWS[i], atol=0.5)


def segment(sequence: int, acknowledged: int, flags: int, payload: bytes = b"") -> bytes:
    return struct.pack(">HHIIBBHHH", 1, 2, sequence, acknowledged, 5 << 4, flags, 0, 0, 0) + payload


def test_a_connection_is_quiet_once_all_is_acknowledged() -> None:
    connection = packets._Connection()
    hello = b"\x10\x10\0\4MQTT\4\2\0\x1e\0\4roof"
    last = 2**32 - 1
    for side, data in ((0, segment(last, 0, 2)), (1, segment(70, 0, 18)), (0, segment(0, 71, 16))):
        connection.add(side, 20 + len(data), data)
    time.sleep(0.03)
    assert connection.is_quiet
    data = segment(0, 71, 24, hello)
    connection.add(0, 20 + len(data), data)
    time.sleep(0.03)
    assert not connection.is_quiet and connection.client_id == "roof"
    connection.add(1, 40, segment(71, len(hello), 16))
    assert connection.traffic == (5, 5 * 40 + len(hello), len(hello)) and not connection.is_quiet
    time.sleep(0.03)
    assert connection.is_quiet


@pytest.fixture(params=["counted", "estimated", "embedded broker"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "estimated":
        monkeypatch.setattr(wire, "meter_of", lambda port: packets.EstimateMeter())
    elif request.param == "embedded broker":
        pytest.importorskip("amqtt")
        monkeypatch.setattr(wire, "mosquitto", lambda folder: wire.contextmanager(lambda: iter([None]))())
    monkeypatch.setattr(wire, "DELAYS", {0: "0", 600: "10 min"})
    return request.param


def test_wire(
    few, way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "day_of_readings", lambda n: few.part(0, 13))
    monkeypatch.setattr(wire, "bytes_of_ping", lambda address, meter: 160.0)
    options = SimpleNamespace(quick=True, only="wire", faults=False, json=tmp_path / "a.json", figure=None)
    if way == "counted":
        pytest.importorskip("matplotlib")
        options.figure = tmp_path / "a.png"
    assert link.run(options) == 0
    text = capsys.readouterr().out
    assert "max delay 10 min" in text and "per reading" in text and "one every 30 s" in text.lower()
    assert ("ESTIMATED" in text) >= (way == "estimated")
    assert ("embedded" in text) >= (way == "embedded broker")
    values = {(r["method"], r["setting"], r["metric"]): r["value"] for r in json.loads(options.json.read_text())}
    for delay, messages in (("0", 13), ("10 min", 2)):
        for method in (wire.OURS, *(peer.name for peer in peers.PEERS)):
            found = {metric: values[method, f"wire, max delay {delay}", metric] for metric in ("packets", "wire_bytes")}
            assert found["packets"] > 2 * messages and found["wire_bytes"] > 50 * found["packets"]
            counted = values[method, f"wire, max delay {delay}", "messages"]
            assert counted == messages or "changes" in method
    if options.figure:
        assert options.figure.read_bytes()[:4] == b"\x89PNG"


def test_what_is_counted_is_what_was_sent(tmp_path: Path) -> None:
    with wire.broker(tmp_path) as (_, address):
        meter = packets.meter_of(int(address.rpartition(":")[2]))
        if not isinstance(meter, packets.PacketMeter):
            pytest.skip("packets cannot be seen by this user")
        with meter, wire.MqttTransport(address, client_id="one") as transport:
            wire._wait(lambda: transport.is_connected, "no broker")
            wire._wait(lambda: meter.is_quiet("one"), "not quiet")
            before = meter.traffic("one")
            wire._publish(transport, "city/roof", b"x" * 300)
            wire._wait(lambda: meter.traffic("one").payload > before.payload, "nothing was seen")
            wire._wait(lambda: meter.is_quiet("one"), "not quiet")
            after = meter.traffic("one")
            assert after.payload - before.payload == packets.bytes_of_publishing("city/roof", b"x" * 300)
            headers = after.n_bytes - before.n_bytes - (after.payload - before.payload)
            assert headers % (after.packets - before.packets) == 0 and after.packets - before.packets in (2, 3, 4)
            assert meter.n_dropped == 0


def test_restarts(few, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(restarts, "hourly_readings", lambda n: few)
    options = SimpleNamespace(quick=True, only="restarts", faults=False, json=None, figure=None)
    assert link.run(options) == 0
    text = capsys.readouterr().out
    assert "48 hourly samples of 5 sensors" in text and "edge and cloud" in text
    records = restarts.run_restarts(quick=True)
    counts = {record.method: record.value for record in records if record.metric == "restarts"}
    assert counts == {"no restart": 0, "edge": 2, "cloud": 2, "edge and cloud": 4}
    expensive = [record._replace(value=1.02) for record in records if record.metric == "times_no_restart"]
    assert restarts.is_cheap(records) and not restarts.is_cheap(expensive)


def test_lost_readings_are_found(few, tmp_path: Path) -> None:
    restarts.run_year(few, (), tmp_path)
    with wire_store(tmp_path) as store:
        wire.check_stored(store, few, 3600)
        with pytest.raises(AssertionError, match="lost or doubled"):
            wire.check_stored(store, few.part(1, 48), 3600)
        with pytest.raises(AssertionError, match="beyond the bound"):
            wire.check_stored(store, few._replace(rows=few.rows + 2.0), 3600)


def wire_store(folder: Path):
    from orthostream.link import open_store

    return open_store(str(folder / "store.db"))


def test_other_parts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = []
    parts = {"run_faults": lambda options: 3, "run_load": lambda options: seen.append(options.json) or 1}
    monkeypatch.setattr(link, "_part", lambda module, function: parts[function])
    monkeypatch.setattr(link, "run_wire", lambda quick: [link.Record("link", "ours", "wire", "bytes", 1.0)])
    monkeypatch.setattr(link, "run_restarts", lambda quick: [])
    options = SimpleNamespace(quick=True, only=None, faults=True, json=None, figure=None)
    assert link.run(options) == 3
    options.faults, options.json = False, tmp_path / "a.json"
    assert link.run(options) == 1 and seen == [tmp_path / "a-load.json"]
    options.only = "load"
    assert link.run(options) == 1 and seen[-1] == tmp_path / "a.json"
    monkeypatch.undo()
    assert link._part("link_nothing", "run") is None


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--seconds", "5"], "--seconds belongs to the faults: add --faults"),
        (["--faults", "--figure", "a.png"], "--faults draws no picture"),
        (["--faults", "--only", "wire"], "with --faults, --only is one of kills, cuts, schedules, damage"),
        (["--only", "kills"], "without --faults, --only is one of wire, restarts, load"),
    ],
)
def test_options_that_do_not_fit(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "link", *arguments]) == 2
    assert told in capsys.readouterr().err
