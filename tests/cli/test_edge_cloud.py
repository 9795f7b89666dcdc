"""`orthostream edge` and `orthostream cloud` as processes: nothing lost or doubled, and one line for every mistake."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli.main import main
from orthostream.link import Outbox, open_store

from .test_light_imports import HEAVY, modules_after

pytest.importorskip("paho.mqtt")
pytest.importorskip("amqtt")

SECRET = "a_secret_of_many_letters"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def process(*words: str | Path, folder: Path, stdin: int | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run a command, with its standard error in a file."""
    name = f"{words[0]}-{time.monotonic_ns()}.log"
    command = [sys.executable, "-m", "orthostream.cli.main", *map(str, words)]
    with (folder / name).open("w+") as log:
        child = subprocess.Popen(command, cwd=folder, stderr=log, stdin=stdin, text=True)
        child.log = folder / name  # type: ignore[attr-defined]
        try:
            yield child
        finally:
            child.kill()
            child.wait()
            if child.stdin:
                with suppress(OSError):
                    child.stdin.close()
    assert "Traceback" not in (folder / name).read_text(), (folder / name).read_text()


def log_of(child: subprocess.Popen[str]) -> str:
    return child.log.read_text()  # type: ignore[attr-defined]


def wait_for(child: subprocess.Popen[str], text: str, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while text not in log_of(child):
        assert child.poll() is None and time.monotonic() < deadline, log_of(child)
        time.sleep(0.02)


def ended(child: subprocess.Popen[str], code: int = 0) -> str:
    assert child.wait(60.0) == code, log_of(child)
    return log_of(child)


def make_table(folder: Path, count: int = 400) -> tuple[Path, np.ndarray]:
    random = np.random.default_rng(1)
    rows = np.round(20.0 + random.normal(size=(count, 4)).cumsum(axis=0), 2)
    rows[random.uniform(size=rows.shape) < 0.1] = np.nan
    lines = ["time,a,b,c,d"]
    for number, row in enumerate(rows.tolist()):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_500_000_000 + 60 * number))
        lines.append(f"{stamp}," + ",".join("" if value != value else f"{value:.2f}" for value in row))
    path = folder / "readings.csv"
    path.write_text("\n".join(lines) + "\n")
    return path, rows


def check_stored(address: Path, rows: np.ndarray, bound: float, unit: int = 1) -> None:
    """Compare a store with the source: each reading once, within the bound."""
    with open_store(str(address), create=False) as store:
        found: dict[str, list[tuple[int, float]]] = {}
        for chunk in store.readings("roof"):
            found.setdefault(chunk.sensor, []).extend(zip(chunk.times.tolist(), chunk.values.tolist(), strict=True))
    for place, name in enumerate("abcd"):
        expected = {
            (1_500_000_000 + 60 * number) * unit: value
            for number, value in enumerate(rows[:, place].tolist())
            if value == value
        }
        assert sorted(stamp for stamp, _ in found[name]) == sorted(expected)
        assert all(abs(expected[stamp] - value) <= bound for stamp, value in found[name])


def cloud_words(port: int) -> list[str]:
    return ["cloud", "--embedded-broker", "--broker", f"127.0.0.1:{port}", "--store", "store.db"]


def edge_words(port: int, *more: str | Path) -> list[str | Path]:
    return ["edge", *more, "--name", "roof", "--broker", f"127.0.0.1:{port}", "--max-error", "0.05"]


