"""The benchmark of sparse components: that it measures, and that its report says what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from orthostream.cli import bench


@pytest.fixture
def components_benchmark(monkeypatch: pytest.MonkeyPatch):
    module = bench._load("components")
    monkeypatch.setattr(module, "QUICK", module.Effort(trials=3, steps=30, largest=30))
    return module


@pytest.mark.slow
def test_records_tables_and_figure(components_benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")

    class Options:
        quick, json, figure = True, tmp_path / "records.json", tmp_path / "figure.png"

    records = components_benchmark.run(Options())
    text = capsys.readouterr().out
    for title in ("the paper's generator", "digits, ten components", "time of partial_fit"):
        assert title in text
    stored = json.loads(Options.json.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert all(np.isfinite(record.value) for record in records)
    assert {r.method for r in records} >= {*components_benchmark.METHODS, "PCA", "IncrementalPCA"}
    assert Options.figure.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("noise", ["white", "uneven", "Student-t"])
@pytest.mark.parametrize("entries", ["equal", "falling", "normal"])
def test_the_true_component_is_that_of_the_samples(components_benchmark, entries: str, noise: str) -> None:
    problem = components_benchmark.Problem(12, 4, 10.0, entries, noise)
    true, batches = components_benchmark._streams(problem, components_benchmark.Effort(trials=20, steps=200))
    moment = sum(np.einsum("tbi,tbj->ij", rows, rows) for rows in batches)
    assert abs(np.linalg.eigh(moment)[1][:, -1] @ true) > 0.999
    assert np.count_nonzero(np.abs(true) > 1e-9) == 4


def test_errors_are_those_of_the_points(components_benchmark) -> None:
    problem = components_benchmark.Problem(20, 3, 100.0)
    outcome = components_benchmark._learn(problem, components_benchmark.Effort(trials=4, steps=30))
    assert outcome.at == [3, 10, 30]
    assert outcome.right == 1.0
    assert outcome.errors["sparse eigenvectors"][-1] < outcome.errors["running eigenvector"][-1]
    np.testing.assert_allclose(outcome.errors["sparse eigenvectors"][-1], outcome.errors["known support"][-1])
