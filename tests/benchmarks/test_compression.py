"""The compression benchmark: that what it compares is comparable, and that its report says what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from orthostream.cli import bench

for peer in ("pysz", "zfpy", "pcodec"):
    pytest.importorskip(peer)

benchmark = bench._load("compression")
case_of = bench._load("compression_case")
fields = bench._load("compression_fields")
figure = bench._load("compression_figure")
integers = bench._load("compression_integers")
ours = bench._load("compression_ours")
peers = bench._load("compression_peers")
report = bench._load("compression_report")
rmse = bench._load("compression_rmse")


@pytest.fixture
def rows() -> np.ndarray:
    """Whole numbers of a few correlated sensors, some of them missing; one row has none, one sensor starts late."""
    rng = np.random.default_rng(5)
    common = np.cumsum(rng.standard_normal(90))[:, None]
    found = np.rint(20.0 + 3.0 * common + rng.standard_normal((90, 6)))
    found[rng.random(found.shape) < 0.15] = np.nan
    found[40] = np.nan
    found[:10, 2] = np.nan
    return found


@pytest.fixture
def made_up(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark on rows that are made up."""
    source = case_of.Source("made up", "", "degC", (0.5, 2.0), (4.0,), (1.0,))
    found = [case_of.Case(source, rows, bound) for bound in source.bounds]
    monkeypatch.setattr(benchmark, "cases", lambda n_rows: (found, ["another is left out: no file."]))
    monkeypatch.setattr(figure, "SOURCES", (source,))
    return benchmark


@pytest.mark.parametrize("quick", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_records_tables_and_figure(made_up, quick: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    options = SimpleNamespace(quick=quick, json=tmp_path / "records.json", figure=tmp_path / "figure.png")
    records = made_up.run(options)
    text = capsys.readouterr().out
    for words in ("made up 0.5 degC", "LOST to", "per cell", "eta0", "is within its bound", "another is left out"):
        assert words in text
    stored = json.loads(options.json.read_text())
    assert [set(record) for record in stored] == [{"benchmark", "method", "setting", "metric", "value"}] * len(records)
    assert all(np.isfinite(record.value) for record in records)
    assert len({(r.method, r.setting, r.metric) for r in records}) == len(records)
    assert {r.method for r in records} >= {peer.name for peer in peers.PEERS} | {"paper's mode", "ours, frames of 1"}
    assert ("made up 4 degC" in {r.setting for r in records}) != quick
    assert options.figure.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("peer", peers.PEERS, ids=lambda peer: peer.name)
@pytest.mark.parametrize("bound", [0.4, 0.5, 2.0])
def test_every_setting_comes_back_within_the_bound_or_is_reported(peer, bound: float, rows: np.ndarray) -> None:
    case = case_of.Case(case_of.SOURCES[0], rows, bound)
    tried = peer.settings(False)
    for _, vary in peer.stages:
        tried = tried + vary(tried[0])
    for setting in dict.fromkeys(tried):
        body, known = peer.encode(case, setting)
        found = case_of.quality(case, peer.decode(case, setting, body, known))
        wider = getattr(setting, "tolerance", 1.0) > 1.0 or getattr(setting, "way", "") == "rounded"
        assert found.violations == 0.0 or wider, setting
    best = peers.best_result(peer, case, quick=True).result
    assert best.quality.violations == 0.0
    assert 0 < best.n_bytes <= best.n_bytes_with_mask


@given(
    rows=arrays(
        np.float64,
        array_shapes(min_dims=2, max_dims=2, max_side=8),
        elements=st.integers(-40000, 40000).map(float) | st.just(np.nan),
    ),
    layout=st.sampled_from(integers.layouts()),
    width=st.sampled_from([0, 2, 4]),
    planes=st.booleans(),
    bound=st.sampled_from([0.4, 0.5, 1.0, 1.5, 7.0]),
)
@settings(deadline=None)
def test_layouts_come_back(rows: np.ndarray, layout, width: int, planes: bool, bound: float) -> None:
    if np.isnan(rows).all():
        return
    case = case_of.Case(case_of.SOURCES[0], rows, bound)
    layout = layout._replace(width=width, planes=planes)
    packed = integers.pack(case, layout)
    back = integers.unpack(case, layout, packed.integers, packed.least)
    assert case_of.quality(case, back).largest_error <= bound
    if layout.fill == integers.MARKED:
        np.testing.assert_array_equal(np.isnan(back), np.isnan(rows))


def test_gaps_are_filled(rows: np.ndarray) -> None:
    for fill in (case_of.row_mean, case_of.previous):
        found = fill(rows)
        assert not np.isnan(found).any()
        np.testing.assert_array_equal(found[~np.isnan(rows)], rows[~np.isnan(rows)])
    assert np.isclose(case_of.row_mean(rows)[12, np.isnan(rows[12])], np.nanmean(rows[12])).all()


def test_whoever_breaks_the_bound_is_told(rows: np.ndarray) -> None:
    case = case_of.Case(case_of.SOURCES[0], rows, 0.5)
    off = rows.copy()
    off[0, 0], off[1, 1] = rows[0, 0] + 0.75, np.nan
    there = (~np.isnan(rows)).sum()
    assert not np.isnan(rows[0, 0]) and not np.isnan(rows[1, 1])
    found = case_of.quality(case, off)
    assert found.violations == 2 / there and found.largest_error == np.inf
    sloppy = peers.ZFP._replace(settings=lambda quick: [fields.FieldSetting(tolerance=100.0)])
    result = peers.best_result(sloppy, case, quick=True).result
    assert result.quality.violations > 0.0
    text = report.report(benchmark._records(case, result, case.setting))
    assert "! zfp breaks Airly temperature 0.5 degC" in text and "*" not in text.splitlines()[6]


def test_ours_must_keep_the_mask(rows: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ours.codec, "decompress", lambda body: np.zeros(rows.shape))
    with pytest.raises(AssertionError, match="missing after decoding"):
        ours.our_result(case_of.Case(case_of.SOURCES[0], rows, 0.5), 0)


def test_the_fewest_coefficients_are_found(rows: np.ndarray) -> None:
    paper = ours.PaperMode(case_of.Case(case_of.SOURCES[0], rows, 0.5))
    errors = [paper.result(n_nonzero).quality.rmse for n_nonzero in range(1, 7)]
    for target in (0.3, 0.6, 1.0, 3.0):
        first = next((n for n, error in enumerate(errors, start=1) if error <= target), 6)
        assert paper.within(target).configuration == f"eta0 {first}"


def test_equal_rmse(rows: np.ndarray) -> None:
    case = case_of.Case(case_of.SOURCES[0], rows, 0.5)
    found = {point.method: point for point in rmse.points(case, 1.0, None, quick=True)}
    assert found["SZ3"].rmse <= 1.0 and found["zfp"].rmse <= 1.0
    text = rmse.report_rmse(rmse.rmse_records(case, 1.0, list(found.values())))
    assert "Airly temperature RMSE 1 degC" in text and text.count("*") == 2


def test_without_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    assert benchmark.run(SimpleNamespace(quick=True, json=None, figure=None)) == []
    assert "real sensors are left out" in capsys.readouterr().out
    monkeypatch.setenv("ORTHOSTREAM_DATA", str(tmp_path))
    found, missing = case_of.cases(None)
    assert found == [] and [line.split()[0] for line in missing] == ["Airly", "NOAA"]
