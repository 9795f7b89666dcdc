"""`orthostream bench codes`: codes are causal, rivals are what they are called, the report says what was measured."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from orthostream import OrthogonalDictionaryLearning
from orthostream.baselines.base import pursue
from orthostream.cli import bench


def _rows(count: int, size: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((count, size)) * np.geomspace(3.0, 0.3, size) + 1.0


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the benchmark with one small made-up stream of pictures, and one that cannot be loaded."""
    module = bench._load("codes")

    def absent() -> Any:
        raise module.DataFolderError("there is no\nfolder")

    sources = (module.Source("made up", lambda: _rows(400, 16), 10, True), module.Source("absent", absent, 6))
    monkeypatch.setattr(module, "SOURCES", sources)
    monkeypatch.setattr(module, "QUICK", module.Effort(2, 1, (0.9,)))
    monkeypatch.setattr(module, "_product", lambda size: 1e-6)
    return module


def test_records_report_and_figure(codes: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    path, figure = tmp_path / "records.json", tmp_path / "figure.svg"
    records = codes.run(argparse.Namespace(quick=True, json=path, figure=figure))
    text = capsys.readouterr().out
    stored = json.loads(path.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert all(np.isfinite(record.value) for record in records)
    values = {(r.method, r.setting, r.metric): r.value for r in records}
    methods = {r.method for r in records if r.metric == "relative_rmse_percent"}
    assert len(methods) == 9
    assert {s for m, s, metric in values if m == "DCT" and "rmse" in metric} == {f"made up k={k}" for k in (2, 4, 8)}
    for method in methods:
        found = [values[method, f"made up k={k}", "relative_rmse_percent"] for k in (2, 4, 8)]
        assert found == sorted(found, reverse=True)
        assert values[method, "made up", "products_per_step"] > 0.0
    assert text.count("*") == 1 + 3  # the sentence that explains the mark, and one mark for each column
    assert "absent is left out: there is no folder" in text
    assert "products of the default while it is young" in text
    assert "where ours are not the best" in text
    assert "<svg" in figure.read_text()


def test_codes_are_causal(codes: ModuleType) -> None:
    """The errors are those of a loop that codes before it learns."""
    rows = _rows(240, 16)
    records = codes._measure(codes.Source("made up", lambda: rows, 10), rows, codes.QUICK)
    learner = OrthogonalDictionaryLearning.preset("compression", random_state=0)
    left = 0.0
    for begin in range(0, 240, 10):
        some = rows[begin : begin + 10]
        if begin >= codes.FIRST:
            left += np.sort((some @ learner.components_.T) ** 2, axis=1)[:, :-4].sum()
        learner.partial_fit(some)
    found = {(r.method, r.setting, r.metric): r.value for r in records}
    expected = 100.0 * np.sqrt(left / np.square(rows[codes.FIRST :]).sum())
    assert found["compression", "made up k=4", "relative_rmse_percent"] == pytest.approx(expected)


def test_a_buffered_estimator_codes_about_its_mean() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    methods = bench._load("codes_methods")
    rows = _rows(60, 8)
    coder = methods.Buffered(decomposition.IncrementalPCA(8))
    coder.learn(rows[:8])
    before = coder.learner.components_.copy()
    for begin in (8, 11):
        coder.learn(rows[begin : begin + 3])
        np.testing.assert_array_equal(coder.learner.components_, before)
    coder.learn(rows[14:17])
    assert coder.learner.n_samples_seen_ == 17
    centred = rows[20:] - rows[:17].mean(axis=0)
    codes = np.sort((centred @ coder.learner.components_.T) ** 2, axis=1)
    np.testing.assert_allclose(coder.left(rows[20:], [3, 8]), [codes[:, :-3].sum(), 0.0], atol=1e-12)


def test_the_pursuit_is_orthogonal_matching_pursuit() -> None:
    coder = bench._load("codes_methods").Pursuit(0, _rows(40, 8))
    coder.learn(_rows(40, 8))
    atoms, rows = coder._learner.components_, _rows(12, 8, seed=1)
    expected = [np.square(rows - pursue(rows, atoms, k) @ atoms).sum() for k in (1, 3)]
    np.testing.assert_allclose(coder.left(rows, [1, 3]), expected)
    np.testing.assert_array_equal(coder.left(np.zeros((2, 8)), [1, 3]), 0.0)


def test_cosines_of_pictures_have_two_dimensions() -> None:
    cosines = bench._load("codes_methods").Cosines
    x = np.cos(np.pi * (np.arange(8) + 0.5) / 8)
    picture = np.outer(x, x).reshape(1, 64)
    assert cosines(64, is_picture=True).left(picture, [1])[0] < 1e-20
    assert cosines(64, is_picture=False).left(picture, [1])[0] > 1.0


def test_goals_and_losses_name_the_worst_column() -> None:
    module = bench._load("codes_report")
    record = bench._load("measure").Record
    errors = {
        module.DEFAULT: (10.0, 5.0),
        module.COMPRESSION: (9.0, 4.0),
        module.CENTRED: (9.0, 4.0),
        module.PAPER: (9.0, 5.0),
        module.BEST: (9.0, 3.9),
        module.INCREMENTAL: (9.0, 4.2),
        module.COSINES: (9.5, 3.0),
    }
    records = []
    for method, values in errors.items():
        for k, value in zip((2, 4), values, strict=True):
            for metric in (module.MIDDLE, module.WORST):
                records.append(record("codes", method, f"a stream k={k}", metric, value))
        records.append(record("codes", method, "a stream", module.PRODUCTS, 50.0))
    records.append(record("codes", module.DEFAULT, "a stream", module.GROWN_UP, 1.0))
    text, goals = module.report(records)
    met = {(g.method, g.setting): g.value for g in goals if g.metric == "goal_met"}
    assert met == {
        ("compression, % above forgetting PCA, best factor", "a stream k=4"): 0.0,
        ("compression, % above IncrementalPCA", "a stream k=2"): 1.0,
        ("compression, centred, % above IncrementalPCA", "a stream k=2"): 1.0,
        ("default, % above paper", "a stream k=2"): 0.0,
        ("compression, products of a step", "a stream"): 1.0,
        ("default, products of a step", "a stream"): 0.0,
    }
    assert "default more than 3 % above paper in 1 of 2: a stream k=2 +11.1" in text
    assert "where ours are not the best: 1 of 2 columns" in text
    assert "  a stream k=4: DCT 3.000, compression 4.000 (+33.3 %)" in text


def test_photographs_and_digits() -> None:
    pytest.importorskip("PIL")
    streams = bench._load("real_streams")
    china, bare = streams.patches("china", 50), streams.patches("china", 50, without_mean=True)
    assert china.shape == (50, 64) and china.min() >= 0.0 and china.max() <= 1.0
    np.testing.assert_allclose(bare, china - china.mean(axis=1, keepdims=True))
    assert not np.array_equal(china, streams.patches("flower", 50))
    assert streams.digits().shape == (1797, 64)
