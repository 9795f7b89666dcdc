"""The command line as a user meets it: good calls, bad calls, one line for errors that the user can fix."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from orthostream import __version__
from orthostream.cli.main import main


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "orthostream.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def test_version_and_help() -> None:
    assert run("--version").stdout.strip() == f"orthostream {__version__}"
    for arguments in (
        ["--help"],
        ["demo", "--help"],
        ["demo", "recovery", "--help"],
        ["dashboard", "--help"],
        ["bench", "--help"],
        ["bench", "learner", "--help"],
        ["reproduce", "--help"],
    ):
        done = run(*arguments)
        assert done.returncode == 0
        assert "usage: orthostream" in done.stdout


@pytest.mark.parametrize(
    "arguments", [[], ["sing"], ["bench"], ["bench", "nothing"], ["demo", "recovery", "--steps", "many"]]
)
def test_bad_calls(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "usage" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "recovery", "--steps", "0"], "--steps must be a positive integer, got 0"),
        (["demo", "recovery", "--batch-size", "-1"], "--batch-size must be a positive integer, got -1"),
        (["demo", "recovery", "--sparsity", "1.5"], "--sparsity must lie in (0, 1], got 1.5"),
        (["demo", "recovery", "--seed", "-1"], "--seed must be an integer of at least 0, got -1"),
        (["bench", "learner", "--figure", "picture.txt"], "--figure must end in"),
        (["bench", "learner", "--json", "no/such/folder/a.json"], "there is no folder"),
        (["bench", "learner", "--figure", "no/such/folder/a.png"], "there is no folder"),
    ],
)
def test_an_error_that_a_user_can_fix_is_one_line(
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith("orthostream: ")
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_output_folder_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("here already")
    assert main(["demo", "recovery", "--output", str(tmp_path / "file")]) == 2
    assert "cannot write to" in capsys.readouterr().err


def test_demo_of_recovery(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "recovery", "--steps", "300", "--trials", "5", "--output", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    assert "recovery error" in text
    records = json.loads((tmp_path / "out" / "recovery.json").read_text())
    assert {"experiment", "method", "setting", "metric", "value"} == set(records[0])
    final = {record["method"]: record["value"] for record in records if record["setting"] == "t=300"}
    assert final["l3, averaged"] < final["l4"] < final["SFW"]
    with (tmp_path / "out" / "recovery.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert float(rows[-1]["l4"]) == final["l4"]
    assert (tmp_path / "out" / "recovery.png").read_bytes()[:4] == b"\x89PNG"


def test_demo_of_one_step_and_one_feature(tmp_path: Path) -> None:
    assert (
        main(["demo", "recovery", "--steps", "1", "--features", "1", "--trials", "1", "--output", str(tmp_path)]) == 0
    )


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from orthostream.cli import demo_recovery

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo_recovery, "_learn", interrupted)
    monkeypatch.setattr(demo_recovery, "_write", interrupted)
    assert main(["demo", "recovery"]) == 130
    assert "interrupted" in capsys.readouterr().err
