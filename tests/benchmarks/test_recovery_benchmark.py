"""The recovery benchmark: that it measures, and that its report says what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli import bench
from orthostream.metrics import recovery_error


@pytest.fixture
def recovery_benchmark(monkeypatch: pytest.MonkeyPatch):
    module = bench._load("recovery")
    monkeypatch.setattr(module, "QUICK", module.Effort(trials=2, steps=0.05, largest=10, rivals=1))
    return module


@pytest.mark.slow
def test_records_tables_and_figure(recovery_benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")

    class Options:
        quick, json, figure = True, tmp_path / "records.json", tmp_path / "figure.png"

    records = recovery_benchmark.run(Options())
    text = capsys.readouterr().out
    for title in (
        "no noise",
        "rivals on the first 1",
        "noise, in deviations",
        "not sparse",
        "beyond",
        "time of a step",
    ):
        assert title in text
    stored = json.loads(Options.json.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert all(np.isfinite(record.value) for record in records)
    assert {r.method for r in records} >= {"exact", "averaged", "paper", "Online AODL, penalty 0.5", "forgetting PCA"}
    assert Options.figure.read_bytes()[:4] == b"\x89PNG"


def test_exact_for_good(recovery_benchmark) -> None:
    outcome = recovery_benchmark._learn(recovery_benchmark.Problem(5, 10, 0.3, 200, trials=3, of_the_papers=2))
    assert np.isfinite(outcome.since).all()
    for trial, since in enumerate(outcome.since):
        late = [error[trial] for t, error in zip(outcome.at, outcome.errors["exact"], strict=True) if t >= since]
        assert max(late) <= recovery_benchmark.FOUND
    assert outcome.errors["averaged"].shape == (len(outcome.at), 2)


def test_slabs_have_variance_one(recovery_benchmark) -> None:
    for codes in recovery_benchmark.CODES:
        drawn = recovery_benchmark._slabs(np.random.default_rng(0), codes, (200_000,))
        assert np.isclose(drawn.var(), 1.0, rtol=0.05)


def test_errors_of_a_stack_are_those_of_the_metric(recovery_benchmark) -> None:
    rng = np.random.default_rng(0)
    learnt, true = (np.linalg.qr(rng.standard_normal((3, 4, 4)))[0] for _ in range(2))
    single = [recovery_error(a.T, b.T) for a, b in zip(learnt, true, strict=True)]
    np.testing.assert_allclose(recovery_benchmark.recovery_errors(learnt, true), single, rtol=1e-12)
