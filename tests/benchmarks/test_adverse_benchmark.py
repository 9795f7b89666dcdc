"""`orthostream bench recovery --adverse`: what it measures, what it asks, and what it prints."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.cli import bench
from orthostream.cli.main import main

COMMAND = ["bench", "recovery", "--adverse"]


@pytest.fixture
def adverse() -> ModuleType:
    return bench._load("adverse")


def outcome(ours: list[float], paper: list[float], averaged: list[float]):
    module = bench._load("adverse_report")
    errors = dict(zip(module.METHODS, map(np.array, (ours, paper, averaged)), strict=True))
    return module.Outcome("a stream", errors)


def test_table_and_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "records.json"
    assert main([*COMMAND, "--quick", "--only", "PLAIN, rank 8", "--trials", "2", "--json", str(path)]) == 0
    printed = capsys.readouterr()
    for name in ("plain", "rank 8 of 12", "rank 8 of 12, noise .02"):
        assert f"\n{name}  " in printed.out and f", {name}: default " in printed.err
    assert "seeds 'report'" in printed.out and "of 2 trials" in printed.out and " of 3 streams\n" in printed.out
    records = json.loads(path.read_text())
    assert {record["benchmark"] for record in records} == {"recovery adverse"}
    values = {(r["method"], r["setting"], r["metric"]): r["value"] for r in records}
    assert len(values) == len(records) == 3 * (3 * 4 + 4)
    assert values["default", "plain", "median_error"] < 1e-12 < values["paper", "plain", "median_error"]
    assert values["default", "plain", "met"] == 1.0
    met = sum(values["default", name, "met"] for name in {r["setting"] for r in records})
    assert f"met on {met:.0f} of 3 streams" in printed.out


def test_seeds_are_two_families_and_always_the_same(adverse: ModuleType) -> None:
    (case,) = adverse.chosen("readings rounded")
    effort = adverse.Effort(trials=2, steps=0.05)
    report, again, tune = (adverse.measure(case, seeds, effort).errors for seeds in ("report", "report", "tune"))
    for method in report:
        np.testing.assert_array_equal(report[method], again[method])
        assert not set(report[method]) & set(tune[method])
        assert len(set(report[method])) == 2


def test_paper_is_the_preset_without_an_average(adverse: ModuleType) -> None:
    (case,) = adverse.chosen("10 % missing")
    batches = list(case.make(np.random.default_rng(0), 30).batches)
    plain, averaged = (
        OrthogonalDictionaryLearning.preset("paper", random_state=0, average=average) for average in (False, True)
    )
    for rows in batches:
        plain.partial_fit(rows)
        averaged.partial_fit(rows)
    np.testing.assert_allclose(averaged.state_.x, plain.raw_components_.T, atol=1e-12)
    assert not np.allclose(averaged.raw_components_, plain.raw_components_)


def test_error_is_that_of_the_true_atoms(adverse: ModuleType) -> None:
    learnt = np.eye(4)
    assert adverse._error(learnt[:, :3], learnt) == 0.0
    mixed = learnt.copy()
    mixed[:2, :2] = np.array([[1.0, 1.0], [1.0, -1.0]]) / 2.0**0.5
    assert adverse._error(learnt[:, 2:], mixed) == 0.0
    assert adverse._error(learnt[:, 1:3], mixed) == pytest.approx(0.25)
    assert adverse._error(learnt, np.full((4, 4), np.nan)) == adverse.LOST


def test_a_learner_that_breaks_has_lost(
    adverse: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: OrthogonalDictionaryLearning, rows: object) -> None:
        raise ValueError("too hard")

    monkeypatch.setattr(OrthogonalDictionaryLearning, "partial_fit", broken)
    found = adverse.measure(adverse.chosen("plain")[0], "tune", adverse.Effort(trials=1, steps=0.01))
    assert {float(errors[0]) for errors in found.errors.values()} == {adverse.LOST}
    assert "mini-batch 1: ValueError: too hard" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ours", "paper", "averaged", "missed"),
    [
        ([1.0, 1.1, 2.0], [3.0, 3.0, 3.0], [1.0, 1.0, 1.0], []),
        ([1.0, 1.2, 2.0], [3.0, 3.0, 3.0], [1.0, 1.0, 1.0], ["median 1.20 x averaged"]),
        ([1.0, 1.0, 2.1], [3.0, 3.0, 3.0], [1.0, 1.0, 1.0], ["worst 2.10 x averaged"]),
        ([1.0, 1.0, 1.0], [0.5, 0.5, 9.0], [1.0, 1.0, 1.0], ["median 2.00 x paper"]),
        ([1e-13, 2e-13, 9e-13], [1e-16, 1e-16, 1e-16], [0.0, 0.0, 0.0], []),
    ],
)
def test_what_is_asked(ours: list[float], paper: list[float], averaged: list[float], missed: list[str]) -> None:
    assert outcome(ours, paper, averaged).missed == missed


def test_report_lists_what_is_not_met() -> None:
    found = [outcome([1.0], [1.0], [1.0]), outcome([5.0], [1.0], [1.0])._replace(stream="a hard one")]
    text = bench._load("adverse_report").report(found, "tune", 1)
    assert text.endswith(
        "\nmet on 1 of 2 streams\nnot met:\n  a hard one: median 5.00 x averaged, worst 5.00 x averaged"
    )
    assert "not met" not in bench._load("adverse_report").report(found[:1], "tune", 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([*COMMAND, "--only", "plain,nonsense"], "--only: no stream has 'nonsense' in its name"),
        ([*COMMAND, "--only", "plain,"], "--only: no stream has '' in its name"),
        ([*COMMAND, "--figure", "figure.png"], "--adverse draws no picture: leave out --figure"),
        (["bench", "recovery", "--trials", "3"], "--trials belongs to the hard streams: add --adverse"),
        (["bench", "recovery", "--seeds", "tune"], "--seeds belongs to the hard streams: add --adverse"),
    ],
)
def test_bad_words_are_one_line(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"orthostream: {message}") and printed.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [["--seeds", "mine"], ["--trials", "0"], ["--trials", "few"]])
def test_bad_values_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*COMMAND, *arguments])
    assert arguments[1] in capsys.readouterr().err.splitlines()[-1]
