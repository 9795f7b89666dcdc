"""Services: they go on whatever fails, stop when told, and can be watched."""

from __future__ import annotations

import json
import logging
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.link.one_link import check

from orthostream.compression import Lossless, MaxError
from orthostream.link import Cloud, Edge, MemoryBroker, MemoryTransport, Outbox, StoreError
from orthostream.link.service import CloudService, EdgeService, Service
from orthostream.link.sources import Samples, SimulatorSource, Source
from orthostream.link.status_server import StatusServer


def new_edge(folder: Path, source: Source, transport: MemoryTransport, **options) -> Edge:
    settings = {"max_delay": 3600.0} | options
    target = Lossless() if isinstance(source, Noise) else MaxError(0.5)
    return Edge("roof", source.schema, target, folder / "outbox", transport, **settings)


@contextmanager
def running(service: Service) -> Iterator[threading.Event]:
    stop = threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            service.run(stop)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join(20.0)
        assert not thread.is_alive()
    assert not errors, errors


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def city(**options) -> SimulatorSource:
    return SimulatorSource(n_samples=600, n_sensors=8, seed=3, **options)


class Noise(Source):
    """Samples that cannot be compressed, so that an outbox is full soon."""

    def __init__(self, pieces: int, *, is_live: bool) -> None:
        super().__init__()
        self.schema = city().schema
        self.is_live = is_live
        self.pieces = pieces
        self._random = np.random.default_rng(0)

    @property
    def is_finished(self) -> bool:
        return self.pieces == 0

    def poll(self, wait: float = 0.0) -> Samples | None:
        time.sleep(0.001)
        self.pieces -= 1
        return Samples(self._random.normal(size=(2000, 8)), np.arange(2000), None)


def test_a_finished_source_is_sent_and_the_service_ends(tmp_path: Path) -> None:
    broker = MemoryBroker()
    with (
        Cloud(str(tmp_path / "store"), broker.transport()) as cloud,
        city() as source,
        new_edge(tmp_path, source, broker.transport()) as edge,
        running(CloudService(cloud)),
    ):
        service = EdgeService(edge, source)
        seen: list[dict] = []
        service.run(threading.Event(), lambda each: seen.append(each.status))
        assert edge.is_done and seen[-1]["messages to send"] == 0 and seen[-1]["samples"] == 600
        assert service.health == {"healthy": True, "reason": "", "connected": True}
    check(cloud_store(tmp_path), 0, 600)


def cloud_store(folder: Path):
    from orthostream.link import open_store

    return open_store(str(folder / "store"))


def test_a_stop_leaves_what_cannot_be_sent_in_the_outbox(tmp_path: Path) -> None:
    transport = MemoryBroker().transport()
    transport.is_connected = False
    source = city(speed=400.0)
    with new_edge(tmp_path, source, transport) as edge:
        service = EdgeService(edge, source)
        with running(service) as stop:
            until(lambda: service.edge.mark is not None)
            begin = time.monotonic()
            stop.set()
        assert time.monotonic() - begin < 4.0
        assert edge.status()["samples waiting"] == 0 and edge.status()["messages to send"] == 1
        mark = edge.mark
    with Outbox(tmp_path / "outbox", "roof") as outbox:
        assert outbox.mark == mark


def test_restarts_neither_lose_nor_double(tmp_path: Path) -> None:
    broker = MemoryBroker()
    with Cloud(str(tmp_path / "store"), broker.transport()) as cloud, running(CloudService(cloud)):
        for _ in range(100):
            outbox = Outbox(tmp_path / "outbox", "roof")
            source = city(mark=outbox.mark, speed=3000.0)
            edge = Edge("roof", source.schema, MaxError(0.5), outbox, broker.transport(), max_delay=0.01)
            service = EdgeService(edge, source, drain=0.0)
            with running(service):
                time.sleep(0.03)
            done = source.is_finished
            edge.outbox.close()
            if done:
                break
        with new_edge(tmp_path, source, broker.transport()) as edge:
            EdgeService(edge, source).run(threading.Event())
            assert edge.is_done
    check(cloud_store(tmp_path), 0, 600)


