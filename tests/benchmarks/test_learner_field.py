"""`orthostream bench learner --field`: records, goals, turns, and that the loop really is Algorithm 2."""

from __future__ import annotations

import argparse
import builtins
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from orthostream._compile import can_compile, without_numba
from orthostream.cli import bench
from orthostream.cli.errors import UserError
from orthostream.optimize import LpContrast, PaperSchedule, PolarStep, SpectralBall, StochasticFrankWolfe

METRICS = {"seconds_per_step", "median_seconds_per_step", "products_per_step"}


@pytest.fixture
def field(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the benchmark with a small made-up Airly stream, with gaps, and few steps."""
    pytest.importorskip("sklearn")
    module = bench._load("learner_field")
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 56))
    gaps = np.where(rng.random(rows.shape) < 0.1, np.nan, rows)
    made_up = [module.Stream(module.TEMPERATURE, rows), module.Stream("Airly temperature, NaN", gaps)]
    monkeypatch.setattr(module, "streams", lambda: (list(made_up), ["NOAA is left out: no folder."]))
    monkeypatch.setattr(module, "QUICK", module.Effort(batches=(6,), atoms=(None, 8), seconds=0.0, chunks=3))
    monkeypatch.setattr(module, "CHUNK", 2)
    monkeypatch.setattr(module, "DROPPED", 1)
    monkeypatch.setattr(module, "_product", lambda size: 1e-5)
    return module


def _run(module: ModuleType, path: Path | None = None) -> Any:
    return module.run_field(argparse.Namespace(quick=True, field=True, json=path, figure=None))


@pytest.mark.slow
def test_records_and_summary(field: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    records = _run(field, tmp_path / "records.json")
    text = capsys.readouterr().out
    stored = json.loads((tmp_path / "records.json").read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    found: dict[tuple[str, str], dict[str, float]] = {}
    for record in records:
        assert record.metric not in found.setdefault((record.method, record.setting), {})
        found[record.method, record.setting][record.metric] = record.value
    ours = [field.OURS, field.FAST] if can_compile() else [field.OURS]
    for stream in (field.TEMPERATURE, "Airly temperature, NaN"):
        for atoms in (56, 8):
            setting = f"{stream}, N=56 B=6 K={atoms}"
            loop = found[field.LOOP, setting]
            assert set(loop) == METRICS
            for method in ours:
                values = found[method, setting]
                assert set(values) == METRICS | {"ratio_to_loop", "median_ratio_to_loop"}
                assert np.isclose(values["ratio_to_loop"], values["seconds_per_step"] / loop["seconds_per_step"])
                assert np.isclose(values["products_per_step"], values["seconds_per_step"] / 1e-5)
                assert values["seconds_per_step"] <= values["median_seconds_per_step"]
    for stream, size in ((field.TEMPERATURE, 56), (field.SYNTHETIC, 10)):
        setting = f"layouts of {stream}, N={size} B=6 K={size}"
        layouts = {method: values for (method, where), values in found.items() if where == setting}
        layouts = {method: values for method, values in layouts.items() if "ratio_to_c_float64" in values}
        assert len(layouts) == 9
        assert layouts["C float64"]["ratio_to_c_float64"] == 1.0
    goals = {method: values for (method, _), values in found.items() if "goal_met" in values}
    assert len(goals) == (3 if can_compile() else 1) + 8
    assert f"goals, worst of this run: {sum(v['goal_met'] for v in goals.values()):.0f} of {len(goals)} met" in text
    assert "fills them with the mean of the row" in text
    assert f"{field.OURS} / loop > 1 in " in text and "by the medians); without NaN in " in text
    assert "NOAA is left out: no folder." in text


def test_goals_are_judged_by_their_limits() -> None:
    goal = bench._load("learner_field_goals").Goal("ratio", 0.5, 0.5, 0.7, "here")
    assert goal.is_met and goal.text == "  UNSURE  ratio <= 0.5: 0.50 (median 0.70), here"
    assert goal._replace(median=0.5).text == "  met     ratio <= 0.5: 0.50 (median 0.50), here"
    assert goal._replace(median=None).text == "  met     ratio <= 0.5: 0.50, here"
    assert "MISSED" in goal._replace(value=0.51).text


def test_without_numba_and_pandas(
    field: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def no_pandas(name: str, *args: Any, **named: Any) -> Any:
        if name == "pandas":
            raise ImportError("No module named 'pandas'")
        return real(name, *args, **named)

    monkeypatch.setattr(builtins, "__import__", no_pandas)
    with without_numba():
        records = _run(field)
    text = capsys.readouterr().out
    assert not {record.method for record in records} & {field.FAST, "DataFrame"}
    assert text.count("layout DataFrame is left out: No module named 'pandas'") == 1
    assert "[fast] is left out" in text


def test_methods_take_turns_each_in_its_context(field: ModuleType) -> None:
    calls: list[tuple[str, int, bool]] = []
    methods = {
        "a": field.Method(lambda i: calls.append(("a", i, can_compile())), range(3), without_numba),
        "b": field.Method(lambda i: calls.append(("b", i, can_compile())), range(3)),
    }
    times = field.interleaved(methods, 0.0, 10)
    expected = [(name, i % 3) for chunk in range(4) for name in "ab" for i in (2 * chunk, 2 * chunk + 1)]
    assert [call[:2] for call in calls] == expected
    assert not any(compiles for name, _, compiles in calls if name == "a")
    assert {compiles for name, _, compiles in calls if name == "b"} == {can_compile()}
    assert set(times) == {"a", "b"} and all(0.0 < t.best <= t.median for t in times.values())


def test_layouts_hold_the_same_rows() -> None:
    pytest.importorskip("pandas")
    module = bench._load("learner_field_streams")
    rows = np.random.default_rng(0).standard_normal((20, 5))
    found, missing = module.layouts(rows, 6)
    assert missing == [] and len(found) == 9
    for name, batches in found.items():
        assert len(batches) == 3
        together = np.concatenate([np.asarray(batch) for batch in batches])
        if name == "10 % missing":
            assert np.isnan(together).any() and not np.isnan(together).all(axis=1).any()
        elif name == "half of the rows zero":
            assert ((together == 0.0).all(axis=1)).sum() == 9
        else:
            np.testing.assert_allclose(together, rows[:18], rtol=1e-6)
    assert found["Fortran"][0].flags.f_contiguous and not found["strided"][0].flags.c_contiguous
    assert found["float32"][0].dtype == np.float32 and not found["read-only"][0].flags.writeable


def test_streams_without_data_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    module = bench._load("learner_field_streams")
    monkeypatch.setattr(module, "patches", lambda: np.ones((10, 64)))
    for folder in (None, tmp_path):
        monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
        if folder is not None:
            monkeypatch.setenv("ORTHOSTREAM_DATA", str(folder))
        found, missing = module.streams()
        assert [stream.name for stream in found] == [module.PHOTOGRAPH]
        assert [line.split(" is left out: ")[0] for line in missing] == [
            "Airly temperature",
            "Airly PM2.5",
            "NOAA Tmax",
        ]


@pytest.mark.parametrize("atoms", [12, 5])
def test_the_loop_is_algorithm_2(atoms: int) -> None:
    loop = bench._load("two_svd_loop").TwoSVDLoop(12, atoms)
    solver = StochasticFrankWolfe(SpectralBall(), LpContrast(3), PaperSchedule(), PolarStep())
    state = solver.init(loop.d)
    rng = np.random.default_rng(1)
    for _ in range(30):
        rows = rng.standard_normal((20, 12)) * (rng.random((20, 12)) < 0.3)
        loop.step(rows)
        with without_numba():
            state = solver.step(state, rows)
        np.testing.assert_allclose(loop.d.T @ loop.d, np.eye(atoms), atol=1e-13)
    assert loop.d.shape == (12, atoms)
    np.testing.assert_allclose(loop.d, state.x, atol=1e-8)


def test_field_draws_no_picture(tmp_path: Path) -> None:
    options = argparse.Namespace(benchmark="learner", field=True, quick=True, json=None, figure=tmp_path / "figure.png")
    with pytest.raises(UserError, match="--field draws no picture"):
        bench.run(options)
