"""`orthostream reproduce`: what a user gets, and what a user is told."""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import shlex
import shutil
from pathlib import Path

import pytest

from orthostream.cli import reproduce as command
from orthostream.cli.main import main
from orthostream.experiments import EXPERIMENTS, Plan
from orthostream.experiments.methods import AODL_TUNED
from orthostream.experiments.output import OutputError


def test_help_names_the_experiments_that_there_are() -> None:
    assert {name: experiment.summary for name, experiment in EXPERIMENTS.items()} == command.SUMMARIES


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a quick look quicker, and keep the data set out of it unless it is named."""
    small = Plan.small

    def tinier(**words):
        plan = small(**words)
        return Plan(**(vars(plan) | {"trials": 2, "steps": 30, "sweeps": 1, "epochs": 1}))

    monkeypatch.setattr(Plan, "small", tinier)
    monkeypatch.setattr(command, "_HOURS", 4300)
    monkeypatch.setattr(command, "_SENSORS", 36)
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)


def run(*words: str) -> int:
    return main(["reproduce", *words, "--workers", "1"])


def test_a_quick_look_writes_everything(tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "made" / "here"
    assert run("batch-size", "sparse-pca", "--quick", "--output", str(folder)) == 0
    made = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {
        str(path.relative_to(folder)) for path in (folder / ".tasks").iterdir()
    }
    assert made == {
        "report.html",
        "summary.md",
        "run.json",
        "results.json",
        "results.csv",
        "data/batch-size.csv",
        "data/sparse-pca.csv",
        "figures/batch-size.png",
        "figures/batch-size.svg",
        "figures/sparse-pca.png",
        "figures/sparse-pca.svg",
    }
    records = json.loads((folder / "results.json").read_text())
    assert {tuple(record) for record in records} == {("experiment", "method", "setting", "metric", "value", "paper")}
    with (folder / "results.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == len(records)
    page = (folder / "report.html").read_text()
    assert "A quick look, not to be quoted: 2 trials instead of 100; 30 mini-batches instead of 3,000." in page
    assert "A quick look" in json.loads((folder / "run.json").read_text())["notes"][0]
    assert "A quick look" in (folder / "summary.md").read_text()
    assert "http://" not in page and "https://" not in page
    assert capsys.readouterr().out.rstrip().endswith("report.html")


@pytest.mark.slow
def test_all_without_any_data_runs_on_a_simulated_city(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else found(name, *rest)
    )
    assert run("all", "--quick", "--output", str(tmp_path)) == 0
    page = (tmp_path / "report.html").read_text()
    assert "simulated city" in page
    assert "torch is not installed" in page
    records = json.loads((tmp_path / "results.json").read_text())
    experiments = {"batch-size", "dictionary-size", "sparsity", "sensors", "sensor-45", "sparse-pca"}
    assert {record["experiment"] for record in records} == experiments


def test_the_same_seed_gives_the_same_files(tiny, tmp_path: Path) -> None:
    for name in ("one", "two"):
        assert run("sparsity", "--quick", "--seed", "3", "--output", str(tmp_path / name)) == 0
    for file in ("results.json", "results.csv", "data/sparsity.csv", "figures/sparsity.png", "figures/sparsity.svg"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()
    assert run("sparsity", "--quick", "--seed", "4", "--output", str(tmp_path / "two")) == 0
    assert (tmp_path / "one/results.json").read_bytes() != (tmp_path / "two/results.json").read_bytes()


def test_a_second_run_goes_on_from_the_first(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("sparsity", "--quick", "--output", str(tmp_path)) == 0
    before = (tmp_path / "results.json").read_bytes()
    monkeypatch.setattr("orthostream.experiments.convergence.recovery_error", lambda *_: pytest.fail("done anew"))
    assert run("sparsity", "--quick", "--output", str(tmp_path)) == 0
    assert (tmp_path / "results.json").read_bytes() == before
    with pytest.raises(pytest.fail.Exception, match="done anew"):
        run("sparsity", "--quick", "--fresh", "--output", str(tmp_path))


def test_a_method_can_be_left_out(tiny, tmp_path: Path) -> None:
    assert run("sparsity", "--quick", "--without", AODL_TUNED.upper(), "--output", str(tmp_path)) == 0
    assert AODL_TUNED not in (tmp_path / "results.json").read_text()
    assert "Left out as asked" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["figure-9"], "no experiment 'figure-9'"),
        (["sparsity", "--seed", "-1"], "--seed must be an integer of at least 0, got -1"),
        (["sparsity", "--workers", "0"], "--workers must be a positive integer, got 0"),
        (["sparsity", "--without", "everything"], "DeepSTGDL"),
        (["sparsity", "--without", "everything"], "--without 'everything'"),
        (["sparsity", "--without", "proposed"], "--without 'proposed'"),
        (["sensors", "--data", "nowhere"], "nowhere"),
        (["sensors"], "--data or ORTHOSTREAM_DATA"),
        (["sparsity", "--output", ""], "--output must name a folder"),
        (["sensors", "--quick", "--data", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    tiny,
    words: list[str],
    told: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: object())
    output = [] if "--output" in words else ["--output", str(tmp_path / "out")]
    assert main(["reproduce", *words, *output]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.count("\n") == 1 and shown.out == ""
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("absent", "told"), [("matplotlib", "orthostream[bench]"), ("torch", "orthostream[deep]"), ("torch", "--without")]
)
def test_an_absent_extra_is_one_line(
    absent: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == absent else found(name, *rest))
    assert main(["reproduce", "sensors", "--simulated", "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert told in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_damaged_data_folder_is_one_line(
    airly_folder: Path, tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "airly"
    shutil.copytree(airly_folder, copy)
    may = copy / "may-2017.csv"
    text = may.read_bytes()
    may.chmod(0o644)
    may.write_bytes(text[: len(text) // 2])
    assert main(["reproduce", "sensors", "--quick", "--data", str(copy), "--output", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "may-2017.csv" in error and error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written_is_one_line(tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert main(["reproduce", "sparsity", "--quick", "--output", str(tmp_path / "file")]) == 2
    error = capsys.readouterr().err
    assert "cannot write" in error and error.count("\n") == 1


def test_a_full_disk_is_one_line(
    tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OutputError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr("orthostream.experiments.reproduction.write_output", full)
    assert run("sparse-pca", "--quick", "--output", str(tmp_path)) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "words",
    [
        "all --seed 7 --quick --without 'SFW, own start'",
        "sensors sparsity --seed 0 --data 'a folder'",
        "sensors --seed 0 --simulated",
    ],
)
def test_the_command_is_told_as_it_was_given(words: str) -> None:
    parser = argparse.ArgumentParser()
    command.add_parser(parser.add_subparsers())
    assert command._command(parser.parse_args(shlex.split(f"reproduce {words}"))) == f"orthostream reproduce {words}"


def test_a_folder_holds_one_run(tiny, tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "mine.png").write_bytes(b"not theirs")
    assert run("sparsity", "--quick", "--output", str(tmp_path)) == 0
    assert run("sparse-pca", "--quick", "--seed", "1", "--output", str(tmp_path)) == 0
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"mine.png", "sparse-pca.png", "sparse-pca.svg"}
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["sparse-pca.csv"]


def test_settings_of_matplotlib_are_left_as_they_were(tiny, tmp_path: Path) -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    assert run("sparse-pca", "--quick", "--output", str(tmp_path)) == 0
    assert dict(mpl.rcParams) == before


def test_a_quick_look_does_not_replace_a_full_run(tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("sparse-pca", "--quick") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["reproduction-quick"]
