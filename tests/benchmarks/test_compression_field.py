"""`orthostream bench compression --field`: streams, peers that come back, frames, and what the report says."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from orthostream.cli import bench
from orthostream.cli.main import main

for peer in ("pysz", "zfpy", "pcodec", "zstandard"):
    pytest.importorskip(peer)

benchmark = bench._load("compression_field")


def _part(name: str) -> ModuleType:
    return importlib.import_module(f"{benchmark.__package__}.field.{name}")


attempt = _part("attempt")
flac = _part("flac")
framed = _part("framed")
framing = _part("framing")
layout = _part("layout")
report = _part("report")
row = _part("row")
stream = _part("stream")
streams = _part("streams")
view = _part("view")
whole = _part("whole")


@pytest.fixture
def readings() -> np.ndarray:
    """Tenths of a few correlated sensors, some of them missing; one sensor starts late."""
    rng = np.random.default_rng(5)
    found = np.round(20.0 + np.cumsum(rng.standard_normal((60, 1)), axis=0) + rng.standard_normal((60, 3)), 1)
    found[rng.random(found.shape) < 0.15] = np.nan
    found[:10, 2] = np.nan
    return found


def _streams(readings: np.ndarray) -> list[Any]:
    full = np.nan_to_num(readings, nan=-3.5)
    return [
        stream.Stream("gaps", "field", "tune", readings, 0.3, 0.1),
        stream.Stream("no gaps", "field", "tune", full, (0.3, 0.05, 1.0), 0.1),
        stream.Stream("no grid", "single", "tune", np.sqrt(np.abs(full[:, :1])), 0.01),
        stream.Stream("short floats", "field", "tune", np.sin(readings).astype(np.float32).astype(float), 0.01),
        stream.Stream("constant", "constant", "tune", np.full((60, 2), 7.25), 0.1, 0.25),
    ]


def test_every_attempt_comes_back(readings: np.ndarray) -> None:
    for one in _streams(readings):
        for lossless in (False, True):
            tried = list(whole.attempts(one, lossless=lossless))
            assert {found.peer for found in tried} >= {"lzma", "bz2", "zstd", "pcodec"}
            for found in tried:
                # A tolerance of zfp may be wider than the bound on purpose.
                kept = attempt.within(one, found.decode(), lossless=lossless)
                assert kept or "tolerance" in found.setting, found


@pytest.mark.parametrize("size", [1, 7])
def test_every_framing_comes_back(readings: np.ndarray, size: int) -> None:
    for one in _streams(readings):
        for lossless in (False, True):
            for seen in view.views(one, lossless=lossless):
                for way in framing.framings(seen, size):
                    back = seen.restore(framing.unframed(seen, way, framing.frames(seen, way)))
                    assert attempt.within(one, back, lossless=lossless), (one.name, way)
            for found in framed.attempts(one, size, lossless=lossless):
                assert attempt.within(one, found.decode(), lossless=lossless), found


def test_layouts_come_back(readings: np.ndarray) -> None:
    seen = view.quantised(stream.Stream("gaps", "field", "tune", 100.0 * readings, 0.4, 1.0))
    for one in layout.layouts(seen):
        for planes in (False, True):
            for zigzag in (False, True) if one.fill != layout.MARKED else (False,):
                way = one._replace(planes=planes, zigzag=zigzag)
                back = layout.unpacked(seen, way, layout.packed(seen, way, layout.differences(seen, way)))
                np.testing.assert_array_equal(back[seen.observed], seen.levels[seen.observed])


def test_linear_prediction_over_blocks() -> None:
    rng = np.random.default_rng(1)
    wave = np.rint(1000.0 * np.sin(np.arange(9000) / 7.0) + rng.normal(0.0, 2.0, 9000) + 30000.0).astype(np.int64)
    channels = [wave, -wave[:5], np.array([2**31 - 1, -(2**31)]), np.full(4097, -3)]
    bits = flac.encode(channels)
    for found, channel in zip(flac.decode_channels(bits, list(map(len, channels))), channels, strict=True):
        np.testing.assert_array_equal(found, channel)
    assert len(flac.encode([wave])) < 5.5 * len(wave)


def test_whoever_breaks_the_bound_is_out(readings: np.ndarray) -> None:
    one = _streams(readings)[0]
    good = attempt.Attempt("good", "", 100, lambda: np.nan_to_num(one.rows))
    off = attempt.Attempt("off", "", 10, lambda: np.nan_to_num(one.rows) + 0.31)
    silent = attempt.Attempt("silent", "", 5, lambda: np.full_like(one.rows, np.nan))
    assert attempt.best(one, [good, off, silent], lossless=False).peer == "good"
    with pytest.raises(attempt.BrokenError, match="no peer keeps the bound of gaps"):
        attempt.best(one, [off, silent], lossless=False)


def test_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    recipes = streams.RECIPES
    assert len({recipe.name for recipe in recipes}) == len(recipes) >= 33
    for kind in {recipe.kind for recipe in recipes}:
        assert {recipe.split for recipe in recipes if recipe.kind == kind} == {"tune", "report"}, kind
    for recipe in streams.SIMULATED_RECIPES:
        made = streams.made(recipe)
        assert 5000 <= made.rows.size <= 60000, recipe.name
        np.testing.assert_array_equal(made.rows, streams.made(recipe).rows)
        assert recipe.split == made.split and made.rows.ndim == 2
        levels = (made.rows - made.offset) / np.where(view.per_sensor(made.grid, made.rows) > 0, made.grid, np.inf)
        np.testing.assert_allclose(levels, np.rint(levels), atol=1e-6, equal_nan=True)
    first, second = (streams.made(recipes[-1], seed).rows for seed in (0, 1))
    assert not np.array_equal(first, second, equal_nan=True)
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    found, missing = streams.streams("all", quick=True, only="airly,switch")
    assert [one.name for one in found] == ["switch", "eight switches"] and "real sensors are left out" in missing[0]


def test_records_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.setattr(streams, "QUICK", 60)
    monkeypatch.setattr(benchmark, "QUICK_FRAMES", 5)
    words = {"split": "all", "seed": 3, "only": "eight switches,heat pump", "quick": True}
    options = SimpleNamespace(json=tmp_path / "records.json", **words)
    records = benchmark.run(options)
    text = capsys.readouterr().out
    assert text.count("bits per reading") == 8 and "frames of 24; our header of" in text
    assert "of 16 rows within 2 % or below; fields at least 15 % below: 0 of 0" in text
    assert len(json.loads(options.json.read_text())) == len(records) == 5 * 16
    assert len({(r.method, r.setting, r.metric) for r in records}) == len(records)
    assert all(record.value == 0.0 for record in records if record.metric == "violations")


def test_marks() -> None:
    good = row.Row("a", "field", True, 10, False, 0, 0.8, 0, True, 1.0, "lzma", "")
    marks = [good, good._replace(ours=0.9), good._replace(ours=1.03), good._replace(kept=False)]
    assert [one.mark for one in marks] == ["", "above 0.85", "LOST", "BROKEN"]
    assert report.summary(marks) == "2 of 4 rows within 2 % or below; fields at least 15 % below: 1 of 4"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "tune"], "--split belongs to the streams of many kinds: add --field"),
        (["--seed", "3"], "--seed belongs to the streams of many kinds: add --field"),
        (["--field", "--only", "kelvin,nonsense"], "--only: no stream has 'nonsense' in its name; --split is report"),
        (["--field", "--only", "kelvin,"], "--only: no stream has '' in its name"),
        (["--field", "--only", "noaa"], "real sensors are left out"),
        (["--field", "--figure", "a.png"], "--field draws no picture"),
    ],
)
def test_wrong_options(words: list[str], message: str, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    monkeypatch.delenv("ORTHOSTREAM_DATA", raising=False)
    assert main(["bench", "compression", *words]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.startswith(f"orthostream: {message}")
