"""The tracking benchmark: that it measures, and that its report says what was measured."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from orthostream.cli import bench


@pytest.fixture
def tracking_benchmark(monkeypatch: pytest.MonkeyPatch):
    module = bench._load("tracking")
    few = {"trials": 2, "steps": 40, "scenarios": 2, "rhos": (0.1,), "gammas": (1.0,), "half_lives": (64,)}
    sensors = module.SensorEffort(factors=(0.9,), oracle_iterations=2, streams=3)
    monkeypatch.setattr(module, "QUICK", module.QUICK._replace(**few, sensors=sensors))
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    return module


@pytest.mark.slow
def test_records_table_and_figure(tracking_benchmark, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")

    class Options:
        quick, json, figure = True, tmp_path / "records.json", tmp_path / "figure.png"

    records = tracking_benchmark.run(Options())
    text = capsys.readouterr().out
    assert "abrupt change" in text
    assert text.count("real sensors are left out") == 1
    stored = json.loads(Options.json.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert all(np.isfinite(record.value) for record in records)
    assert {r.method for r in records} >= {"exact", "tracking", "own estimate, half-life 64"}
    assert Options.figure.read_bytes()[:4] == b"\x89PNG"


def test_every_atom_turns_by_the_angle(tracking_benchmark) -> None:
    effort = tracking_benchmark.QUICK
    for scenario in tracking_benchmark.SCENARIOS:
        truths = tracking_benchmark._stream(scenario, effort)[1]
        cosines = (truths[1:] * truths[:-1]).sum(axis=-2)
        half = effort.steps // 2
        np.testing.assert_allclose(cosines[half:], np.cos(scenario.drift), atol=1e-12)
        np.testing.assert_allclose(cosines[: half - 1], np.cos(0.0 if scenario.late else scenario.drift), atol=1e-12)
        assert (np.abs(cosines[half - 1]).min() < 0.9) == scenario.change


def test_sensors_are_coded_with_what_was_known_before(tracking_benchmark) -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 12)) * np.geomspace(10.0, 0.1, 12)
    records = tracking_benchmark.compress("made up", rows[:20], rows[20:], tracking_benchmark.QUICK.sensors)
    found = {(r.method, r.setting): r.value for r in records if r.metric == "relative_rmse_percent"}
    left = energy = 0.0
    moment = rows[:20].T @ rows[:20]
    for begin in range(20, 60, 6):
        slot = rows[begin : begin + 6]
        codes = np.sort((slot @ np.linalg.eigh(moment)[1]) ** 2, axis=1)
        left, energy = left + codes[:, :-2].sum(), energy + (slot**2).sum()
        moment = 0.95 * moment + slot.T @ slot
    assert np.isclose(found["forgetting PCA, 0.95", "made up eta0=2"], 100 * (left / energy) ** 0.5)
    best = found["forgetting PCA, best factor in hindsight", "made up eta0=2"]
    assert best <= found["forgetting PCA, 0.95", "made up eta0=2"]


def test_a_folder_without_the_data(tracking_benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTHOSTREAM_DATA", str(tmp_path))
    found, missing = tracking_benchmark.sensors(tracking_benchmark.QUICK.sensors)
    assert found == {}
    assert [line.split()[0] for line in missing] == ["Airly", "NOAA"]


def test_rows_without_a_reading_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    streams = bench._load("real_streams")
    rows = np.array([[1.0, np.nan, 3.0], [np.nan] * 3, [4.0, 5.0, 6.0]])
    monkeypatch.setattr(streams, "load_noaa", lambda folder: Bunch(data=rows))
    np.testing.assert_array_equal(streams.whole_sensor_rows(streams.NOAA), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
