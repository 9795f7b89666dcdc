"""The demo of the whole path: short real runs, and a check that finds what is wrong with a store."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli.main import main

pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A short run: its folder, and what it printed."""
    folder = tmp_path_factory.mktemp("demo") / "run"
    command = [sys.executable, "-m", "orthostream.cli.main", "demo", "--hours", "300", "--seconds", "3", "--no-page"]
    done = subprocess.run([*command, "--folder", str(folder)], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "300 of 300 hours stored" in done.stderr
    return folder, done.stdout


def test_a_short_run_ends_well(finished: tuple[Path, str]) -> None:
    _, text = finished
    assert "300 hours of 56 sensors over 1 edge in" in text
    assert "0 lost, 0 doubled, 0 foreign, 0 beyond the bound" in text
    for word in ("bits ", "MQTT", "TCP/IP", "estimated", "0 reconnects, 0 restarts", "root mean square"):
        assert word in text


def test_the_papers_mode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--paper", "4", "--hours", "300", "--sensors", "12", "--seconds", "1", "--no-page"]
    assert main(["demo", *arguments, "--folder", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert "0 lost, 0 doubled, 0 foreign\n" in text and "the paper's mode has no bound" in text
    assert re.search(r"[1-9]\d* dictionaries sent", text)
    for part in ("dictionary", "indices", "values"):
        assert re.search(rf"{part} +[1-9]", text)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("DELETE FROM readings WHERE sensor = 3 AND time < 1483300000", "lost"),
        (
            "INSERT INTO readings SELECT sensor, time, sample + 1000000, value FROM readings WHERE sensor = 2",
            "doubled",
        ),
        ("INSERT INTO readings VALUES (5, 1, 0, 7.0)", "foreign"),
        ("UPDATE readings SET value = value + 1.01 WHERE sensor = 4", "beyond"),
    ],
)
def test_a_store_that_is_wrong_is_found_out(finished: tuple[Path, str], tmp_path: Path, change: str, what: str) -> None:
    from orthostream.cli.demo_check import check_store
    from orthostream.cli.demo_run import city_parts

    parts = city_parts(300, 56, 1, 0)
    copy = tmp_path / "cloud.db"
    copy.write_bytes((finished[0] / "cloud.db").read_bytes())
    right = check_store(copy, parts, 0.5)
    assert right.is_right and right.max_error <= 0.5 and right.readings > 10_000
    connection = sqlite3.connect(copy)
    with connection:
        changed = connection.execute(change).rowcount
    connection.close()
    assert changed > 0
    wrong = check_store(copy, parts, 0.5)
    assert not wrong.is_right
    found = {name: getattr(wrong, name) for name in ("lost", "doubled", "foreign", "beyond")}
    assert found == {**dict.fromkeys(found, 0), what: changed}


def test_sensors_are_shared_out_over_edges() -> None:
    from orthostream.cli.demo_run import city_parts

    parts = city_parts(50, 10, 3, seed=1)
    assert [part.edge for part in parts] == ["city-01", "city-02", "city-03"]
    names = [column.name for part in parts for column in part.schema.columns]
    assert len(set(names)) == len(names) == 10
    assert all(part.readings.shape == (50, len(part.locations)) for part in parts)
    assert np.array_equal(parts[0].times, parts[2].times)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--edges", "57"], "--edges must be at most 56, got 57"),
        (["--paper", "15", "--edges", "4"], "--paper must be at most 14"),
        (["--seed", "-1"], "--seed must be an integer from 0"),
        (["--keep-open", "--no-page"], "contradict each other"),
        (["--port", "70000"], "--port must be 0 to 65535, got 70000"),
        (["--folder", "full", "--no-page"], "full is not empty"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("here already")
    assert main(["demo", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("orthostream: ") and message in error and error.count("\n") == 1


def test_what_cannot_be_shown_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "damaged.ost").write_bytes(b"OST\2 and then nothing that fits")
    (tmp_path / "text.db").write_text("no database, " * 100)
    messages = {"none.db": "there is no file", "damaged.ost": "damaged.ost: ", "text.db": "text.db is not the store"}
    for name, message in messages.items():
        assert main(["dashboard", str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("orthostream: ") and message in error and error.count("\n") == 1


@pytest.mark.slow
def test_an_interrupt_of_the_demo_is_one_line() -> None:
    command = [sys.executable, "-m", "orthostream.cli.main", "demo", "--seconds", "60", "--no-page"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = process.stderr.readline()
    assert "hours stored" in first
    process.send_signal(signal.SIGINT)
    rest = process.stderr.read()
    assert process.wait(30) == 130
    assert rest.splitlines()[-1] == "orthostream: interrupted"
    assert "Traceback" not in rest
    process.stderr.close()
