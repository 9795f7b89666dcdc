"""How much one core on each side carries: fifty edges in one process, a real broker, the cloud in others."""

from __future__ import annotations

import argparse
import cProfile
import json
import multiprocessing
import os
import pstats
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orthostream.compression import Column, MaxError, Schema, TimeAxis
from orthostream.datasets import make_city
from orthostream.link import Cloud, Edge, Shard, open_store
from orthostream.link.transport.mqtt import MqttTransport

from .link_processes import mosquitto
from .postgres_server import programs, running_postgres

SENSORS, EDGES, BOUND = 56, 50, 0.5
#: Seconds that a sample waits for others.
_DELAY = 1.0
_SPAWN = multiprocessing.get_context("spawn")


class Load(NamedTuple):
    """One run: where it is stored, by how many processes, at which rate (0: as fast as it goes), for how long."""

    store: str
    shards: int
    rate: float
    seconds: float


def run_load(options: argparse.Namespace) -> int:
    """Run all loads and print their tables; return the exit code."""
    seconds = 10.0 if options.quick else 120.0
    short = 5.0 if options.quick else 30.0
    loads = [Load("SQLite", 1, 10.0, seconds), Load("PostgreSQL", 1, 10.0, seconds), Load("SQLite", 1, 0.0, short)]
    loads += [Load("PostgreSQL", shards, 0.0, short) for shards in ((1, 2) if options.quick else (1, 2, 4))]
    records: list[dict[str, Any]] = []
    for load in loads:
        found = _run(load)
        if found is None:
            print(f"{load.store}: skipped, its programs are not installed", file=sys.stderr)
            continue
        records.append(found)
        print(f"{load.store}, {load.shards} cloud processes: done", file=sys.stderr)
    _print(records)
    if options.json:
        Path(options.json).write_text(json.dumps(records, indent=1) + "\n")
    return int(any(record["lost"] for record in records))


def _print(records: list[dict[str, Any]]) -> None:
    print(f"{EDGES} edges of {SENSORS} sensors in one process on one core, Mosquitto, the cloud on the other core;")
    print("a sample waits 1 s for others; every push is synced to disk; lost: samples that are not in the store\n")
    print("store        clouds  asked/s  readings/s   lag s  cloud CPU  edge CPU  cloud MB  edge MB  samples  lost")
    for each in records:
        asked = f"{each['asked']:8,.0f}" if each["asked"] else "     all"
        print(
            f"{each['store']:<12} {each['clouds']:6} {asked} {each['readings_per_second']:11,.0f} {each['lag']:7.1f}"
            f" {each['cloud_cpu']:9.0%} {each['edge_cpu']:9.0%} {each['cloud_mb']:9.0f} {each['edge_mb']:8.0f}"
            f" {each['samples']:8,} {each['lost']:5}"
        )
    print("\nwhere a cloud process spends its time at full rate")
    for each in records:
        if not each["asked"]:
            parts = ", ".join(f"{what} {share:.0%}" for what, share in each["profile"].items())
            print(f"{each['store']}, {each['clouds']}: {parts}")


def _run(load: Load) -> dict[str, Any] | None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = stack.enter_context(mosquitto(folder))
        if address is None or (load.store == "PostgreSQL" and programs() is None):
            return None
        store = stack.enter_context(running_postgres()) if load.store == "PostgreSQL" else str(folder / "store.db")
        stop, ready, go = _SPAWN.Event(), _SPAWN.Semaphore(0), _SPAWN.Event()
        results: Any = _SPAWN.Queue()
        clouds = [
            _SPAWN.Process(
                target=_cloud, args=(address, store, f"{i}/{load.shards}", stop, ready, results, not load.rate)
            )
            for i in range(1, load.shards + 1)
        ]
        edges = _SPAWN.Process(target=_edges, args=(address, str(folder), load, ready, go, results))
        for process in (*clouds, edges):
            process.start()
        for _ in range(load.shards + 1):
            ready.acquire(timeout=300)
        go.set()
        sent = _result(results, "edges", load.seconds + 300)
        stop.set()
        received = [_result(results, "cloud", 120) for _ in clouds]
        for process in (*clouds, edges):
            process.join(30)
        with open_store(store) as opened:
            stored = sum(stream.samples for stream in opened.streams())
            readings = sum(stream.readings for stream in opened.streams())
    return {
        "store": load.store,
        "clouds": load.shards,
        "asked": load.rate * EDGES * SENSORS,
        "readings_per_second": readings / sent["seconds"],
        "lag": sent["lag"],
        "cloud_cpu": sum(each["cpu"] for each in received) / sent["seconds"],
        "edge_cpu": sent["cpu"] / sent["seconds"],
        "cloud_mb": max(each["mb"] for each in received),
        "edge_mb": sent["mb"],
        "samples": sent["samples"],
        "lost": sent["samples"] - stored,
        "profile": received[0]["profile"],
    }