def test_a_full_outbox_makes_a_file_wait(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broker = MemoryBroker()
    transport = broker.transport()
    transport.is_connected = False
    source = Noise(8, is_live=False)
    with (
        caplog.at_level(logging.WARNING),
        Cloud(str(tmp_path / "store"), broker.transport()) as cloud,
        new_edge(tmp_path, source, transport, limit=1 << 20) as edge,
        running(CloudService(cloud)),
        running(EdgeService(edge, source)),
    ):
        until(lambda: "samples are refused" in caplog.text)
        transport.is_connected = True
        until(lambda: source.is_finished and edge.is_done)
    assert sum(each.samples for each in cloud_store(tmp_path).streams()) == 16_000
    assert caplog.text.count("samples are refused") == 1


def test_a_full_outbox_leaves_out_live_samples(tmp_path: Path) -> None:
    transport = MemoryBroker().transport()
    transport.is_connected = False
    source = Noise(-1, is_live=True)
    with new_edge(tmp_path, source, transport, limit=1 << 20) as edge:
        service = EdgeService(edge, source)
        with running(service):
            until(lambda: service.n_refused > 0)
        assert service.status["samples refused, outbox full"] == service.n_refused


def test_a_full_disk_is_waited_for_and_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = MemoryBroker()
    source = city(speed=1000.0)
    monkeypatch.setattr("orthostream.link.service._FIRST_PAUSE", 0.01)
    with (
        caplog.at_level(logging.WARNING),
        Cloud(str(tmp_path / "store"), broker.transport()) as cloud,
        new_edge(tmp_path, source, broker.transport(), max_delay=0.01) as edge,
        running(CloudService(cloud)),
    ):
        service = EdgeService(edge, source)
        service._pause = 0.01
        failures = iter(range(10_000))
        is_full = True
        transaction = edge.outbox.transaction

        def failing():
            if is_full:
                next(failures)
                raise StoreError("the disk is full")
            return transaction()

        monkeypatch.setattr(edge.outbox, "transaction", failing)
        with running(service):
            until(lambda: next(failures) > 4)
            assert not service.health["healthy"] and "disk is full" in service.health["reason"]
            is_full = False
            until(lambda: source.is_finished and edge.is_done)
            until(lambda: service.health["healthy"])
        assert caplog.text.count("trying again until it works") == 1
        assert caplog.text.count("works again") == 1
    check(cloud_store(tmp_path), 0, 600)


def test_a_cloud_whose_store_fails_says_so_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("orthostream.link.cloud._PAUSE", 0.05)
    monkeypatch.setattr("orthostream.link.sending._FIRST_WAIT", 0.2)
    broker = MemoryBroker()
    with (
        caplog.at_level(logging.WARNING),
        Cloud(str(tmp_path / "store"), broker.transport()) as cloud,
        city() as source,
        new_edge(tmp_path, source, broker.transport()) as edge,
    ):
        add, is_full = cloud.store.add, True

        def failing(batch) -> None:
            if is_full:
                raise StoreError("the disk is full")
            add(batch)

        monkeypatch.setattr(cloud.store, "add", failing)
        service = CloudService(cloud)
        with running(service), running(EdgeService(edge, source)):
            until(lambda: not service.health["healthy"])
            is_full = False
            until(lambda: edge.is_done and service.health["healthy"])
        assert caplog.text.count("trying again until it works") == 1
    check(cloud_store(tmp_path), 0, 600)


def test_an_idle_service_does_not_spin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = MemoryBroker()
    source = city(speed=0.001)
    cloud = Cloud(str(tmp_path / "store"), broker.transport())
    edge = new_edge(tmp_path, source, broker.transport())
    turns = {"edge": 0, "cloud": 0}
    step, cloud_step = edge.step, cloud.step

    def counted() -> None:
        turns["edge"] += 1
        step()

    def cloud_counted(wait: float = 0.0) -> int:
        turns["cloud"] += 1
        return cloud_step(wait)

    monkeypatch.setattr(edge, "step", counted)
    monkeypatch.setattr(cloud, "step", cloud_counted)
    cloud._paused_until = time.monotonic() + 0.5
    with running(EdgeService(edge, source)), running(CloudService(cloud)):
        time.sleep(1.0)
    assert turns["edge"] <= 12 and turns["cloud"] <= 12, turns
    edge.close()
    cloud.close()


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_the_status_server(tmp_path: Path) -> None:
    broker = MemoryBroker()
    source = city()
    with (
        Cloud(str(tmp_path / "store"), broker.transport()) as cloud,
        new_edge(tmp_path, source, broker.transport()) as edge,
    ):
        cloud_service, service = CloudService(cloud), EdgeService(edge, source)
        with running(cloud_service):
            service.run(threading.Event())
        with StatusServer(service, "orthostream_edge") as server:
            assert get(server.port, "/health") == (
                200,
                json.dumps({"healthy": True, "reason": "", "connected": True}, indent=2) + "\n",
            )
            assert json.loads(get(server.port, "/status")[1])["samples"] == 600
            assert 'orthostream_edge_samples_total{edge="roof"} 600\n' in get(server.port, "/metrics")[1]
            assert 'orthostream_edge_samples_waiting{edge="roof"} 0\n' in get(server.port, "/metrics")[1]
            assert get(server.port, "/../etc/passwd")[0] == 404
            service.trouble = "the disk is full"
            assert get(server.port, "/health")[0] == 503
            with pytest.raises(OSError, match="in use"):
                StatusServer(service, "x", server.port)
        with StatusServer(cloud_service, "orthostream_cloud") as server:
            assert 'orthostream_cloud_edge_samples_total{edge="roof"} 600\n' in get(server.port, "/metrics")[1]
