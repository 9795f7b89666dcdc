"""The learner benchmark: that it measures, and that its report says what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orthostream.cli import bench


@pytest.fixture
def learner_benchmark(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("sklearn")
    module = bench._load("learner")
    monkeypatch.setattr(module, "FIRST", 20)
    monkeypatch.setattr(module, "_steps", lambda size: (30, 1))
    return module


def test_records_table_and_figure(learner_benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")

    class Options:
        quick, field, json, figure = True, False, tmp_path / "records.json", tmp_path / "figure.png"

    records = learner_benchmark.run(Options())
    text = capsys.readouterr().out
    assert "orthostream, plain NumPy" in text
    assert "100 problems of N=10 as one stack" in text
    stored = json.loads(Options.json.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert all(record.value > 0 for record in records)
    assert {record.setting for record in records} >= {"N=10 B=6", "N=56 B=6"}
    assert Options.figure.read_bytes()[:4] == b"\x89PNG"