def _result(results: Any, who: str, patience: float) -> dict[str, Any]:
    found: dict[str, Any] = results.get(timeout=patience)
    if found["who"] != who:
        results.put(found)
        return _result(results, who, patience)
    return found


def _pin(core: int) -> None:
    """Keep this process on one core, so that each side has one."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})


def _usage() -> tuple[float, float]:
    """Return the CPU seconds of this process, and its largest memory in MB."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _cloud(address: str, store: str, shard: str, stop: Any, ready: Any, results: Any, profiled: bool) -> None:
    _pin(1)
    profile = cProfile.Profile()
    with MqttTransport(address, client_id=f"cloud-{shard.replace('/', '-')}") as transport:
        cloud = Cloud(store, transport, shard=Shard.parse(shard))
        while not transport.is_connected:
            time.sleep(0.05)
        ready.release()
        begin, _ = _usage()
        if profiled:
            profile.enable()
        while not stop.is_set():
            cloud.step(wait=0.1)
        profile.disable()
        end, mb = _usage()
        cloud.close()
    results.put({"who": "cloud", "cpu": end - begin, "mb": mb, "profile": _shares(profile) if profiled else {}})


def _shares(profile: cProfile.Profile) -> dict[str, float]:
    """Return which share of the time goes where, waiting left out."""
    kinds = {
        "decode": ("compression/", "kernel/", "numpy"),
        "store": ("sqlite3", "sqlite.py", "postgres", "psycopg", "copy"),
    }
    shares = dict.fromkeys((*kinds, "the rest"), 0.0)
    for (file, _, name), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        where = f"{file} {name}"
        if "acquire" in where or "sleep" in where or "wait" in name:
            continue
        kind = next((kind for kind, words in kinds.items() if any(word in where for word in words)), "the rest")
        shares[kind] += own
    total = sum(shares.values()) or 1.0
    return {kind: own / total for kind, own in shares.items()}


def _edges(address: str, folder: str, load: Load, ready: Any, go: Any, results: Any) -> None:
    _pin(0)
    city = make_city(4000, SENSORS, random_state=0)
    schema = Schema(tuple(Column(name) for name in city.sensors), TimeAxis("time", "ms"))
    with MqttTransport(address, client_id="edges") as transport, ExitStack() as stack:
        edges = [
            stack.enter_context(
                Edge(f"edge-{i}", schema, MaxError(BOUND), f"{folder}/{i}.db", transport, max_delay=_DELAY)
            )
            for i in range(EDGES)
        ]
        while not transport.is_connected:
            time.sleep(0.05)
        ready.release()
        go.wait()
        begin, _ = _usage()
        start = time.monotonic()
        count = 0
        for count in _ticks(load):
            rows = city.data[count % 4000][None]
            for i, edge in enumerate(edges):
                edge.push(np.roll(rows, i, axis=1), np.array([100 * count]))
                edge.step()
            while not load.rate and sum(edge.status()["messages to send"] for edge in edges[:5]) > 20:
                _step_all(edges)
        pushed = time.monotonic()
        for edge in edges:
            edge.flush()
        while not all(edge.is_done for edge in edges) and time.monotonic() < pushed + 240.0:
            _step_all(edges)
            time.sleep(0.01)
        end, mb = _usage()
        seconds = time.monotonic() - start
        results.put(
            {
                "who": "edges",
                "samples": EDGES * (count + 1),
                "seconds": seconds,
                "lag": time.monotonic() - pushed,
                "cpu": end - begin,
                "mb": mb,
            }
        )


def _step_all(edges: list[Edge]) -> None:
    for edge in edges:
        edge.step()


def _ticks(load: Load) -> Iterator[int]:
    """Yield 0, 1, 2, ... at a rate, or at once, until the time is over."""
    start = time.monotonic()
    count = 0
    while time.monotonic() - start < load.seconds:
        if load.rate:
            time.sleep(max(0.0, start + count / load.rate - time.monotonic()))
        yield count
        count += 1
