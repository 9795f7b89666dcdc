"""`inspect` as a user meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orthostream.cli.main import main


@pytest.fixture
def small(table: Path) -> Path:
    assert main(["compress", str(table), "--max-error", "0.25", "--no-verify"]) == 0
    return table.with_suffix(".ost")


def test_text(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(small)]) == 0
    text = capsys.readouterr().out
    for word in (
        "0.25",
        "a [degC], b, n",
        "168 in",
        "2017-01-01T00:00 to 2017-01-07T23:00",
        "494 observed, 2.0 % missing",
    ):
        assert word in text, text


def test_json(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(small), "--json"]) == 0
    info = json.loads(capsys.readouterr().out)
    assert info["n_samples"] == 168 and info["n_sensors"] == 3 and info["n_missing"] == 10
    assert info["bytes"] == small.stat().st_size and info["complete"] is True
    assert [column["name"] for column in info["columns"]] == ["a [degC]", "b", "n"]
    assert info["time"]["text"] == "%Y-%m-%dT%H:%M"


def test_standard_input(small: Path, orthostream) -> None:
    done = orthostream("inspect", "-", "--json", stdin=small.read_bytes())
    assert done.returncode == 0 and json.loads(done.stdout)["n_samples"] == 168


def test_a_file_cut_short(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small.write_bytes(small.read_bytes()[:-20])
    assert main(["inspect", str(small)]) == 1
    assert "CUT SHORT" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[], ["--original"], ["--column", "b", "--column", "n", "--samples", "50"]])
def test_plot(small: Path, table: Path, words: list[str]) -> None:
    pytest.importorskip("matplotlib")
    words = [*words, str(table)] if words == ["--original"] else words
    assert main(["inspect", str(small), "--plot", str(small.with_suffix(".png")), *words]) == 0
    assert small.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plot", "a.txt"], "--plot must end in"),
        (["--plot", "no/such/a.png"], "there is no folder"),
        (["--column", "b"], "go with --plot"),
        (["--plot", "a.png", "--samples", "1"], "--samples must be an integer of at least 2, got 1"),
        (["--plot", "a.png", "--column", "zz"], "has no column 'zz'"),
        (["--plot", "a.png", "--original", "nothing.csv"], "there is no file nothing.csv"),
    ],
)
def test_errors_that_a_user_can_fix(
    small: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    capsys.readouterr()
    assert main(["inspect", str(small), *words]) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


@pytest.mark.parametrize("data", [b"", b"a,b\n1,2\n", b"\0" * 1000])
def test_what_is_no_such_file(tmp_path: Path, data: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.ost").write_bytes(data)
    assert main(["inspect", str(tmp_path / "a.ost")]) == 2
    assert capsys.readouterr().err.startswith("orthostream: ")