def test_a_file_arrives_once_and_within_its_bound(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, rows = make_table(tmp_path)
    port, status = free_port(), free_port()
    with process(*cloud_words(port), "--status-port", str(status), folder=tmp_path) as cloud:
        wait_for(cloud, "connected to")
        for told in ("400 samples, 1,4", "0 samples, 0 readings"):
            with process(*edge_words(port, path), folder=tmp_path) as edge:
                log = ended(edge)
                assert told in log and "all of it has arrived" in log
                assert ("nothing new" in log) == (told[0] == "0")
        assert main(["cloud", "--store", str(tmp_path / "store.db"), "--broker", f"127.0.0.1:{port}"]) == 2
        assert main(["cloud", "--rebuild", "--store", str(tmp_path / "store.db")]) == 2
        assert capsys.readouterr().err.count("another cloud writes to it") == 2
        with urllib.request.urlopen(f"http://127.0.0.1:{status}/health", timeout=10) as answer:
            assert json.load(answer)["healthy"]
        deadline = time.monotonic() + 20.0
        metric = 'orthostream_cloud_edge_samples_total{edge="roof"} 400'
        while time.monotonic() < deadline:
            with urllib.request.urlopen(f"http://127.0.0.1:{status}/metrics", timeout=10) as answer:
                if metric in answer.read().decode():
                    break
            time.sleep(0.1)
        else:
            pytest.fail("the metrics do not show the samples")
        cloud.send_signal(signal.SIGTERM)
        assert "cloud: 1 edge, " in ended(cloud)
    check_stored(tmp_path / "store.db", rows, 0.05)
    assert main(["cloud", "--rebuild", "--store", str(tmp_path / "store.db")]) == 0
    check_stored(tmp_path / "store.db", rows, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [2, 8])
def test_kills_of_both_sides_neither_lose_nor_double(kills: int, tmp_path: Path) -> None:
    """The edge follows a file that grows, and both processes are killed while it does."""
    path, rows = make_table(tmp_path)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:50]))
    port = free_port()
    words = edge_words(port, path, "--follow", "--max-delay", "10ms")
    each_time = 320 // kills
    for step in range(kills):
        with process(*cloud_words(port), folder=tmp_path) as cloud, process(*words, folder=tmp_path) as edge:
            wait_for(cloud, "connected to")
            wait_for(edge, "connected to")
            for number in range(50 + each_time * step, 50 + each_time * (step + 1)):
                with path.open("a") as file:
                    file.write(lines[number][:7])
                    file.flush()
                    file.write(lines[number][7:])
            time.sleep(0.1 * step)
            for each in (edge, cloud) if step % 2 else (cloud, edge):
                each.kill()
                each.wait()
    with path.open("a") as file:
        file.write("".join(lines[370:]))
    with process(*cloud_words(port), folder=tmp_path) as cloud, process(*words, folder=tmp_path) as edge:
        wait_for(edge, "connected to")
        wait_for_samples(tmp_path / "store.db", 400)
        edge.send_signal(signal.SIGINT)
        assert "all of it has arrived" in ended(edge)
        cloud.send_signal(signal.SIGINT)
        ended(cloud)
    check_stored(tmp_path / "store.db", rows, 0.05)


def wait_for_samples(address: Path, count: int) -> None:
    deadline = time.monotonic() + 60.0
    while True:
        with open_store(str(address), create=False) as store:
            if sum(stream.samples for stream in store.streams("roof")) >= count:
                return
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_standard_input_offline_and_a_key(tmp_path: Path) -> None:
    """Lines go into the outbox while there is no broker, and are sent by the next process."""
    _, rows = make_table(tmp_path, 20)
    (tmp_path / "key").write_text(SECRET + "\n")
    (tmp_path / "keys").write_text(f"# keys\nroof {SECRET}\n")
    port = free_port()
    lines = [
        json.dumps({"time": 1_500_000_000 + 60 * number} | dict(zip("abcd", row, strict=True))).replace("NaN", "null")
        for number, row in enumerate(rows.tolist())
    ]
    words = edge_words(port, "-", "--key-file", "key", "--log-format", "json", "--sensors", *"abcd")
    with process(*words, folder=tmp_path, stdin=subprocess.PIPE) as edge:
        assert edge.stdin is not None
        edge.stdin.write("\n".join(lines) + "\n")
        edge.stdin.close()
        wait_for(edge, "Connection refused")
        time.sleep(0.5)
        edge.send_signal(signal.SIGTERM)
        log = ended(edge)
    entries = [json.loads(line) for line in log.splitlines()]
    assert entries[-1]["messages left"] == 1 and "1 message left in roof.outbox" in entries[-1]["message"]
    assert SECRET not in log
    with process(*cloud_words(port), "--keys-file", "keys", folder=tmp_path) as cloud:
        wait_for(cloud, "connected to")
        with process(*words, folder=tmp_path, stdin=subprocess.DEVNULL) as edge:
            assert "all of it has arrived" in ended(edge)
        cloud.send_signal(signal.SIGTERM)
        ended(cloud)
    check_stored(tmp_path / "store.db", rows, 0.05, unit=1000)


def refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that is refused, and return its one line."""
    try:
        code = main(words)
    except SystemExit as end:
        code = end.code
        told = capsys.readouterr().err
        assert code == 2, told
        return told.splitlines()[-1]
    told = capsys.readouterr().err
    last = told.splitlines()[-1]
    assert code == 2 and last.startswith("orthostream: ") and "Traceback" not in told, told
    # What was logged before, if the mistake was found late.
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in told.splitlines()[:-1]), told
    return last


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["edge"], "no source given: name a CSV file"),
        (["edge", "none.csv"], "there is no file none.csv"),
        (["edge", "bad.csv"], "bad.csv, line 3, column 'a'"),
        (["edge", "untimed.csv"], "no column of times"),
        (["edge", "good.csv", "--name", "a/b"], "an edge must have a name"),
        (["edge", "good.csv", "--outbox", "no/folder/x"], "there is no folder no/folder"),
        (["edge", "good.csv", "--outbox", "."], "is a folder"),
        (["edge", "good.csv", "--outbox", "good.csv"], "good.csv is not the"),
        (["edge", "good.csv", "--outbox-limit", "1kB"], "limit must be 1048576 bytes or more"),
        (["edge", "good.csv", "--max-delay", "soon"], "'soon' is not a duration"),
        (["edge", "good.csv", "--max-error", "0.1", "--lossless"], "not allowed with argument"),
        (["edge", "good.csv", "--max-error-for", "x=1"], "there is no column 'x'"),
        (["edge", "good.csv", "--broker", "http://x"], "is no address of a broker"),
        (["edge", "good.csv", "--broker", "192.0.2.1:1883"], "allow it with --insecure"),
        (["edge", "good.csv", "--password-file", "none"], "there is no file none"),
        (["edge", "good.csv", "--key-file", "short"], "a key must have 16 to 64 bytes"),
        (["edge", "good.csv", "--tls-ca", "good.csv"], "holds no CA certificates"),
        (["edge", "good.csv", "--speed", "3"], "--speed is for the simulator"),
        (["edge", "-", "--follow"], "--follow is for files that grow"),
        (["edge", "good.pq"], "an edge reads CSV"),
        (["edge", "mqtt:"], "needs a topic"),
        (["edge", "--config", "none.toml"], "there is no file none.toml"),
        (["edge", "--config", "half.toml"], "half.toml: this is not TOML"),
        (["edge", "--config", "typing.toml"], "there is no setting 'max-dely'; did you mean 'max-delay'\\?"),
        (["edge", "--config", "secret.toml"], "a password does not belong here"),
        (["edge", "--config", "both.toml"], "of max-error and lossless only one may be given"),
        (["edge", "--config", "flag.toml"], "follow: must be true or false, got 'yes'"),
        (["cloud", "--shard", "9/8"], "a shard is written as 2/8"),
        (["cloud", "--store", "no/folder/x"], "there is no folder no/folder"),
        (["cloud", "--store", "good.csv"], "good.csv is not the"),
        (["cloud", "--keys-file", "good.csv"], "good.csv, line 1: a line has the name of an edge"),
        (["cloud", "--keys-file", "empty"], "holds no keys"),
        (["cloud", "--home-assistant"], "--home-assistant needs --republish"),
        (["cloud", "--republish", "a/#"], "a/#"),
        (["cloud", "--rebuild", "--store", "none.db"], "there is no store at none.db"),
        (["cloud", "--status-port", "x"], "'x' is not a port"),
        (["cloud", "--embedded-broker", "--broker", "192.0.2.1:1883"], "must stay on this machine"),
    ],
)
def test_mistakes_are_told_in_one_line(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "good.csv": "time,a\n1,1\n",
        "bad.csv": "time,a\n1,1\n2,x\n",
        "untimed.csv": "a,b\n1,1\n",
        "short": "abc",
        "empty": "",
        "half.toml": 'source = "good.csv"\nmax-delay = "5',
        "typing.toml": 'source = "good.csv"\nmax-dely = "5s"\n',
        "secret.toml": 'source = "good.csv"\npassword = "hunter2hunter2"\n',
        "both.toml": 'source = "good.csv"\nmax-error = 0.5\nlossless = true\n',
        "flag.toml": 'source = "good.csv"\nfollow = "yes"\n',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    line = refused(words, capsys)
    assert re.search(told, line), line
    assert "hunter2" not in line


def test_ports_in_use_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        store = ["--store", str(tmp_path / "store.db")]
        assert main(["cloud", *store, "--embedded-broker", "--broker", f"127.0.0.1:{port}"]) == 2
        assert f"orthostream: the embedded broker cannot listen at 127.0.0.1:{port}" in capsys.readouterr().err
        assert main(["cloud", *store, "--status-port", str(port)]) == 2
        assert f"--status-port: cannot listen at 127.0.0.1:{port}" in capsys.readouterr().err


def test_an_outbox_of_another_edge_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = make_table(tmp_path, 3)
    Outbox(tmp_path / "x", "cellar").close()
    assert main(["edge", str(path), "--name", "roof", "--outbox", str(tmp_path / "x")]) == 2
    assert "is the outbox of the edge 'cellar', not of 'roof'" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, _ = make_table(tmp_path, 3)
    (tmp_path / "closed").mkdir(mode=0o500)
    for words in (["edge", str(path), "--outbox"], ["cloud", "--store"]):
        assert "no permission to write" in refused([*words, str(tmp_path / "closed" / "x")], capsys)


def test_check_explains_every_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make_table(tmp_path, 3)
    (tmp_path / "edge.toml").write_text(
        'source = "readings.csv"\nname = "roof"\nmax-delay = "10min"\nmax_error = 0.5\nmax-error-for = ["a=1"]\n'
        'outbox-limit = "1GB"\nuser = "me"\ncolumns = ["a", "b"]\nheader = true\n'
    )
    monkeypatch.setenv("ORTHOSTREAM_PASSWORD", SECRET)
    monkeypatch.setenv("ORTHOSTREAM_KEY", SECRET)
    assert main(["edge", "--config", "edge.toml", "--lossless", "--max-delay", "1h", "--check"]) == 0
    told = capsys.readouterr()
    lines = {line.split()[0]: line.split()[1:] for line in told.out.splitlines()}
    assert lines["max-delay"][:2] == ["3600.0", "option"]
    assert lines["outbox-limit"][:2] == [str(1 << 30), "edge.toml"]
    assert lines["when-full"][:2] == ["refuse", "default"]
    assert lines["lossless"][:2] == ["True", "option"] and lines["max-error"][0] == "-"
    assert lines["password"][-1] == "ORTHOSTREAM_PASSWORD" and "not shown" in told.out
    assert "readings.csv has 2 sensors" in told.out and SECRET not in told.out + told.err
    assert told.err == "all values are good\n" and not (tmp_path / "roof.outbox").exists()
    monkeypatch.delenv("ORTHOSTREAM_PASSWORD")
    url = "postgresql://me:secret@127.0.0.1/readings"
    assert main(["cloud", "--store", url, "--shard", "2/8", "--check"]) == 0
    told = capsys.readouterr()
    assert "postgresql://me@127.0.0.1/readings" in told.out and "secret" not in told.out + told.err


@pytest.mark.parametrize("command", ["edge", "cloud"])
def test_help_loads_no_heavy_library(command: str) -> None:
    code = f"""
from orthostream.cli.main import main
try:
    main([{command!r}, "--help"])
except SystemExit as end:
    assert end.code == 0
"""
    assert not modules_after(code) & (HEAVY | {"numpy", "paho", "amqtt"})
